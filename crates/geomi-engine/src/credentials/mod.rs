//! Credentials: names and passwords for single sites, which never leak.
//!
//! They are sent only to the sites that a table names, by HTTPS unless the table says
//! otherwise. Every request looks them up anew, redirects included. They are never
//! printed, and the archive keeps requests without them. Digest needs a challenge
//! first: the page that brings one is tried again after the site's delay, and later
//! requests answer the same challenge until the server rejects it.

mod digest;
mod md5;

use std::fmt;

use geomi_model::Timestamp;
use geomi_url::{CrawlUrl, SiteHash, SiteTables};
use hashbrown::HashMap;

use crate::{EngineConfig, EngineError};
use digest::{Challenge, Proof};

/// What proves who we are.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// A name and a password, as good as in the clear (RFC 7617).
    Basic(String, String),
    /// A token (RFC 6750).
    Bearer(String),
    /// A name and a password that is not sent (RFC 7616).
    Digest(String, String),
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Basic(..) => "Basic",
            Self::Bearer(_) => "Bearer",
            Self::Digest(..) => "Digest",
        };
        write!(f, "{kind}(hidden)")
    }
}

impl Credentials {
    /// Reads `basic:USER:PASSWORD`, `bearer:TOKEN` or `digest:USER:PASSWORD`.
    /// The error does not repeat the secret.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const FORMS: &str = "write basic:USER:PASSWORD, bearer:TOKEN, digest:USER:PASSWORD, or env:NAME of a variable that holds one of these";
        if text.chars().any(char::is_control) {
            return Err("credentials cannot hold control characters");
        }
        let pair = |rest: &str| {
            let (user, password) = rest.split_once(':')?;
            (!user.is_empty()).then(|| (user.to_owned(), password.to_owned()))
        };
        match text.split_once(':') {
            Some(("basic", rest)) => pair(rest).map(|(user, password)| Self::Basic(user, password)),
            Some(("digest", rest)) => {
                pair(rest).map(|(user, password)| Self::Digest(user, password))
            }
            Some(("bearer", token)) if !token.is_empty() => Some(Self::Bearer(token.to_owned())),
            _ => None,
        }
        .ok_or(FORMS)
    }
}

/// Sites whose challenges are remembered.
const CHALLENGES_MAX: usize = 4_096;

/// The credentials of a crawl, and what servers asked for them.
#[derive(Debug, Default)]
pub(crate) struct Keyring {
    names: Option<SiteTables>,
    tables: Vec<(Option<Credentials>, bool)>,
    challenges: HashMap<SiteHash, (Challenge, u32)>,
}

impl Keyring {
    pub(crate) fn new(config: &EngineConfig) -> Result<Self, EngineError> {
        if config.sites.iter().all(|table| table.credentials.is_none()) {
            return Ok(Self::default());
        }
        let names = config.sites.iter().map(|table| table.names.as_slice());
        let names = SiteTables::new(names).map_err(|wrong| {
            EngineError::Scope(wrong.into_iter().map(|(_, error)| error.into()).collect())
        })?;
        let tables = config.sites.iter();
        Ok(Self {
            names: Some(names),
            tables: tables
                .map(|table| (table.credentials.clone(), table.credentials_over_http))
                .collect(),
            challenges: HashMap::new(),
        })
    }

    /// The value of `Authorization` for a request, where the site has credentials
    /// and they may travel this way.
    pub(crate) fn authorization(&mut self, url: &CrawlUrl, now: Timestamp) -> Option<String> {
        let credentials = self.of(url)?;
        match credentials.clone() {
            Credentials::Basic(user, password) => {
                let pair = format!("{user}:{password}");
                Some(format!(
                    "Basic {}",
                    data_encoding::BASE64.encode(pair.as_bytes())
                ))
            }
            Credentials::Bearer(token) => Some(format!("Bearer {token}")),
            Credentials::Digest(user, password) => {
                let (challenge, count) = self.challenges.get_mut(&url.site_hash())?;
                *count += 1;
                // It need not be secret, only new.
                let seed = format!("{}:{count}:{}", challenge.nonce, now.micros());
                let client_nonce = hex(&sha256(seed.as_bytes()).as_ref()[..16]);
                Some(challenge.answer(&Proof {
                    user: &user,
                    password: &password,
                    target: url.path_and_query(),
                    count: *count,
                    client_nonce: &client_nonce,
                }))
            }
        }
    }

