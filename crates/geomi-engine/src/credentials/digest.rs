//! Digest access authentication (RFC 7616): a server's challenge and the answer
//! to it, with MD5 or SHA-256 and `qop=auth`.

use std::fmt::Write as _;

use super::md5;

/// What a server asks to be proved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Challenge {
    realm: String,
    pub(super) nonce: String,
    opaque: Option<String>,
    hash: Hash,
    has_qop: bool,
    /// The nonce of the request was too old; the password may be right.
    pub(super) is_stale: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Hash {
    Md5,
    Sha256,
}

/// Who answers, for what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proof<'a> {
    pub(super) user: &'a str,
    pub(super) password: &'a str,
    pub(super) target: &'a str,
    /// How often the nonce was used, this time included.
    pub(super) count: u32,
    pub(super) client_nonce: &'a str,
}

impl Challenge {
    /// The best challenge of an answer's `WWW-Authenticate` fields that can be
    /// met.
    pub(super) fn best(fields: &[String]) -> Option<Self> {
        let challenges = fields.iter().filter_map(|field| Self::read(field));
        challenges.max_by_key(|challenge| challenge.hash)
    }

    fn read(field: &str) -> Option<Self> {
        let field = field.trim();
        let scheme = field.get(..7)?;
        if !scheme.eq_ignore_ascii_case("digest ") {
            return None;
        }
        let parameters = parameters(&field[7..]);
        let value = |name: &str| {
            let mut all = parameters.iter();
            let found = all.find(|(known, _)| known.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.clone())
        };
        let hash = match value("algorithm") {
            None => Hash::Md5,
            Some(name) if name.eq_ignore_ascii_case("md5") => Hash::Md5,
            Some(name) if name.eq_ignore_ascii_case("sha-256") => Hash::Sha256,
            Some(_) => return None,
        };
        let qop = value("qop");
        let has_auth = |qop: &String| {
            qop.split(',')
                .any(|one| one.trim().eq_ignore_ascii_case("auth"))
        };
        if qop.as_ref().is_some_and(|qop| !has_auth(qop)) {
            return None;
        }
        Some(Self {
            realm: value("realm")?,
            nonce: value("nonce")?,
            opaque: value("opaque"),
            hash,
            has_qop: qop.is_some(),
            is_stale: value("stale").is_some_and(|stale| stale.eq_ignore_ascii_case("true")),
        })
    }

    /// The value of `Authorization` for a GET.
    pub(super) fn answer(&self, proof: &Proof<'_>) -> String {
        let Proof {
            user,
            password,
            target,
            count,
            client_nonce,
        } = *proof;
        let Self {
            realm, nonce, hash, ..
        } = self;
        let secret = hash.hex(&format!("{user}:{realm}:{password}"));
        let request = hash.hex(&format!("GET:{target}"));
        let response = if self.has_qop {
            hash.hex(&format!(
                "{secret}:{nonce}:{count:08x}:{client_nonce}:auth:{request}"
            ))
        } else {
            hash.hex(&format!("{secret}:{nonce}:{request}"))
        };
        let mut text = format!(
            "Digest username={}, realm={}, nonce={}, uri={}, response=\"{response}\", algorithm={}",
            quoted(user),
            quoted(realm),
            quoted(nonce),
            quoted(target),
            hash.name()
        );
        if self.has_qop {
            let cnonce = quoted(client_nonce);
            write!(text, ", qop=auth, nc={count:08x}, cnonce={cnonce}")
                .expect("a string takes everything");
        }
        if let Some(opaque) = &self.opaque {
            write!(text, ", opaque={}", quoted(opaque)).expect("a string takes everything");
        }
        text
    }
}

impl Hash {
    const fn name(self) -> &'static str {
        match self {
            Self::Md5 => "MD5",
            Self::Sha256 => "SHA-256",
        }
    }

    fn hex(self, text: &str) -> String {
        match self {
            Self::Md5 => super::hex(&md5::digest(text.as_bytes())),
            Self::Sha256 => super::hex(super::sha256(text.as_bytes()).as_ref()),
        }
    }
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

/// `name=value` or `name="va\"lue"`, between commas.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim_matches([',', ' ', '\t']).to_owned();
        let after = after.trim_start();
        let value;
        if let Some(inside) = after.strip_prefix('"') {
            (value, rest) = read_quoted(inside);
        } else {
            let end = after.find(',').unwrap_or(after.len());
            value = after[..end].trim().to_owned();
            rest = &after[end..];
        }
        found.push((name, value));
    }
    found
}

/// The text up to the closing quote, and what follows it.
fn read_quoted(inside: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &inside[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            c => value.push(c),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [&str; 2] = [
        r#"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#,
        r#"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#,
    ];

    fn response(field: &str) -> String {
        let challenge = Challenge::read(field).unwrap();
        let answer = challenge.answer(&Proof {
            user: "Mufasa",
            password: "Circle of Life",
            target: "/dir/index.html",
            count: 1,
            client_nonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
        });
        let (_, rest) = answer.split_once("response=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    #[test]
    fn the_standard_s_example_in_both_hashes() {
        assert_eq!(response(FIELDS[0]), "8ca523f5e9506fed4657c9700eebdbec");
        assert_eq!(
            response(FIELDS[1]),
            "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"
        );
        let both = FIELDS.map(str::to_owned);
        assert_eq!(Challenge::best(&both).unwrap().hash, Hash::Sha256);
    }

    #[test]
    fn what_cannot_be_met_is_no_challenge() {
        for field in [
            "Basic realm=\"x\"",
            "Digest realm=\"x\", nonce=\"y\", algorithm=SHA-512-256",
            "Digest realm=\"x\", nonce=\"y\", qop=auth-int",
            "Digest realm=\"x\"",
            "Digest",
            "",
        ] {
            assert_eq!(Challenge::read(field), None, "{field}");
        }
        let odd = Challenge::read(r#"DIGEST nonce="a\"b,c", realm=bare , stale=TRUE"#).unwrap();
        assert_eq!(
            (&*odd.nonce, &*odd.realm, odd.is_stale),
            ("a\"b,c", "bare", true)
        );
    }
}
