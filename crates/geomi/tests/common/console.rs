//! `geomi serve` and a client of it, over a real socket.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::Workplace;

/// `geomi serve`, ended when the test is.
pub(crate) struct Console {
    pub(crate) child: Child,
    pub(crate) host: String,
    pub(crate) first: String,
}

impl Drop for Console {
    fn drop(&mut self) {
        // It may have ended already.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self, code: u16) -> Value {
        assert_eq!(self.code, code, "{self:#?}");
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines();
        let mut pairs = lines.filter_map(|line| line.split_once(": "));
        pairs
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

pub(crate) fn runtime(
    place: &Workplace,
    mut command: std::process::Command,
) -> std::process::Command {
    command.env("XDG_RUNTIME_DIR", place.path("runtime"));
    command
}

impl Console {
    pub(crate) fn start(place: &Workplace, more: &[&str]) -> Self {
        std::fs::create_dir_all(place.path("root")).unwrap();
        let words = [
            "serve",
            "root",
            "--listen",
            "127.0.0.1:0",
            "--format",
            "json",
        ];
        let mut child = runtime(place, place.command(&[&words, more].concat()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let host = told["url"]
            .as_str()
            .unwrap()
            .trim_start_matches("http://")
            .to_owned();
        let first = told["first_admin"].as_str().unwrap_or("").to_owned();
        Self { child, host, first }
    }

    pub(crate) fn open(
        &self,
        method: &str,
        path: &str,
        fields: &str,
        body: &str,
    ) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {length}\r\n{fields}\r\n{body}",
            self.host
        )
        .unwrap();
        BufReader::new(stream)
    }

    pub(crate) fn ask(&self, method: &str, path: &str, fields: &str, body: &str) -> Answer {
        let mut text = String::new();
        self.open(method, path, fields, body)
            .read_to_string(&mut text)
            .unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Answer {
            code: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// Makes the first admin by the first link, as a browser does; fields of its
    /// session.
    pub(crate) fn admin_session(&self) -> String {
        let secret = self.first.rsplit_once("token=").unwrap().1;
        let form = "Content-Type: application/x-www-form-urlencoded\r\n";
        let body = format!("token={secret}&id=kim&name=Kim&password=correct+horse+battery");
        let made = self.ask("POST", "/first", form, &body);
        assert_eq!(made.code, 303, "{made:#?}");
        let cookie = made.field("set-cookie").unwrap().split(';').next().unwrap();
        let cookie = format!("Cookie: {cookie}\r\n");
        let session = self.ask("GET", "/api/v1/session", &cookie, "").json(200);
        let word = session["csrf"].as_str().unwrap();
        format!("{cookie}X-CSRF-Token: {word}\r\nContent-Type: application/json\r\n")
    }

    /// A token of a session with this scope.
    pub(crate) fn token(&self, session: &str, scope: &str) -> String {
        let token = json!({ "name": "test", "scope": scope }).to_string();
        let token = self
            .ask("POST", "/api/v1/tokens", session, &token)
            .json(201);
        token["secret"].as_str().unwrap().to_owned()
    }

    /// A token of the first admin that may do everything.
    pub(crate) fn admin_token(&self) -> String {
        self.token(&self.admin_session(), "admin")
    }
}

pub(crate) fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\nContent-Type: application/json\r\n")
}

/// Reads events until one fits.
pub(crate) fn wait_for(
    events: &mut BufReader<TcpStream>,
    fits: impl Fn(&str, &Value) -> bool,
) -> Value {
    let mut name = String::new();
    loop {
        let mut line = String::new();
        assert!(events.read_line(&mut line).unwrap() > 0, "the stream ended");
        if let Some(event) = line.trim_end().strip_prefix("event: ") {
            event.clone_into(&mut name);
        } else if let Some(data) = line.trim_end().strip_prefix("data: ") {
            let data: Value = serde_json::from_str(data).unwrap();
            if fits(&name, &data) {
                return data;
            }
        }
    }
}