    /// Hears what a 401 asks for; says whether another request could do better.
    pub(crate) fn challenged(&mut self, url: &CrawlUrl, fields: &[String]) -> bool {
        if !matches!(self.of(url), Some(Credentials::Digest(..))) {
            return false;
        }
        let Some(challenge) = Challenge::best(fields) else {
            return false;
        };
        let before = self.challenges.get(&url.site_hash());
        let is_new_site = before.is_none();
        // A second refusal of a fresh answer means that the password is wrong;
        // with several requests under way the first may be news to others.
        let is_news = before.is_none_or(|(old, count)| {
            *count == 0 || challenge.is_stale || old.nonce != challenge.nonce
        });
        if is_new_site && self.challenges.len() >= CHALLENGES_MAX {
            // Sites that are forgotten send another challenge.
            self.challenges.clear();
        }
        self.challenges.insert(url.site_hash(), (challenge, 0));
        is_news
    }

    fn of(&self, url: &CrawlUrl) -> Option<&Credentials> {
        let indices = self.names.as_ref()?.of(&url.site());
        let mut tables = indices.iter().map(|table| &self.tables[*table]);
        let (credentials, over_http) = tables.find(|(credentials, _)| credentials.is_some())?;
        credentials
            .as_ref()
            .filter(|_| url.is_https() || *over_http)
    }
}

fn sha256(bytes: &[u8]) -> ring::digest::Digest {
    ring::digest::digest(&ring::digest::SHA256, bytes)
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SiteOverride;

    const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);

    fn keyring(over_http: bool, credentials: &str) -> Keyring {
        let config = EngineConfig {
            sites: vec![SiteOverride {
                names: vec!["a.test".to_owned()],
                credentials: Some(Credentials::parse(credentials).unwrap()),
                credentials_over_http: over_http,
                ..SiteOverride::default()
            }],
            ..EngineConfig::default()
        };
        Keyring::new(&config).unwrap()
    }

    #[test]
    fn credentials_go_to_their_site_by_https() {
        let mut safe = keyring(false, "basic:Aladdin:open sesame");
        let mut open = keyring(true, "bearer:T0k");
        let mut sent = |url: &str| {
            let url = CrawlUrl::parse(url).unwrap();
            (safe.authorization(&url, NOW), open.authorization(&url, NOW))
        };
        let basic = Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==".to_owned());
        let bearer = Some("Bearer T0k".to_owned());
        assert_eq!(sent("https://a.test/x"), (basic, bearer.clone()));
        assert_eq!(sent("http://a.test/x"), (None, bearer));
        for other in ["https://a.test:8443/", "https://b.a.test/", "https://test/"] {
            assert_eq!(sent(other), (None, None), "{other}");
        }
    }

    #[test]
    fn secrets_are_not_told() {
        let told = format!("{:?}", keyring(false, "digest:me:hunter2"));
        assert!(!told.contains("hunter2"), "{told}");
        for wrong in [
            "hunter2",
            "basic:hunter2",
            "bearer:",
            "ntlm:me:hunter2",
            "basic::x",
            "basic:a:b\nc",
        ] {
            let error = Credentials::parse(wrong).unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_challenge_is_answered_until_it_is_refused() {
        let mut keys = keyring(false, "digest:me:secret");
        let url = CrawlUrl::parse("https://a.test/x").unwrap();
        assert_eq!(keys.authorization(&url, NOW), None);
        let field = |nonce: &str| {
            vec![format!(
                "Digest realm=\"r\", qop=\"auth\", nonce=\"{nonce}\""
            )]
        };
        assert!(keys.challenged(&url, &field("one")));
        let first = keys.authorization(&url, NOW).unwrap();
        assert!(
            first.contains("nc=00000001") && first.contains("nonce=\"one\""),
            "{first}"
        );
        assert!(
            keys.authorization(&url, NOW)
                .unwrap()
                .contains("nc=00000002")
        );
        assert!(
            !keys.challenged(&url, &field("one")),
            "the password is wrong"
        );
        assert!(
            keys.challenged(&url, &field("two")),
            "a new nonce is worth a try"
        );
    }
}
