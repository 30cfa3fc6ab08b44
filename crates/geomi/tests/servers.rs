//! A server with two addresses is one server.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use common::{Workplace, identity};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

const PAGES: usize = 12;
/// How long a page is kept back so that another request may come meanwhile.
const PATIENCE: Duration = Duration::from_millis(20);

/// Pages asked for and not answered, at all addresses together: now, and the
/// most there were.
#[derive(Default)]
struct Open {
    counts: Mutex<(usize, usize)>,
    changed: Condvar,
}

impl Open {
    fn pass(&self) {
        let mut counts = self.counts.lock().unwrap();
        counts.0 += 1;
        counts.1 = counts.1.max(counts.0);
        self.changed.notify_all();
        let alone = |counts: &mut (usize, usize)| counts.0 < 2;
        let waited = self.changed.wait_timeout_while(counts, PATIENCE, alone);
        waited.unwrap().0.0 -= 1;
    }

    fn most(&self) -> usize {
        self.counts.lock().unwrap().1
    }
}

/// Serves pages that link to all others of their host; the port.
fn listen(address: Ipv4Addr, tls: &Arc<ServerConfig>, open: &Arc<Open>) -> u16 {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tls, open) = (Arc::clone(tls), Arc::clone(open));
    std::thread::spawn(move || {
        for tcp in listener.incoming().flatten() {
            let (tls, open) = (Arc::clone(&tls), Arc::clone(&open));
            std::thread::spawn(move || serve(tcp, tls, &open));
        }
    });
    port
}

fn serve(tcp: TcpStream, tls: Arc<ServerConfig>, open: &Open) {
    let mut stream = StreamOwned::new(ServerConnection::new(tls).unwrap(), tcp);
    let mut request = [0; 4096];
    let Ok(len @ 1..) = stream.read(&mut request) else {
        return;
    };
    let request = String::from_utf8_lossy(&request[..len]);
    let body = if request.starts_with("GET /robots.txt ") {
        "User-agent: *\n".to_owned()
    } else {
        open.pass();
        let link = |page| format!("<a href='/{page}'>page {page}</a>");
        (0..PAGES).map(link).collect()
    };
    let kind = if body.starts_with('<') {
        "html"
    } else {
        "plain"
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/{kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // A client that has left needs no answer.
    drop(stream.write_all([head, body].concat().as_bytes()));
    stream.conn.send_close_notify();
    drop(stream.flush());
}

/// Crawls two hosts at two addresses; the most pages under way at once.
fn crawl(identities: [&(Arc<ServerConfig>, String); 2]) -> usize {
    let place = Workplace::new();
    let [one, two] = identities;
    place.write("ca.pem", &[&*one.1, &*two.1].concat());
    let open = Arc::new(Open::default());
    let ports = [(1, one), (2, two)].map(|(last, (tls, _))| {
        let address = Ipv4Addr::new(127, 0, 0, last);
        listen(address, tls, &open)
    });
    let seeds = [("one.test", ports[0]), ("two.test", ports[1])]
        .map(|(host, port)| format!("https://{host}:{port}/0"));
    let mut args = vec!["crawl", "-o", "out", "--site-delay", "0s", "--no-progress"];
    args.extend(["--resolve", "one.test:127.0.0.1"]);
    args.extend(["--resolve", "two.test:127.0.0.2"]);
    args.extend(["--set", "fetch.ca_file=ca.pem"]);
    args.extend(["--set", "politeness.address_connections=1"]);
    args.extend(seeds.iter().map(String::as_str));
    let done = place.geomi(&args);
    assert_eq!(done.code, Some(0), "{}", done.err);
    open.most()
}

#[test]
fn a_certificate_shown_at_two_addresses_makes_them_share_a_limit() {
    let hosts = ["one.test", "two.test"];
    let (shared, other) = (identity(&hosts), identity(&hosts));
    assert_eq!(crawl([&shared, &shared]), 1);
    // Two servers are asked at once: the pages would have met.
    assert_eq!(crawl([&shared, &other]), 2);
}
