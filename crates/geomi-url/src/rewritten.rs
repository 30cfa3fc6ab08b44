//! Why a URL is not spelled as it was typed.

use crate::CrawlUrl;

/// What normalising did to a URL that a person typed, in words, in the order of
/// the URL's parts; empty where it was in its one spelling already.
///
/// For explanations only: it looks at the two spellings and does not parse.
///
/// ```
/// use geomi_url::{CrawlUrl, rewritten};
/// let typed = "HTTP://Example.com#top";
/// let url = CrawlUrl::parse(typed).unwrap();
/// assert_eq!(
///     rewritten(typed, &url),
///     ["scheme in lower case", "host in lower case", "fragment dropped", "path / added"],
/// );
/// ```
pub fn rewritten(typed: &str, url: &CrawlUrl) -> Vec<&'static str> {
    if typed == url.as_str() {
        return Vec::new();
    }
    let mut reasons = Vec::new();
    let mut say = |is_so: bool, reason| {
        if is_so {
            reasons.push(reason);
        }
    };
    let trimmed = typed.trim();
    say(trimmed != typed, "white space around it removed");
    let (scheme, rest) = match trimmed.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, trimmed),
    };
    say(scheme.is_none(), "scheme added");
    say(scheme.is_some_and(has_upper), "scheme in lower case");
    let (rest, fragment) = match rest.split_once('#') {
        Some((rest, _)) => (rest, true),
        None => (rest, false),
    };
    let authority_end = rest.find(['/', '?', '\\']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at(authority_end);
    let host_port = authority.rsplit('@').next().unwrap_or(authority);
    say(host_port != authority, "user name and password dropped");
    let (host, port) = split_port(host_port);
    say(has_upper(host), "host in lower case");
    say(!host.is_ascii(), "host in Punycode");
    say(host.ends_with('.'), "final dot of the host dropped");
    let port_shown = split_port(url.authority()).1;
    say(
        port.is_some() && port_shown.is_none(),
        "default port dropped",
    );
    say(fragment, "fragment dropped");
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    };
    say(path.is_empty(), "path / added");
    let has_dots = path
        .split(['/', '\\'])
        .any(|part| matches!(part, "." | ".."));
    say(has_dots, "dot segments resolved");
    say(path.contains('\\'), "backslashes turned");
    say(query == Some(""), "empty query dropped");
    let path_differs = !has_dots && !path.is_empty() && path.replace('\\', "/") != url.path();
    let query_differs = query.unwrap_or_default() != url.query().unwrap_or_default();
    say(path_differs || query_differs, "escapes in one spelling");
    reasons
}

fn has_upper(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Host and port; the colons of an IPv6 address are none.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, expected: &[&str]) {
        let url = CrawlUrl::parse(typed).unwrap();
        assert_eq!(rewritten(typed, &url), expected, "{typed} -> {url}");
    }

    #[test]
    fn a_url_in_its_one_spelling_has_nothing_to_explain() {
        check("http://example.com/a?b=c", &[]);
        check("http://[::1]:8080/", &[]);
    }

    #[test]
    fn each_change_is_named() {
        check("http://example.com", &["path / added"]);
        check(" http://example.com/ ", &["white space around it removed"]);
        check(
            "http://me:pw@example.com/",
            &["user name and password dropped"],
        );
        check("https://example.com:443/", &["default port dropped"]);
        check("http://example.com./", &["final dot of the host dropped"]);
        check("http://한글.kr/", &["host in Punycode"]);
        check("http://e.com/a/../b", &["dot segments resolved"]);
        check("http://e.com/a?", &["empty query dropped"]);
        check("http://e.com/%7euser", &["escapes in one spelling"]);
        check("http://e.com/가", &["escapes in one spelling"]);
        check("http://e.com/?q=가", &["escapes in one spelling"]);
    }

    #[test]
    fn a_host_alone_gets_a_scheme_and_a_path() {
        let url = CrawlUrl::parse("https://example.com").unwrap();
        assert_eq!(
            rewritten("example.com", &url),
            ["scheme added", "path / added"]
        );
    }
}
