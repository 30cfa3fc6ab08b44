//! The sort-friendly key archives use for a URL.
//!
//! `http://www.Example.com/a?b=2&a=1` becomes `com,example)/a?a=1&b=2`: the host
//! is turned round so that a domain's pages lie together, and spellings that
//! most likely mean one page share a key. Web archives agree on the rules by
//! using one Python package (`surt`, as `cdxj-indexer` does), so its behaviour
//! is the contract here, checked against a table of its answers.
//!
//! The rules, in the order in which they apply:
//!
//! 1. user name, password and fragment are dropped, as is the scheme;
//! 2. host, path and query are percent-decoded until nothing changes, then
//!    encoded once: everything outside printable ASCII, and space, `#` and `%`;
//! 3. the host is lower case without a leading `www.`, `www1.`, `www22.`;
//! 4. dot segments and doubled slashes of the path are removed, it is lower
//!    case, an ASP.NET session segment and one trailing slash are dropped;
//! 5. session parameters are cut out of the query, it is lower case, its
//!    parameters are sorted, and an empty one disappears.
//!
//! What it does not do: it takes the URLs [`CrawlUrl`](crate::CrawlUrl) spells.
//! The package's repairs of broken URLs (a missing scheme, octal addresses,
//! Unicode host names) cannot be met there and are left out.

/// The archive key of an absolute `http` or `https` URL.
///
/// A text that is no such URL is its own key, as in `cdxj-indexer`.
///
/// ```
/// use geomi_url::surt::surt_key;
/// assert_eq!(surt_key("https://www.Example.com/A/?b=2&a=1"), "com,example)/a?a=1&b=2");
/// assert_eq!(surt_key("http://127.0.1.5:8080/"), "5,1,0,127:8080)/");
/// ```
pub fn surt_key(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
    let (before_query, query) = match rest.split_once('?') {
        Some((before, query)) => (before, query),
        None => (rest, ""),
    };
    let (authority, path) = match before_query.find('/') {
        Some(at) => before_query.split_at(at),
        None => (before_query, ""),
    };
    let Some((host, port)) = split_authority(authority) else {
        return url.to_owned();
    };

    let mut key = Vec::with_capacity(url.len() + 8);
    push_host(&mut key, host);
    if let Some(port) = port.filter(|&port| port != 0 && Some(port) != default_port(scheme)) {
        key.extend_from_slice(format!(":{port}").as_bytes());
    }
    key.push(b')');
    push_path(&mut key, path);
    push_query(&mut key, query);
    String::from_utf8(key).expect("what is not printable ASCII was escaped")
}

