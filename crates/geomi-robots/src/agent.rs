//! The name a robot answers to.
//!
//! RFC 9309 §2.2.1 builds product tokens of letters, `-` and `_`. Digits are
//! taken too, because robots such as `MJ12bot` have them in their names and are
//! addressed by them; without digits `MJ12bot` would read as `MJ`.

/// The part of a `User-Agent` header that robots.txt files address.
///
/// Takes the first name of the header, or the one after `compatible;` where the
/// header poses as a browser. `None` where there is no such name.
///
/// ```
/// use geomi_robots::product_token;
///
/// assert_eq!(product_token("geomi/0.1 (+https://example.org)"), Some("geomi"));
/// assert_eq!(product_token("Mozilla/5.0 (compatible; my-bot/2; +mailto:me)"), Some("my-bot"));
/// assert_eq!(product_token("/1.0"), None);
/// ```
pub fn product_token(user_agent: &str) -> Option<&str> {
    const POSE: &str = "(compatible;";
    let name = match user_agent.find(POSE) {
        Some(at) => &user_agent[at + POSE.len()..],
        None => user_agent,
    };
    let token = leading_token(name.trim());
    (!token.is_empty()).then_some(token)
}

/// The longest product token that `text` starts with; empty if there is none.
pub(crate) fn leading_token(text: &str) -> &str {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let end = text
        .bytes()
        .position(|byte| !is_token(byte))
        .unwrap_or(text.len());
    &text[..end]
}

/// The names `agent` answers to, most specific first: `my-bot-news`, `my-bot`,
/// `my`. Search engines document this for their own families of robots: where
/// there is no group for the image robot, the group of the main robot holds.
pub(crate) fn names(agent: &str) -> impl Iterator<Item = &str> {
    // Whoever passes a whole header instead of a token must not thereby escape
    // the rules made for it.
    let full = agent.split('/').next().unwrap_or(agent).trim();
    std::iter::successors(Some(full), |name| {
        name.rsplit_once('-').map(|(shorter, _)| shorter)
    })
    .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_end_where_names_end() {
        assert_eq!(leading_token("Foobot/2.1"), "Foobot");
        assert_eq!(leading_token("MJ12bot"), "MJ12bot");
        assert_eq!(leading_token("Foo_Bar-baz qux"), "Foo_Bar-baz");
        assert_eq!(leading_token("ツ"), "");
        assert_eq!(leading_token(""), "");
    }

    #[test]
    fn names_go_from_specific_to_general() {
        let all = |agent| names(agent).collect::<Vec<_>>();
        assert_eq!(all("bot-news-kr"), ["bot-news-kr", "bot-news", "bot"]);
        assert_eq!(all("geomi/0.1 (+x)"), ["geomi"]);
        assert_eq!(all("-x"), ["-x"]);
        assert!(all("").is_empty());
    }

    #[test]
    fn headers_without_a_name_have_no_token() {
        assert_eq!(product_token(""), None);
        assert_eq!(product_token("(compatible; )"), None);
        assert_eq!(product_token(" my_bot "), Some("my_bot"));
    }
}
