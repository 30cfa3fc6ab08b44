//! Names, against a name server that counts its questions.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use geomi_fetch::{AddressPolicy, FetchConfig, Fetcher, Resolution, parse_override};
use tokio::net::UdpSocket;
use tokio::sync::{Semaphore, watch};

use crate::server::{config, fetcher};

/// Questions for A records are answered with 10.0.0.N, N counting up, for the
/// names below; it knows no IPv6. A name that begins with `alias` leads to
/// `host.` under the same domain.
struct NameServer {
    addr: SocketAddr,
    /// Questions for A records so far.
    asked: watch::Receiver<u8>,
    /// Answers the server may still give.
    permits: Arc<Semaphore>,
}

const NO_ERROR: u8 = 0;
const NO_SUCH_NAME: u8 = 3;

impl NameServer {
    async fn start(permits: usize) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let addr = socket.local_addr().unwrap();
        let permits = Arc::new(Semaphore::new(permits));
        let (asked_sender, asked) = watch::channel(0);
        let gate = Arc::clone(&permits);
        tokio::spawn(async move {
            let mut packet = [0; 512];
            loop {
                let (len, client) = socket.recv_from(&mut packet).await.unwrap();
                let question = Question::read(&packet[..len]);
                if question.is_a {
                    asked_sender.send_modify(|asked| *asked += 1);
                }
                gate.acquire().await.unwrap().forget();
                let answer = question.answer(*asked_sender.borrow());
                socket.send_to(&answer, client).await.unwrap();
            }
        });
        Self {
            addr,
            asked,
            permits,
        }
    }

    fn asked(&self) -> u8 {
        *self.asked.borrow()
    }

    fn fetcher(&self, change: impl FnOnce(&mut FetchConfig)) -> Fetcher {
        let mut config = FetchConfig {
            name_servers: Some(vec![self.addr]),
            address_policy: AddressPolicy {
                allow_all: true,
                ..AddressPolicy::default()
            },
            ..config()
        };
        change(&mut config);
        Fetcher::new(config).unwrap()
    }
}

struct Question {
    id: [u8; 2],
    name: String,
    /// Name, type and class as they were sent.
    bytes: Vec<u8>,
    is_a: bool,
}

impl Question {
    fn read(packet: &[u8]) -> Self {
        let mut labels = Vec::new();
        let mut at = 12;
        while packet[at] > 0 {
            let end = at + 1 + usize::from(packet[at]);
            labels.push(String::from_utf8(packet[at + 1..end].to_vec()).unwrap());
            at = end;
        }
        Self {
            id: [packet[0], packet[1]],
            name: labels.join(".").to_lowercase(),
            is_a: packet[at + 1..at + 3] == [0, 1],
            bytes: packet[12..at + 5].to_vec(),
        }
    }

    fn answer(&self, number: u8) -> Vec<u8> {
        let exists = !self.name.starts_with("missing");
        let code = if exists { NO_ERROR } else { NO_SUCH_NAME };
        let count = u8::from(exists && self.is_a);
        let mut answer = self.id.to_vec();
        answer.extend([0x81, 0x80 | code, 0, 1, 0, count, 0, 0, 0, 0]);
        answer.extend(&self.bytes);
        if count == 0 {
            return answer;
        }
        let mut owner = vec![0xc0, 12];
        if self.name.starts_with("alias") {
            // `host`, and then what follows the first label of the question.
            let parent = 12 + 1 + self.bytes[0];
            let target = [4, b'h', b'o', b's', b't', 0xc0, parent];
            answer[7] = 2;
            answer.extend([0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 30, 0, target.len() as u8]);
            owner = vec![0xc0, answer.len() as u8];
            answer.extend(target);
        }
        answer.extend(owner);
        answer.extend([0, 1, 0, 1, 0, 0, 0, 30, 0, 4, 10, 0, 0, number]);
        answer
    }
}

fn addrs(resolution: Resolution) -> Vec<IpAddr> {
    match resolution {
        Resolution::Addresses { addrs, .. } => addrs,
        other => panic!("{other:?}"),
    }
}

fn numbered(number: u8) -> Vec<IpAddr> {
    vec![IpAddr::from([10, 0, 0, number])]
}

