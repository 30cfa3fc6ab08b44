//! The header block of an answer: where it ends, what it says.
//!
//! The block is found by its empty line and parsed once. Parsing is strict
//! first; only a block that fails is tried again with the liberties browsers
//! take (folded lines, spaces before the colon, lines that are not fields),
//! and such an answer is marked, because its connection is in doubt. Some
//! things are no liberty but a trap, and the answer is refused: a NUL byte
//! (RFC 9110 §5.5), and a line that would say where the body ends but cannot
//! be read, since leaving it out would end the body somewhere else.
//!
//! [`Headers`] is a table of offsets into the block, so keeping it costs
//! nothing beyond the bytes that are kept anyway.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;

/// Fewer bytes than `HTTP/1.1 200` cannot be a status line.
pub(crate) const STATUS_LINE_BYTES_MIN: usize = 12;

const FIELDS_TYPICAL: usize = 64;
const FIELDS_MAX: usize = 512;

/// How the names of the fields begin that say where a body ends.
const FRAMING_NAMES: [&[u8]; 2] = [b"content-length", b"transfer-encoding"];

/// Why a header block was not understood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum HeadError {
    /// It is not a header, or one that must not be believed.
    NotHttp(String),
    /// It has more fields than anybody needs.
    TooManyFields,
}

impl fmt::Display for HeadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotHttp(why) => f.write_str(why),
            Self::TooManyFields => write!(f, "the header has more than {FIELDS_MAX} fields"),
        }
    }
}

fn not_http(why: impl Into<String>) -> HeadError {
    HeadError::NotHttp(why.into())
}

/// A header block that was understood.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) code: u16,
    /// `x` of `HTTP/1.x`.
    pub(crate) minor_version: u8,
    /// Only a lenient parser understood it.
    pub(crate) is_malformed: bool,
    fields: Box<[Field]>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Field {
    name: Span,
    value: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Span {
    start: u32,
    end: u32,
}

/// Where the header block ends, if its empty line is there. `from` is how far
/// earlier calls have looked.
pub(crate) fn find_end(block: &[u8], from: usize) -> Option<usize> {
    // The empty line may have begun up to three bytes before the new ones.
    let mut at = from.saturating_sub(3);
    while let Some(feed) = block[at..].iter().position(|byte| *byte == b'\n') {
        at += feed + 1;
        match block[at..] {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
    None
}

impl Head {
    /// Parses a complete header block.
    pub(crate) fn parse(block: &[u8]) -> Result<Self, HeadError> {
        if block.contains(&0) {
            return Err(not_http("the header holds a NUL byte"));
        }
        let read = match block {
            // RFC 9110 §2.5: a minor version later than ours is read as ours.
            [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'2'..=b'9', ..] => {
                let mut known = block.to_vec();
                known[7] = b'1';
                Self::parse_known(&known)
            }
            _ => Self::parse_known(block),
        };
        let mut head = read?;
        if head.code < 100 {
            return Err(not_http("the status code is less than 100"));
        }
        head.is_malformed |= has_bare_feed(block);
        Ok(head)
    }

    fn parse_known(block: &[u8]) -> Result<Self, HeadError> {
        let strict = httparse::ParserConfig::default();
        for fields_max in [FIELDS_TYPICAL, FIELDS_MAX] {
            if let Ok(head) = Self::parse_with(&strict, block, fields_max) {
                return Ok(head);
            }
        }
        let mut lenient = httparse::ParserConfig::default();
        lenient
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .allow_multiple_spaces_in_response_status_delimiters(true)
            .ignore_invalid_headers_in_responses(true);
        let mut head = Self::parse_with(&lenient, block, FIELDS_MAX)?;
        head.is_malformed = true;
        let names = head.fields.iter().map(|field| field.name.in_block(block));
        let read = names.filter(|name| is_framing(name)).count();
        let sent = block.split(|byte| *byte == b'\n').skip(1);
        if sent.filter(|line| is_framing(line)).count() != read {
            return Err(not_http(
                "a field that says where the body ends cannot be read",
            ));
        }
        Ok(head)
    }

    fn parse_with(
        parser: &httparse::ParserConfig,
        block: &[u8],
        fields_max: usize,
    ) -> Result<Self, HeadError> {
        let mut few = [httparse::EMPTY_HEADER; FIELDS_TYPICAL];
        let mut many = Vec::new();
        let fields = if fields_max <= FIELDS_TYPICAL {
            &mut few[..]
        } else {
            many.resize(fields_max, httparse::EMPTY_HEADER);
            &mut many[..]
        };
        let mut response = httparse::Response::new(fields);
        match parser.parse_response(&mut response, block) {
            Ok(httparse::Status::Complete(len)) if len == block.len() => {}
            Ok(httparse::Status::Complete(_)) => {
                return Err(not_http("the header ends before its empty line"));
            }
            Ok(httparse::Status::Partial) => return Err(not_http("the header is not complete")),
            Err(httparse::Error::TooManyHeaders) => return Err(HeadError::TooManyFields),
            Err(error) => return Err(not_http(error.to_string())),
        }
        let (Some(code), Some(minor_version)) = (response.code, response.version) else {
            return Err(not_http("the header has no status line"));
        };
        let fields = response.headers.iter().map(|field| Field {
            name: Span::of(block, field.name.as_bytes()),
            value: Span::of(block, field.value),
        });
        Ok(Self {
            code,
            minor_version,
            is_malformed: false,
            fields: fields.collect(),
        })
    }

    /// The values of a field, in order, from the block that was parsed.
    pub(crate) fn values<'a>(
        &'a self,
        block: &'a [u8],
        name: &'a str,
    ) -> impl Iterator<Item = &'a [u8]> {
        values(&self.fields, block, name)
    }

    /// The members of a field that is a comma-separated list, in order, white
    /// space and empty members removed.
    pub(crate) fn members<'a>(
        &'a self,
        block: &'a [u8],
        name: &'a str,
    ) -> impl Iterator<Item = &'a [u8]> {
        self.values(block, name)
            .flat_map(|value| value.split(|byte| *byte == b','))
            .map(<[u8]>::trim_ascii)
            .filter(|member| !member.is_empty())
    }

    /// The fields for whoever keeps the block.
    pub(crate) fn into_headers(self, block: Bytes) -> Headers {
        Headers {
            block,
            fields: self.fields,
        }
    }
}