/// Host without brackets, and port; `None` where the port is no port.
fn split_authority(authority: &str) -> Option<(&str, Option<u16>)> {
    let authority = authority.rsplit_once('@').map_or(authority, |(_, a)| a);
    let authority = authority.trim_end_matches(':');
    let (host, port) = match authority.strip_prefix('[') {
        Some(bracketed) => {
            let (host, after) = bracketed.split_once(']')?;
            (host, after.strip_prefix(':'))
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    match port {
        Some(digits) => Some((host, Some(digits.parse().ok()?))),
        None => Some((host, None)),
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    if scheme.eq_ignore_ascii_case("http") {
        Some(80)
    } else if scheme.eq_ignore_ascii_case("https") {
        Some(443)
    } else {
        None
    }
}

fn push_host(key: &mut Vec<u8>, host: &str) {
    let mut canonical = Vec::with_capacity(host.len());
    push_escaped(
        &mut canonical,
        &halve_doubled_dots(&unescape_repeatedly(host.as_bytes())),
    );
    canonical.make_ascii_lowercase();
    let host = without_www(trim_dots(&canonical));
    for (index, label) in host.rsplit(|&byte| byte == b'.').enumerate() {
        if index > 0 {
            key.push(b',');
        }
        key.extend_from_slice(label);
    }
}

/// Each pair of dots becomes one; of three, two are left.
fn halve_doubled_dots(host: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(host.len());
    let mut rest = host;
    while let [first, after @ ..] = rest {
        out.push(*first);
        rest = match after {
            [b'.', after @ ..] if *first == b'.' => after,
            _ => after,
        };
    }
    out
}

fn trim_dots(mut host: &[u8]) -> &[u8] {
    while let [b'.', rest @ ..] | [rest @ .., b'.'] = host {
        host = rest;
    }
    host
}

fn without_www(host: &[u8]) -> &[u8] {
    let Some(after) = host.strip_prefix(b"www") else {
        return host;
    };
    let digits = after.iter().take_while(|byte| byte.is_ascii_digit());
    let digits = digits.count();
    after[digits..].strip_prefix(b".").unwrap_or(host)
}

fn push_path(key: &mut Vec<u8>, path: &str) {
    let mut canonical = Vec::with_capacity(path.len() + 8);
    push_escaped(
        &mut canonical,
        &without_dot_segments(&unescape_repeatedly(path.as_bytes())),
    );
    canonical.make_ascii_lowercase();
    for session_len in [cookieless_groups_len, cookieless_id_len] {
        strip_path_session(&mut canonical, session_len);
    }
    if canonical.len() > 1 && canonical.last() == Some(&b'/') {
        canonical.pop();
    }
    key.extend_from_slice(&canonical);
}

/// Removes `.`, `..` and empty segments; a final slash stays. A `..` with
/// nothing above it is kept, which differs from RFC 3986 on purpose.
fn without_dot_segments(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|&byte| byte == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if kept.pop().is_some() => {}
            _ => kept.push(segment),
        }
    }
    let mut out = vec![b'/'];
    let Some((last, above)) = kept.split_last() else {
        return out;
    };
    for segment in above.iter().filter(|segment| !segment.is_empty()) {
        out.extend_from_slice(segment);
        out.push(b'/');
    }
    out.extend_from_slice(last);
    out
}

/// Cuts the last segment that `session_len` recognises out of a path to an
/// `.aspx` page.
fn strip_path_session(path: &mut Vec<u8>, session_len: SessionLen) {
    let found = (0..path.len()).rev().find_map(|slash| {
        let after = (path[slash] == b'/').then(|| &path[slash + 1..])?;
        let len = session_len(after)?;
        is_aspx(&after[len..]).then_some((slash + 1, len))
    });
    if let Some((start, len)) = found {
        path.drain(start..start + len);
    }
}

/// Length of `(a(24 characters)b(24 characters))/` at the start, if it is there.
fn cookieless_groups_len(text: &[u8]) -> Option<usize> {
    let mut at = text.starts_with(b"(").then_some(1)?;
    let mut groups = 0;
    while text.get(at).is_some_and(u8::is_ascii_lowercase) {
        at += 1 + bracketed_id_len(&text[at + 1..])?;
        groups += 1;
    }
    (groups > 0 && text[at..].starts_with(b")/")).then_some(at + 2)
}

/// Length of `(24 characters)/` at the start, if it is there.
fn cookieless_id_len(text: &[u8]) -> Option<usize> {
    let len = bracketed_id_len(text)?;
    (text.get(len) == Some(&b'/')).then_some(len + 1)
}

fn bracketed_id_len(text: &[u8]) -> Option<usize> {
    let inner = text.strip_prefix(b"(")?.get(..25)?;
    let (id, close) = inner.split_at(24);
    (id.iter().all(u8::is_ascii_alphanumeric) && close == b")").then_some(26)
}

fn is_aspx(text: &[u8]) -> bool {
    let end = text.iter().position(|&byte| byte == b'?');
    let text = &text[..end.unwrap_or(text.len())];
    text.len() > 5 && text[1..].windows(5).any(|window| window == b".aspx")
}

fn push_query(key: &mut Vec<u8>, query: &str) {
    let mut canonical = Vec::with_capacity(query.len() + 8);
    push_escaped(&mut canonical, &unescape_repeatedly(query.as_bytes()));
    canonical.make_ascii_lowercase();
    for session_len in QUERY_SESSIONS {
        strip_query_session(&mut canonical, *session_len);
    }
    if canonical.is_empty() {
        return;
    }
    let mut parameters: Vec<(&[u8], Option<&[u8]>)> = canonical
        .split(|&byte| byte == b'&')
        .map(
            |parameter| match parameter.iter().position(|&b| b == b'=') {
                Some(at) => (&parameter[..at], Some(&parameter[at + 1..])),
                None => (parameter, None),
            },
        )
        .collect();
    parameters.sort_unstable();
    for (index, (name, value)) in parameters.into_iter().enumerate() {
        key.push(if index == 0 { b'?' } else { b'&' });
        key.extend_from_slice(name);
        if let Some(value) = value {
            key.push(b'=');
            key.extend_from_slice(value);
        }
    }
}

/// How long the session mark at the start of a (lower-case) text is, if there
/// is one.
type SessionLen = fn(&[u8]) -> Option<usize>;

/// Session parameters, tried in this order; each is cut out once.
const QUERY_SESSIONS: &[SessionLen] = &[
    |text| id_len(text, b"jsessionid=", 32),
    |text| id_len(text, b"phpsessid=", 32),
    |text| id_len(text, b"sid=", 32),
    aspsession_len,
    coldfusion_len,
];

fn id_len(text: &[u8], name: &[u8], digits: usize) -> Option<usize> {
    let id = text.strip_prefix(name)?.get(..digits)?;
    id.iter()
        .all(u8::is_ascii_alphanumeric)
        .then_some(name.len() + digits)
}

fn aspsession_len(text: &[u8]) -> Option<usize> {
    let after = text.strip_prefix(b"aspsessionid")?.get(..33)?;
    let letters = |part: &[u8]| part.iter().all(u8::is_ascii_alphabetic);
    (letters(&after[..8]) && after[8] == b'=' && letters(&after[9..])).then_some(12 + 33)
}

fn coldfusion_len(text: &[u8]) -> Option<usize> {
    let value_len = |part: &[u8]| match part.iter().position(|&byte| byte == b'&') {
        Some(0) => None,
        Some(len) => Some(len),
        None => Some(part.len()).filter(|&len| len > 0),
    };
    let id = 5 + value_len(text.strip_prefix(b"cfid=")?)?;
    let token = text[id..].strip_prefix(b"&cftoken=")?;
    Some(id + 9 + value_len(token)?)
}

/// Cuts out the last session parameter; it must end where a parameter ends,
/// but may start anywhere, which is how the archives' pattern reads.
fn strip_query_session(query: &mut Vec<u8>, session_len: SessionLen) {
    let found = (0..query.len()).rev().find_map(|start| {
        let end = start + session_len(&query[start..])?;
        matches!(query.get(end), None | Some(b'&')).then_some((start, end))
    });
    if let Some((start, end)) = found {
        let end = (end + 1).min(query.len());
        query.drain(start..end);
    }
}

fn unescape_repeatedly(text: &[u8]) -> Vec<u8> {
    let mut current = text.to_vec();
    while current.contains(&b'%') {
        let next = unescape(&current);
        if next.len() == current.len() {
            break;
        }
        current = next;
    }
    current
}

fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let value = match &text[at..] {
            [b'%', high, low, ..] => hex(*high).zip(hex(*low)),
            _ => None,
        };
        if let Some((high, low)) = value {
            out.push(high * 16 + low);
            at += 3;
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    out
}

fn hex(digit: u8) -> Option<u8> {
    (digit as char).to_digit(16).map(|value| value as u8)
}

fn push_escaped(out: &mut Vec<u8>, text: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in text {
        if byte.is_ascii_graphic() && byte != b'#' && byte != b'%' {
            out.push(byte);
        } else {
            out.push(b'%');
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::CrawlUrl;

    /// URL, tab, key: what the archives' own package answers.
    const TABLE: &str = include_str!("../tests/data/surt.tsv");

    #[test]
    fn keys_are_those_of_the_archives() {
        let mut checked = 0;
        for line in TABLE.lines().filter(|line| !line.starts_with("# ")) {
            let (url, key) = line.split_once('\t').expect("two columns");
            assert_eq!(surt_key(url), key, "for {url}");
            checked += 1;
        }
        assert!(checked > 300, "the table has {checked} rows");
    }

    #[test]
    fn the_table_holds_urls_as_we_spell_them() {
        let ours = TABLE
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .filter(|(url, _)| CrawlUrl::parse(url).is_ok_and(|ours| ours.as_str() == *url));
        assert!(ours.count() > 200);
    }

    proptest! {
        #[test]
        fn any_url_has_a_printable_key(path in "\\PC{0,40}", query in "\\PC{0,40}") {
            if let Ok(url) = CrawlUrl::parse(&format!("http://www.example.com/{path}?{query}")) {
                let key = surt_key(url.as_str());
                prop_assert!(key.starts_with("com,example)/"));
                prop_assert!(key.bytes().all(|byte| byte.is_ascii_graphic()));
            }
        }
    }
}
