//! Which keys hold secrets, and what is shown in their place.
//!
//! The tables of keys mark a key that may hold a secret ([`Key::secret`]). This is
//! the only place that knows what follows from the mark: the value is never shown to
//! anybody but admins of the console, never written to a log, never part of a message
//! or a command line, and the file that holds it is readable by its owner only.
//!
//! [`Key::secret`]: super::keys::Key::secret

use std::borrow::Cow;

use super::keys::{Key, find};
use super::kind::{Raw, Value};
use super::site_table::SiteTable;
use super::written::Written;

/// What is shown in place of a secret.
const HIDDEN: &str = "(hidden)";

/// How much of a key's value is secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Secrecy {
    /// Nothing.
    Open,
    /// The user name and password in a URL.
    Userinfo,
    /// All of it, except `env:NAME`, which says only where the secret is.
    Whole,
}

impl Secrecy {
    /// A text without its secret.
    fn redact(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Open => Cow::Borrowed(text),
            Self::Whole if text.starts_with("env:") => Cow::Borrowed(text),
            Self::Whole => Cow::Borrowed(HIDDEN),
            // A password may hold any character: only the last @ is sure to end it.
            Self::Userinfo => match text.rsplit_once('@') {
                None => Cow::Borrowed(text),
                Some((before, host)) => {
                    let scheme = before.split_once("://").map(|(scheme, _)| scheme);
                    let scheme = scheme.map_or(String::new(), |scheme| format!("{scheme}://"));
                    Cow::Owned(format!("{scheme}{HIDDEN}@{host}"))
                }
            },
        }
    }

    /// A value without its secret.
    pub(super) fn shown(self, value: &Value) -> Value {
        let redact = |text: &String| self.redact(text).into_owned();
        match value {
            Value::Text(text) => Value::Text(redact(text)),
            Value::List(list) => Value::List(list.iter().map(redact).collect()),
            other => other.clone(),
        }
    }
}

impl Key {
    /// Reads a value, or says what is wrong with it; a secret is not repeated.
    pub(super) fn read(&self, raw: &Raw) -> Result<Value, String> {
        self.kind.read(raw).map_err(|what| match self.secrecy {
            Secrecy::Open => what,
            _ => format!("the value is not {}", self.kind.noun()),
        })
    }

    fn holds_secret(&self, value: &Value) -> bool {
        self.secrecy.shown(value) != *value
    }
}

impl Written {
    /// Whether any value is a secret.
    pub(crate) fn has_secrets(&self) -> bool {
        let keys = self.values().any(|(key, value)| key.holds_secret(value));
        let tables = self.sites().iter();
        keys || tables
            .flat_map(SiteTable::iter)
            .any(|(key, value)| key.holds_secret(value))
    }
}

/// `KEY=VALUE` or `KEY+=VALUE` without its secret; `None` where it has none. A key
/// that does not exist may be a misspelled one: its value is hidden too.
pub(crate) fn redact_setting(setting: &str) -> Option<String> {
    let (path, value) = setting.split_once('=')?;
    let name = path.trim_end_matches('+').trim();
    let secrecy = match find(name) {
        Some(key) => key.secrecy,
        None => super::site_keys::SITE_KEYS
            .iter()
            .find(|key| name.ends_with(&format!(".{}", key.name())))
            .map_or(Secrecy::Whole, |key| key.secrecy),
    };
    let shown = match secrecy {
        Secrecy::Open => return None,
        // A list in brackets may hold several URLs.
        Secrecy::Userinfo if !value.contains('@') => return None,
        Secrecy::Userinfo if value.trim_start().starts_with('[') => Cow::Borrowed(HIDDEN),
        other => other.redact(value),
    };
    (shown != value).then(|| format!("{path}={shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_shown_without_its_credentials() {
        let shown = |text: &str| Secrecy::Userinfo.redact(text).into_owned();
        assert_eq!(shown("socks5://h.test:1080"), "socks5://h.test:1080");
        assert_eq!(shown("http://me:pw@h.test:80"), "http://(hidden)@h.test:80");
        assert_eq!(shown("http://me:p/@w@h:80"), "http://(hidden)@h:80");
        assert_eq!(shown("me:pw@h:80"), "(hidden)@h:80");
        let whole = |text: &str| Secrecy::Whole.redact(text).into_owned();
        assert_eq!(whole("basic:me:pw"), HIDDEN);
        assert_eq!(whole("env:SHOP"), "env:SHOP");
    }

    #[test]
    fn settings_are_redacted_by_their_key() {
        for (setting, shown) in [
            ("crawl.tries=2", None),
            ("fetch.proxies=http://h:80", None),
            (
                "fetch.proxies=http://me:pw@h:80",
                Some("fetch.proxies=http://(hidden)@h:80"),
            ),
            (
                "fetch.proxies+=[\"http://me:pw@h:80\", \"http://a:b@h:81\"]",
                Some("fetch.proxies+=(hidden)"),
            ),
            (
                "site.a.test.auth=basic:me:pw",
                Some("site.a.test.auth=(hidden)"),
            ),
            ("site.a.test.depth=3", None),
            ("fetch.proxie=http://me:pw@h", Some("fetch.proxie=(hidden)")),
        ] {
            assert_eq!(redact_setting(setting).as_deref(), shown, "{setting}");
        }
    }

    #[test]
    fn a_wrong_secret_is_not_repeated() {
        let auth = super::super::site_keys::SITE_KEYS
            .iter()
            .find(|key| key.name() == "auth")
            .unwrap();
        let wrong = auth.read(&Raw::List(vec!["basic:me:pw".to_owned()]));
        assert_eq!(wrong.unwrap_err(), "the value is not a string");
    }
}
