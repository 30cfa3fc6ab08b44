//! Proxies between us and the web.
//!
//! | proxy | `http` URLs | `https` URLs |
//! |---|---|---|
//! | `http://` | the request in absolute form; the proxy looks the name up again | `CONNECT` to the address we resolved |
//! | `socks5://` | a connection to the address we resolved | the same |
//!
//! Names are looked up here, and an address that is refused is not asked for
//! through a proxy either. Only in the first case does the proxy decide once
//! more where a name leads; whoever needs the rule to hold there too uses SOCKS.
//!
//! Credentials go to the proxy alone: they are neither in what an origin gets
//! nor in the request an outcome keeps, and no message shows them.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use bytes::{BufMut as _, Bytes, BytesMut};
use geomi_url::CrawlUrl;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, lookup_host};

use crate::FetchError;
use crate::head::{Head, find_end};
use crate::stream::connect_tcp;

/// The longest answer of a proxy to `CONNECT`.
const ANSWER_BYTES_MAX: usize = 8 << 10;

/// What a proxy speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Http,
    Socks5,
}

/// A proxy, read from `http://user:pass@host:port` or `socks5://host:port`.
///
/// ```
/// let proxy: geomi_fetch::Proxy = "socks5://me:secret@127.0.0.1:1080".parse().unwrap();
/// assert_eq!(proxy.to_string(), "socks5://127.0.0.1:1080");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    kind: Kind,
    host: String,
    port: u16,
    credentials: Option<(String, String)>,
}

/// Which of several proxies serves a request.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ProxyRotation {
    /// Always the same one for a host.
    #[default]
    Site,
    /// One after the other.
    Request,
}

impl FromStr for Proxy {
    type Err = FetchError;

