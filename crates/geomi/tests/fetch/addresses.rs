//! A name is typed and its owner points it inside.

use std::net::UdpSocket;

use crate::common::Workplace;
use crate::server::{Server, html, redirect};

/// A name server that answers every question for an address with 127.0.0.1.
/// Returns where it listens; it ends with the test's process.
fn name_server() -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut packet = [0; 512];
        while let Ok((len, client)) = socket.recv_from(&mut packet) {
            // The name ends with an empty label; type and class follow.
            let name_end = 12 + packet[12..len].iter().position(|b| *b == 0).unwrap() + 1;
            let is_a = packet[name_end..name_end + 2] == [0, 1];
            let mut answer = packet[..2].to_vec();
            answer.extend([0x81, 0x80, 0, 1, 0, u8::from(is_a), 0, 0, 0, 0]);
            answer.extend(&packet[12..name_end + 4]);
            if is_a {
                answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 30, 0, 4, 127, 0, 0, 1]);
            }
            socket.send_to(&answer, client).unwrap();
        }
    });
    address
}

#[test]
fn a_typed_public_name_that_leads_inside_is_not_asked() {
    let server = Server::start(vec![("/", html("secret"))]);
    let names = format!("fetch.name_servers=[\"{}\"]", name_server());
    let public = format!("http://www.example.com:{}/", server.port());
    let place = Workplace::new();
    let contact = ["--contact", "https://example.org/bot"];
    let quick = ["--set", &names, "--site-delay", "1s", "--no-progress"];
    let more = [&contact[..], &quick[..]].concat();

    place.geomi(&[&["crawl", &public, "-o", "out"], &more[..]].concat());
    let fetched = place.geomi(&[&["fetch", &public], &more[..4]].concat());
    assert_eq!(fetched.code, Some(3), "{fetched:#?}");
    assert!(
        fetched
            .out
            .contains("127.0.0.1 is loopback; --allow-private opens it"),
        "{fetched:#?}"
    );
    assert_eq!(server.asked(), Vec::<String>::new());

    // A directory of an earlier version lists the name as typed.
    let used = place.read("out/geomi.toml");
    assert!(!used.contains("www.example.com"), "{used}");
    place.write("old.toml", "[fetch]\nallow_hosts = [\"www.example.com\"]\n");
    let words = ["--config", "old.toml", "crawl", &public, "-o", "older"];
    place.geomi(&[&words[..], &more[..]].concat());
    assert_eq!(server.asked(), Vec::<String>::new());

    // A name that nobody outside can own may lead there, and so may one whose
    // address the operator wrote down.
    let internal = format!("http://wiki.internal:{}/", server.port());
    let crawl = place.geomi(&[&["crawl", &internal, "-o", "in"], &more[..]].concat());
    assert_eq!(crawl.code, Some(0), "{crawl:#?}");
    assert_eq!(server.asked(), ["/robots.txt", "/"]);
    let override_ = ["--resolve", "www.example.com:127.0.0.1"];
    let fetched = place.geomi(&[&["fetch", &public], &contact[..], &override_[..]].concat());
    assert_eq!(fetched.code, Some(0), "{fetched:#?}");
}

#[test]
fn a_typed_host_is_open_at_its_port_only() {
    let other = Server::start(vec![("/", html("secret"))]);
    let there = format!("http://127.0.0.1:{}/", other.port());
    let page = format!("<a href={there}>there</a>");
    let server = Server::start(vec![("/", html(&page)), ("/r", redirect(&there))]);
    let seed = format!("http://127.0.0.1:{}/", server.port());
    let place = Workplace::new();
    let quick = ["--site-delay", "0s", "--scope", "any", "--no-progress"];
    let crawl = place.geomi(&[&["crawl", &seed, "-o", "out"], &quick[..]].concat());
    assert_eq!(crawl.code, Some(0), "{crawl:#?}");
    let fetched = place.geomi(&["fetch", &format!("{seed}r"), "--site-delay", "0s"]);
    assert_eq!(fetched.code, Some(3), "{fetched:#?}");
    assert_eq!(other.asked(), Vec::<String>::new());
    let used = place.read("out/geomi.toml");
    let named = format!("allow_hosts = [\"127.0.0.1:{}\"]", server.port());
    assert!(used.contains(&named), "{used}");
}