fn is_framing(line: &[u8]) -> bool {
    FRAMING_NAMES.iter().any(|name| {
        let start = line.get(..name.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(name))
    })
}

/// Whether a line ends without a carriage return. Everybody reads such lines,
/// but not everybody sees the same header in them.
fn has_bare_feed(block: &[u8]) -> bool {
    let mut before = 0;
    block.iter().any(|byte| {
        let is_bare = *byte == b'\n' && before != b'\r';
        before = *byte;
        is_bare
    })
}

impl Span {
    /// Where `part` lies in `block`; the parser returns slices of its input.
    fn of(block: &[u8], part: &[u8]) -> Self {
        if part.is_empty() {
            return Self { start: 0, end: 0 };
        }
        let start = part.as_ptr().addr() - block.as_ptr().addr();
        assert!(
            start + part.len() <= block.len(),
            "a header field lies inside its block"
        );
        Self {
            start: start as u32,
            end: (start + part.len()) as u32,
        }
    }

    fn in_block(self, block: &[u8]) -> &[u8] {
        &block[self.start as usize..self.end as usize]
    }
}

fn values<'a>(
    fields: &'a [Field],
    block: &'a [u8],
    name: &'a str,
) -> impl Iterator<Item = &'a [u8]> {
    fields
        .iter()
        .filter(move |field| {
            field
                .name
                .in_block(block)
                .eq_ignore_ascii_case(name.as_bytes())
        })
        .map(move |field| field.value.in_block(block))
}

/// The fields of an answer's header, in order and as they were sent.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Headers {
    block: Bytes,
    fields: Box<[Field]>,
}

impl Headers {
    /// The first value of a field as text. Bytes that are not UTF-8 are
    /// replaced and folded lines unfolded.
    pub fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        self.get_bytes(name).map(as_text)
    }

    /// The first value of a field as it was sent.
    pub fn get_bytes(&self, name: &str) -> Option<&[u8]> {
        let field = self.fields.iter().find(|field| {
            let found = field.name.in_block(&self.block);
            found.eq_ignore_ascii_case(name.as_bytes())
        })?;
        Some(field.value.in_block(&self.block))
    }

    /// Every value of a field, in order.
    pub fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Cow<'a, str>> {
        values(&self.fields, &self.block, name).map(as_text)
    }

    /// Every field, in order: name and value as sent.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.fields.iter().map(|field| {
            let name = field.name.in_block(&self.block);
            (name, field.value.in_block(&self.block))
        })
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