    fn from_str(text: &str) -> Result<Self, FetchError> {
        let wrong = || FetchError::Proxy {
            // What stands before an @ may be a password.
            text: text.rsplit('@').next().unwrap_or(text).to_owned(),
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
        let kind = match scheme {
            "http" => Kind::Http,
            "socks5" => Kind::Socks5,
            _ => return Err(wrong()),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (credentials, place) = match rest.rsplit_once('@') {
            Some((credentials, place)) => {
                let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
                let (user, password) = (decode(user), decode(password));
                let pair = user.zip(password).ok_or_else(wrong)?;
                (Some(pair), place)
            }
            None => (None, rest),
        };
        let (host, port) = place.rsplit_once(':').ok_or_else(wrong)?;
        let host = crate::policy::bare_host(host);
        let is_host = !host.is_empty() && !host.contains(['/', '@', ' ', '?', '#']);
        let is_short = |(user, password): &(String, String)| {
            (1..=255).contains(&user.len()) && password.len() <= 255
        };
        if !is_host || credentials.as_ref().is_some_and(|pair| !is_short(pair)) {
            return Err(wrong());
        }
        Ok(Self {
            kind,
            host: host.to_owned(),
            port: port.parse().map_err(|_| wrong())?,
            credentials,
        })
    }
}

/// Takes percent-encoding off.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

/// Without its credentials, as for every message.
impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.kind {
            Kind::Http => "http",
            Kind::Socks5 => "socks5",
        };
        if self.host.contains(':') {
            write!(f, "{scheme}://[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{scheme}://{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

impl Proxy {
    /// Whether requests for this URL go to the proxy in absolute form.
    pub(crate) fn takes_absolute(&self, url: &CrawlUrl) -> bool {
        self.kind == Kind::Http && !url.is_https()
    }

    /// The request `sent` would be to the origin, as the proxy wants it.
    pub(crate) fn absolute(&self, url: &CrawlUrl, sent: &[u8]) -> Bytes {
        let mut head = BytesMut::with_capacity(sent.len() + 256);
        head.put_slice(b"GET ");
        head.put_slice(url.origin().as_bytes());
        let end = sent.windows(2).position(|pair| pair == b"\r\n");
        let line_end = end.map_or(sent.len(), |end| end + 2);
        head.put_slice(&sent[4..line_end]);
        head.put_slice(self.authorization().as_bytes());
        head.put_slice(&sent[line_end..]);
        head.freeze()
    }

    fn authorization(&self) -> String {
        match &self.credentials {
            Some((user, password)) => {
                let pair = format!("{user}:{password}");
                let coded = data_encoding::BASE64.encode(pair.as_bytes());
                format!("Proxy-Authorization: Basic {coded}\r\n")
            }
            None => String::new(),
        }
    }

    /// A connection to `target` through the proxy, or to the proxy itself for
    /// requests in absolute form. Every failure names the proxy.
    pub(crate) async fn connect(
        &self,
        url: &CrawlUrl,
        target: SocketAddr,
    ) -> io::Result<TcpStream> {
        let connecting = async {
            let mut tcp = connect_tcp(self.addr().await?).await?;
            match self.kind {
                _ if self.takes_absolute(url) => {}
                Kind::Http => self.tunnel(&mut tcp, target).await?,
                Kind::Socks5 => self.socks5(&mut tcp, target).await?,
            }
            Ok(tcp)
        };
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("proxy {self}: {error}"));
        connecting.await.map_err(named)
    }

    async fn addr(&self) -> io::Result<SocketAddr> {
        // The operator named the proxy, so it may be anywhere.
        let mut found = lookup_host((self.host.as_str(), self.port)).await?;
        found.next().ok_or_else(|| refused("it has no address"))
    }

    async fn tunnel(&self, tcp: &mut TcpStream, target: SocketAddr) -> io::Result<()> {
        let authorization = self.authorization();
        let ask = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{authorization}\r\n");
        tcp.write_all(ask.as_bytes()).await?;
        // Byte by byte: what follows the header belongs to the tunnel.
        let mut answer = Vec::new();
        while find_end(&answer, answer.len().saturating_sub(1)).is_none() {
            if answer.len() == ANSWER_BYTES_MAX {
                return Err(refused("its answer is too long"));
            }
            answer.push(tcp.read_u8().await?);
        }
        let head = Head::parse(&answer).map_err(|error| refused(&error.to_string()))?;
        match head.code {
            200..=299 => Ok(()),
            code => Err(refused(&format!("it answered CONNECT with {code}"))),
        }
    }

    /// RFC 1928, with RFC 1929 where there are credentials.
    async fn socks5(&self, tcp: &mut TcpStream, target: SocketAddr) -> io::Result<()> {
        let method = if self.credentials.is_some() { 2 } else { 0 };
        tcp.write_all(&[5, 1, method]).await?;
        let mut chosen = [0; 2];
        tcp.read_exact(&mut chosen).await?;
        if chosen != [5, method] {
            return Err(refused("it wants another way to log in"));
        }
        if let Some((user, password)) = &self.credentials {
            let mut login = vec![1, user.len() as u8];
            login.extend(user.as_bytes());
            login.push(password.len() as u8);
            login.extend(password.as_bytes());
            tcp.write_all(&login).await?;
            let mut verdict = [0; 2];
            tcp.read_exact(&mut verdict).await?;
            if verdict[1] != 0 {
                return Err(refused("it does not know these credentials"));
            }
        }
        let mut ask = vec![5, 1, 0];
        match target.ip() {
            IpAddr::V4(ip) => {
                ask.push(1);
                ask.extend(ip.octets());
            }
            IpAddr::V6(ip) => {
                ask.push(4);
                ask.extend(ip.octets());
            }
        }
        ask.extend(target.port().to_be_bytes());
        tcp.write_all(&ask).await?;
        read_socks5_reply(tcp).await
    }
}

async fn read_socks5_reply(tcp: &mut TcpStream) -> io::Result<()> {
    let mut reply = [0; 4];
    tcp.read_exact(&mut reply).await?;
    let [5, code, _, kind] = reply else {
        return Err(refused("it does not speak SOCKS5"));
    };
    if code != 0 {
        let why = match code {
            2 => "its rules forbid it",
            3 => "the network is unreachable",
            4 => "the host is unreachable",
            5 => "the connection was refused",
            6 => "the time ran out",
            _ => "it failed",
        };
        return Err(refused(&format!("{why} (SOCKS5 reply {code})")));
    }
    let bound = match kind {
        1 => 4,
        4 => 16,
        3 => usize::from(tcp.read_u8().await?),
        _ => return Err(refused("it does not speak SOCKS5")),
    };
    // Where the proxy's own end lies is of no use to us.
    let mut rest = vec![0; bound + 2];
    tcp.read_exact(&mut rest).await?;
    Ok(())
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionRefused, why.to_owned())
}

/// A number that is the same for a host in every run (FNV-1a).
pub(crate) fn host_number(host: &str) -> u64 {
    host.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_read_and_their_secrets_not_shown() {
        let proxy: Proxy = "http://me:p%40ss@proxy.test:3128/".parse().unwrap();
        assert_eq!(proxy.to_string(), "http://proxy.test:3128");
        assert!(!format!("{proxy:?}").contains("me"));
        assert_eq!(
            proxy.authorization(),
            "Proxy-Authorization: Basic bWU6cEBzcw==\r\n"
        );
        let six: Proxy = "socks5://[::1]:1080".parse().unwrap();
        assert_eq!(six.to_string(), "socks5://[::1]:1080");
        for wrong in [
            "proxy.test:3128",
            "ftp://proxy.test:21",
            "http://proxy.test",
            "http://:80",
            "http://a:%zz@proxy.test:80",
            "http://proxy.test:99999",
            "http://:x@proxy.test:80",
        ] {
            let error = wrong.parse::<Proxy>().unwrap_err().to_string();
            assert!(!error.contains("%zz"), "{error}");
        }
    }

    #[test]
    fn the_absolute_form_names_the_origin_and_carries_the_credentials() {
        let proxy: Proxy = "http://me:x@proxy.test:3128".parse().unwrap();
        let url = CrawlUrl::parse("http://example.com:8080/a?b").unwrap();
        let sent = b"GET /a?b HTTP/1.1\r\nHost: example.com:8080\r\n\r\n";
        assert_eq!(
            proxy.absolute(&url, sent),
            &b"GET http://example.com:8080/a?b HTTP/1.1\r\n\
               Proxy-Authorization: Basic bWU6eA==\r\nHost: example.com:8080\r\n\r\n"[..]
        );
    }
}