#[tokio::test]
async fn a_name_is_looked_up_once_however_many_ask() {
    let server = NameServer::start(100).await;
    let fetcher = server.fetcher(|_| ());
    let asking: Vec<_> = (0..50)
        .map(|_| {
            let fetcher = fetcher.clone();
            tokio::spawn(async move { fetcher.resolve("busy.test", 80).await })
        })
        .collect();
    for asked in asking {
        assert_eq!(addrs(asked.await.unwrap()), numbered(1));
    }
    assert_eq!(addrs(fetcher.resolve("busy.test", 80).await), numbered(1));
    assert_eq!(server.asked(), 1);
    assert_eq!(addrs(fetcher.resolve("other.test", 80).await), numbered(2));
    assert_eq!(server.asked(), 2);
}

#[tokio::test]
async fn an_alias_says_whose_addresses_it_leads_to() {
    let server = NameServer::start(100).await;
    let fetcher = server.fetcher(|_| ());
    for (name, expected) in [("alias1.Test", Some("host.test")), ("own.test", None)] {
        match fetcher.resolve(name, 80).await {
            Resolution::Addresses { canonical, .. } => assert_eq!(canonical.as_deref(), expected),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn the_time_an_answer_holds_is_kept_within_bounds() {
    let server = NameServer::start(100).await;
    let expires_in = |resolution| match resolution {
        Resolution::Addresses { expires_in, .. } => expires_in,
        other => panic!("{other:?}"),
    };
    let secs = Duration::from_secs;
    // The server says 30 s.
    let fetcher = server.fetcher(|config| config.dns_ttl_min = secs(100));
    assert_eq!(expires_in(fetcher.resolve("a.test", 80).await), secs(100));
    let fetcher = server.fetcher(|config| {
        config.dns_ttl_min = secs(1);
        config.dns_ttl_max = secs(10);
    });
    assert_eq!(expires_in(fetcher.resolve("a.test", 80).await), secs(10));
    let fetcher = server.fetcher(|config| config.dns_ttl_min = secs(1));
    let said = expires_in(fetcher.resolve("a.test", 80).await);
    assert!(said > secs(25) && said <= secs(30), "{said:?}");
}

#[tokio::test]
async fn a_failure_is_remembered() {
    let server = NameServer::start(100).await;
    let fetcher = server.fetcher(|_| ());
    let failed = fetcher.resolve("missing.test", 80).await;
    assert!(matches!(failed, Resolution::Failed { .. }), "{failed:?}");
    let asked = server.asked();
    assert_eq!(fetcher.resolve("missing.test", 80).await, failed);
    assert_eq!(server.asked(), asked);
}

#[tokio::test]
async fn a_silent_name_server_is_given_up() {
    let server = NameServer::start(0).await;
    let fetcher = server.fetcher(|config| config.dns_timeout = Duration::from_millis(50));
    let failed = fetcher.resolve("slow.test", 80).await;
    assert!(matches!(failed, Resolution::Failed { .. }), "{failed:?}");
}

#[tokio::test]
async fn a_busy_name_is_refreshed_before_its_time_is_up() {
    let mut server = NameServer::start(1).await;
    let fetcher = server.fetcher(|config| {
        config.dns_ttl_min = Duration::ZERO;
        config.dns_ttl_max = Duration::from_secs(1);
    });
    while server.asked() < 2 {
        assert_eq!(addrs(fetcher.resolve("busy.test", 80).await), numbered(1));
        tokio::task::yield_now().await;
    }
    // The refresh is under way and unanswered, and still nobody waits.
    assert_eq!(addrs(fetcher.resolve("busy.test", 80).await), numbered(1));
    server.permits.add_permits(1);
    while addrs(fetcher.resolve("busy.test", 80).await) == numbered(1) {
        tokio::task::yield_now().await;
    }
    assert_eq!(addrs(fetcher.resolve("busy.test", 80).await), numbered(2));
    assert_eq!(*server.asked.borrow_and_update(), 2);
}

#[tokio::test]
async fn an_abandoned_look_up_leaves_the_name_free() {
    let mut server = NameServer::start(0).await;
    let fetcher = server.fetcher(|_| ());
    let asking = tokio::spawn({
        let fetcher = fetcher.clone();
        async move { fetcher.resolve("a.test", 80).await }
    });
    server.asked.wait_for(|asked| *asked == 1).await.unwrap();
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    server.permits.add_permits(10);
    assert_eq!(addrs(fetcher.resolve("a.test", 80).await).len(), 1);
}

#[tokio::test]
async fn the_policy_has_the_last_word_on_names() {
    let server = NameServer::start(100).await;
    let fetcher = server.fetcher(|config| config.address_policy = AddressPolicy::default());
    let refused = fetcher.resolve("inside.test", 80).await;
    let expected = Resolution::Refused {
        addr: numbered(1)[0],
        reason: "private",
    };
    assert_eq!(refused, expected);
    let fetcher = server.fetcher(|config| {
        config.address_policy = AddressPolicy::default();
        let named = &config.address_policy.named_hosts;
        named.insert("inside.test:8080".parse().unwrap());
        named.insert("www.example.com:8080".parse().unwrap());
    });
    let named = fetcher.resolve("inside.test", 8080).await;
    assert_eq!(addrs(named).len(), 1);
    // Another port was not named, and what a public name leads to is not the
    // operator's to say.
    for (host, port) in [("inside.test", 80), ("www.example.com", 8080)] {
        let refused = fetcher.resolve(host, port).await;
        assert!(
            matches!(refused, Resolution::Refused { .. }),
            "{host}:{port}"
        );
    }
}

#[tokio::test]
async fn a_name_that_moves_inside_is_refused_from_then_on() {
    let server = NameServer::start(100).await;
    let fetcher = server.fetcher(|config| {
        config.address_policy = AddressPolicy {
            allow: vec!["10.0.0.1/32".parse().unwrap()],
            ..AddressPolicy::default()
        };
        (config.dns_ttl_min, config.dns_ttl_max) = (Duration::ZERO, Duration::ZERO);
    });
    assert_eq!(addrs(fetcher.resolve("rebind.test", 80).await), numbered(1));
    let moved = fetcher.resolve("rebind.test", 80).await;
    assert!(matches!(moved, Resolution::Refused { addr, .. } if addr == numbered(2)[0]));
}

#[tokio::test]
async fn literals_and_localhost_need_no_name_server() {
    let server = NameServer::start(0).await;
    let fetcher = server.fetcher(|_| ());
    let of = async |host: &str| addrs(fetcher.resolve(host, 80).await);
    assert_eq!(of("192.0.2.7").await, [IpAddr::from([192, 0, 2, 7])]);
    assert_eq!(of("[2001:db8::1]").await[0].to_string(), "2001:db8::1");
    assert_eq!(of("localhost").await[0], IpAddr::from([127, 0, 0, 1]));
    assert_eq!(of("www.localhost").await[0], IpAddr::from([127, 0, 0, 1]));
    assert_eq!(server.asked(), 0);
}

#[tokio::test]
async fn overrides_come_first_and_need_no_permission() {
    let server = crate::server::Server::answering("HTTP/1.1 204 No\r\n\r\n").await;
    let fetcher = Fetcher::new(FetchConfig {
        overrides: vec![
            parse_override("one.test:192.0.2.1").unwrap(),
            parse_override("*:127.0.0.1").unwrap(),
        ],
        ..FetchConfig::default()
    })
    .unwrap();
    let of = async |host: &str| addrs(fetcher.resolve(host, 80).await);
    assert_eq!(of("one.test").await, [IpAddr::from([192, 0, 2, 1])]);
    let any = of("any.test").await;
    assert_eq!(any, [IpAddr::from([127, 0, 0, 1])]);
    let url = format!("http://any.test:{}/", server.addr.port());
    let url = geomi_url::CrawlUrl::parse(&url).unwrap();
    let request = geomi_fetch::FetchRequest::new(url, any[0]);
    let outcome = fetcher.fetch(request).await;
    assert_eq!(outcome.code, Some(204), "{:?}", outcome.error);
    let sent = String::from_utf8(outcome.request.to_vec()).unwrap();
    assert!(sent.contains("\r\nHost: any.test:"));
}

#[tokio::test]
async fn loopback_by_name_is_refused_unless_allowed() {
    let strict = Fetcher::new(FetchConfig::default()).unwrap();
    let refused = strict.resolve("localhost", 80).await;
    assert!(matches!(
        refused,
        Resolution::Refused {
            reason: "loopback",
            ..
        }
    ));
    // Only the IPv4 range is allowed here, so only that address is given.
    let allowed = addrs(fetcher().resolve("localhost", 80).await);
    assert_eq!(allowed, [IpAddr::from([127, 0, 0, 1])]);
}