fn as_text(value: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(value);
    if text.contains('\n') {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        return Cow::Owned(lines.join(" "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(block: &'static str) -> Headers {
        let head = Head::parse(block.as_bytes()).unwrap();
        head.into_headers(Bytes::from_static(block.as_bytes()))
    }

    #[test]
    fn the_end_is_the_empty_line_however_it_arrives() {
        let whole = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody";
        assert_eq!(find_end(whole, 0), Some(25));
        for cut in 0..25 {
            assert_eq!(find_end(&whole[..cut], 0), None, "{cut}");
            assert_eq!(find_end(whole, cut), Some(25), "{cut}");
        }
        assert_eq!(find_end(b"HTTP/1.0 200 OK\nA: b\n\nbody", 0), Some(22));
    }

    #[test]
    fn fields_are_found_whatever_their_case() {
        let headers = headers("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX:\r\nx: 2\r\n\r\n");
        assert_eq!(headers.get("content-type").unwrap(), "text/html");
        assert_eq!(headers.get("X").unwrap(), "");
        assert_eq!(headers.get_all("X").collect::<Vec<_>>(), ["", "2"]);
        assert_eq!(headers.get("y"), None);
        assert_eq!(headers.len(), 3);
        assert_eq!(headers.iter().next().unwrap().0, b"Content-Type");
    }

    #[test]
    fn bytes_outside_utf8_are_replaced_in_text_only() {
        let block: &[u8] = b"HTTP/1.1 200 OK\r\nLocation: /\xb0\xa1\r\n\r\n";
        let headers = Head::parse(block)
            .unwrap()
            .into_headers(Bytes::from_static(block));
        assert_eq!(headers.get_bytes("location").unwrap(), b"/\xb0\xa1");
        assert_eq!(headers.get("location").unwrap(), "/\u{fffd}\u{fffd}");
    }

    #[test]
    fn liberties_are_taken_and_marked() {
        let strict = Head::parse(b"HTTP/1.1 200\r\nA: b\r\n\r\n").unwrap();
        assert!(!strict.is_malformed);
        let folded = "HTTP/1.1 200 OK\r\nA: b\r\n  c\r\nD : e\r\nnonsense\r\nF: g\r\n\r\n";
        let head = Head::parse(folded.as_bytes()).unwrap();
        assert!(head.is_malformed);
        let headers = headers(folded);
        assert_eq!(headers.get("a").unwrap(), "b c");
        assert_eq!(headers.get("d").unwrap(), "e");
        assert_eq!(headers.get("f").unwrap(), "g");
    }

    #[test]
    fn many_fields_are_read_and_too_many_refused() {
        let block = |count: usize| {
            let fields = "Field: value\r\n".repeat(count);
            format!("HTTP/1.1 200 OK\r\n{fields}\r\n")
        };
        let many = Head::parse(block(200).as_bytes()).unwrap();
        assert_eq!((many.fields.len(), many.is_malformed), (200, false));
        let flood = Head::parse(block(FIELDS_MAX + 1).as_bytes());
        assert_eq!(flood.unwrap_err(), HeadError::TooManyFields);
    }

    #[test]
    fn traps_are_refused() {
        for fields in [
            "X: a\0b",
            "Transfer-Encoding: \x0bchunked\r\nContent-Length: 5",
            "Content-Length: 5\x01",
            "Content-Length\x0b: 5",
            "Transfer-Encoding",
        ] {
            let block = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n");
            assert!(Head::parse(block.as_bytes()).is_err(), "{fields:?}");
        }
        assert!(Head::parse(b"HTTP/1.1 042 No\r\n\r\n").is_err());
    }

    #[test]
    fn a_line_in_front_of_the_fields_is_passed_over() {
        let block = "HTTP/1.1 200 OK\r\n Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n";
        let headers = headers(block);
        assert_eq!(headers.get("transfer-encoding"), None);
        assert_eq!(headers.get("content-length").unwrap(), "5");
    }

    #[test]
    fn a_later_minor_version_is_read_as_ours() {
        let head = Head::parse(b"HTTP/1.7 200 OK\r\nA: b\r\n\r\n").unwrap();
        assert_eq!((head.minor_version, head.is_malformed), (1, false));
    }

    #[test]
    fn bare_line_feeds_are_read_and_marked() {
        let head = Head::parse(b"HTTP/1.1 200 OK\nA: b\n\n").unwrap();
        assert!(head.is_malformed);
    }

    #[test]
    fn what_is_not_http_is_refused() {
        for block in [
            "SSH-2.0-x\r\n\r\n",
            "HTTP/2 200\r\n\r\n",
            "ICY 200 OK\r\n\r\n",
        ] {
            assert!(Head::parse(block.as_bytes()).is_err(), "{block:?}");
        }
    }
}
