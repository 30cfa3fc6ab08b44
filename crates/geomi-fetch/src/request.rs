//! What to ask for, and the request head that asks it.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use geomi_url::CrawlUrl;

use crate::config::is_header_value;
use crate::head::Head;
use crate::{FetchConfig, Signature};

/// One URL to be asked for at one address.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// What to ask for.
    pub url: CrawlUrl,
    /// Where to ask: one of the addresses [`Fetcher::resolve`] gave. The name
    /// is not looked up again.
    ///
    /// [`Fetcher::resolve`]: crate::Fetcher::resolve
    pub addr: IpAddr,
    /// The `ETag` of the answer at hand, sent as `If-None-Match`.
    pub if_none_match: Option<String>,
    /// The `Last-Modified` of the answer at hand, sent as `If-Modified-Since`.
    pub if_modified_since: Option<String>,
    /// The `Cookie` header.
    pub cookie: Option<String>,
    /// The `Authorization` header.
    pub authorization: Option<String>,
    /// What signs the request.
    pub signature: Option<Box<Signature>>,
    /// A limit for this body other than the fetcher's.
    pub body_bytes_max: Option<usize>,
    /// By which types a body is left where it is.
    pub body_filter: Option<BodyFilter>,
    /// Whether the outcome is to describe the encryption. Reading a certificate
    /// costs more than it is worth for a page nobody asks about.
    pub describe_tls: bool,
}

/// Says of a media type (in lower case, without parameters) whether a body of it is
/// wanted. Asked when the header of a 200 is there; what is not wanted is not read.
#[derive(Clone)]
pub struct BodyFilter(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl BodyFilter {
    /// A filter that asks this.
    pub fn new(wants: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(wants))
    }

    /// Whether the body of an answer with this header is wanted. One that names no
    /// type is.
    pub(crate) fn wants(&self, head: &Head, block: &[u8]) -> bool {
        let Some(value) = head.values(block, "content-type").next() else {
            return true;
        };
        let essence = value.split(|byte| *byte == b';').next().unwrap_or(value);
        let essence = String::from_utf8_lossy(essence.trim_ascii()).to_ascii_lowercase();
        head.code != 200 || essence.is_empty() || (self.0)(&essence)
    }
}

impl fmt::Debug for BodyFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BodyFilter")
    }
}

impl FetchRequest {
    /// An unconditional request.
    pub fn new(url: CrawlUrl, addr: IpAddr) -> Self {
        Self {
            url,
            addr,
            if_none_match: None,
            if_modified_since: None,
            cookie: None,
            authorization: None,
            signature: None,
            body_bytes_max: None,
            body_filter: None,
            describe_tls: false,
        }
    }

    /// Whether the server may answer 304.
    pub(crate) fn is_conditional(&self) -> bool {
        [&self.if_none_match, &self.if_modified_since]
            .into_iter()
            .flatten()
            .any(|validator| is_sendable(validator))
    }

    /// The request head exactly as it is sent, always in the same order.
    pub(crate) fn to_bytes(&self, config: &FetchConfig) -> Bytes {
        let mut head = BytesMut::with_capacity(512);
        head.put_slice(b"GET ");
        head.put_slice(self.url.path_and_query().as_bytes());
        head.put_slice(b" HTTP/1.1\r\n");
        put_field(&mut head, "Host", self.url.authority());
        put_field(&mut head, "User-Agent", &config.user_agent);
        put_field(&mut head, "Accept", &config.accept);
        put_field(&mut head, "Accept-Encoding", &config.accept_encoding);
        if let Some(language) = &config.accept_language {
            put_field(&mut head, "Accept-Language", language);
        }
        if let Some(etag) = &self.if_none_match {
            put_field(&mut head, "If-None-Match", etag);
        }
        if let Some(date) = &self.if_modified_since {
            put_field(&mut head, "If-Modified-Since", date);
        }
        if let Some(cookie) = &self.cookie {
            put_field(&mut head, "Cookie", cookie);
        }
        if let Some(credentials) = &self.authorization {
            put_field(&mut head, "Authorization", credentials);
        }
        if let Some(signed) = &self.signature {
            if let Some(agent) = &signed.agent {
                put_field(&mut head, "Signature-Agent", agent);
            }
            put_field(&mut head, "Signature-Input", &signed.input);
            put_field(&mut head, "Signature", &signed.signature);
        }
        head.put_slice(b"\r\n");
        head.freeze()
    }
}

/// Validators come from servers. One that would end the line could smuggle a
/// second request, and is better not sent.
fn is_sendable(value: &str) -> bool {
    !value.is_empty() && is_header_value(value)
}

fn put_field(head: &mut BytesMut, name: &str, value: &str) {
    if !is_sendable(value) {
        return;
    }
    head.put_slice(name.as_bytes());
    head.put_slice(b": ");
    head.put_slice(value.as_bytes());
    head.put_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(request: &FetchRequest, config: &FetchConfig) -> String {
        String::from_utf8(request.to_bytes(config).to_vec()).unwrap()
    }

    #[test]
    fn fields_come_in_a_fixed_order() {
        let url = CrawlUrl::parse("http://example.com:8080/a?b=c").unwrap();
        let mut request = FetchRequest::new(url, [127, 0, 0, 1].into());
        let mut config = FetchConfig {
            user_agent: "tester/1".to_owned(),
            accept: "*/*".to_owned(),
            ..FetchConfig::default()
        };
        assert!(!request.is_conditional());
        assert_eq!(
            head(&request, &config),
            "GET /a?b=c HTTP/1.1\r\nHost: example.com:8080\r\nUser-Agent: tester/1\r\n\
             Accept: */*\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n\r\n"
        );
        request.if_none_match = Some("\"x\"".to_owned());
        request.if_modified_since = Some("Sat, 29 Oct 1994 19:43:31 GMT".to_owned());
        config.accept_language = Some("ko".to_owned());
        assert!(request.is_conditional());
        assert!(head(&request, &config).ends_with(
            "Accept-Language: ko\r\nIf-None-Match: \"x\"\r\n\
             If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT\r\n\r\n"
        ));
    }

    #[test]
    fn a_validator_that_would_split_the_head_is_not_sent() {
        let url = CrawlUrl::parse("http://example.com/").unwrap();
        let mut request = FetchRequest::new(url, [127, 0, 0, 1].into());
        request.if_none_match = Some("x\r\nHost: evil".to_owned());
        assert!(!head(&request, &FetchConfig::default()).contains("evil"));
        assert!(!request.is_conditional());
    }
}
