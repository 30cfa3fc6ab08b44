//! Reading a request's head: as much HTTP as the web needs.

/// A request whose head is complete.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    /// Path and query.
    pub(crate) target: &'a str,
    pub(crate) host: Option<&'a str>,
    pub(crate) user_agent: &'a str,
    pub(crate) accepts_gzip: bool,
    pub(crate) if_none_match: Option<&'a str>,
    pub(crate) if_modified_since: Option<&'a str>,
    pub(crate) keep_alive: bool,
    /// Whether a body follows; the web takes none and closes.
    pub(crate) has_body: bool,
}

/// What the bytes so far amount to.
#[derive(Debug, PartialEq)]
pub(crate) enum Parsed<'a> {
    /// A request and the length of its head.
    Complete(Request<'a>, usize),
    /// The head goes on.
    Incomplete,
    /// This is not HTTP/1.
    Bad,
}

pub(crate) fn parse(bytes: &[u8]) -> Parsed<'_> {
    let Some(head_len) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Parsed::Incomplete;
    };
    let request = std::str::from_utf8(&bytes[..head_len])
        .ok() // Bytes above ASCII have no place in what we read of a head.
        .and_then(parse_head);
    match request {
        Some(request) => Parsed::Complete(request, head_len + 4),
        None => Parsed::Bad,
    }
}

fn parse_head(head: &str) -> Option<Request<'_>> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if !version.starts_with("HTTP/1.") {
        return None;
    }
    let mut request = Request {
        method,
        target: origin_form(target),
        keep_alive: version != "HTTP/1.0",
        ..Request::default()
    };
    for line in lines {
        let (name, value) = line.split_once(':')?;
        request.take_field(name, value.trim());
    }
    Some(request)
}

impl<'a> Request<'a> {
    fn take_field(&mut self, name: &str, value: &'a str) {
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted);
        // Lengths differ for all but two: most comparisons end at once.
        if is("host") {
            self.host = Some(value);
        } else if is("user-agent") {
            self.user_agent = value;
        } else if is("accept-encoding") {
            self.accepts_gzip = value
                .split(',')
                .any(|coding| coding.trim().split(';').next() == Some("gzip"));
        } else if is("if-none-match") {
            self.if_none_match = Some(value);
        } else if is("if-modified-since") {
            self.if_modified_since = Some(value);
        } else if is("connection") {
            if value.eq_ignore_ascii_case("close") {
                self.keep_alive = false;
            } else if value.eq_ignore_ascii_case("keep-alive") {
                self.keep_alive = true;
            }
        } else if is("transfer-encoding") || (is("content-length") && value != "0") {
            self.has_body = true;
        }
    }
}

/// Path and query of a target, be it `/path` or, as proxies get it,
/// `http://host/path`.
fn origin_form(target: &str) -> &str {
    let Some(rest) = target.strip_prefix("http://") else {
        return target;
    };
    rest.find('/').map_or("/", |slash| &rest[slash..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read() {
        let head = b"GET /a?b HTTP/1.1\r\nHost: x:1\r\nUSER-AGENT: geomi/1\r\n\
            Accept-Encoding: br, gzip;q=0.5\r\nConnection: close\r\n\r\nrest";
        let Parsed::Complete(request, len) = parse(head) else {
            panic!("complete");
        };
        assert_eq!(&head[len..], b"rest");
        assert_eq!((request.method, request.target), ("GET", "/a?b"));
        assert_eq!((request.host, request.user_agent), (Some("x:1"), "geomi/1"));
        assert!(request.accepts_gzip && !request.keep_alive && !request.has_body);
    }

    #[test]
    fn partial_foreign_and_proxy_heads() {
        assert_eq!(parse(b"GET / HTTP/1.1\r\nHost"), Parsed::Incomplete);
        assert_eq!(parse(b"hello\r\n\r\n"), Parsed::Bad);
        assert_eq!(parse(b"GET / HTTP/2\r\n\r\n"), Parsed::Bad);
        assert_eq!(origin_form("http://a.test/x?y"), "/x?y");
        assert_eq!(origin_form("http://a.test"), "/");
        let Parsed::Complete(old, _) = parse(b"GET / HTTP/1.0\r\n\r\n") else {
            panic!("complete");
        };
        assert!(!old.keep_alive);
    }
}
