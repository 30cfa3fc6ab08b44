//! What operators of the console may set, and which hosts they may crawl.
//!
//! An operator starts and steers crawls, but does not decide for the machine: by
//! default, keys that read files or environment variables, send credentials, choose
//! proxies and addresses, take memory or ignore robots.txt are for admins, and so are hosts on this
//! machine and in private networks. Admins open more of them in `operators.toml` in the
//! folder `console`, which is read for every order:
//!
//! ```toml
//! keys = ["fetch.proxies", "site.robots"]  # keys, or all of a section: "output.*"
//! addresses = ["10.20.0.0/16"]             # private ranges, or "all"
//! hosts = ["intranet", "*.corp.internal"]  # names of internal hosts
//! ```
//!
//! A name that looks public and leads to a private address is refused by the crawl
//! itself when it is looked up.

use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::Path;

use geomi_console::{Forbidden, Order};
use geomi_fetch::{Cidr, is_internal_name, is_public};
use toml_edit::Document;

use crate::config;

/// A longer file holds no rules.
const RULES_BYTES_MAX: u64 = 64 << 10;

/// What admins opened to operators. The default opens nothing.
#[derive(Debug, Default)]
struct Rules {
    keys: Vec<String>,
    addresses: Vec<Cidr>,
    all_addresses: bool,
    hosts: Vec<String>,
}

/// Everything in an order that operators may not set.
pub(super) fn forbidden(rules: &Path, order: &Order<'_>) -> Vec<Forbidden> {
    let (rules, mut found) = match Rules::read(rules) {
        Ok(rules) => (rules, Vec::new()),
        // Nothing is open then; what is open to everybody still is.
        Err(why) => (Rules::default(), vec![Forbidden::Rules(why)]),
    };
    let typed = order.settings.iter().map(|setting| config::key_of(setting));
    let written = order.toml.map(config::keys_in).unwrap_or_default();
    let mut keys: Vec<String> = typed.chain(written).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.retain(|key| config::is_for_admins(key) && !rules.opens_key(key));
    let mut hosts = order.hosts.to_vec();
    hosts.sort_unstable();
    hosts.dedup();
    hosts.retain(|host| !rules.opens_host(host));
    if keys.is_empty() && hosts.is_empty() {
        return Vec::new();
    }
    found.extend(keys.into_iter().map(Forbidden::Key));
    found.extend(hosts.into_iter().map(Forbidden::Host));
    found
}

impl Rules {
    fn read(path: &Path) -> Result<Self, String> {
        match geomi_store::read_small_text(path, RULES_BYTES_MAX) {
            Ok(text) => Self::parse(&text),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let document =
            Document::parse(text).map_err(|error| error.message().replace('\n', "; "))?;
        let mut rules = Self::default();
        for (name, item) in document.as_table() {
            let array = item.as_array();
            let words = array.and_then(|array| array.iter().map(|value| value.as_str()).collect());
            let words: Vec<&str> =
                words.ok_or_else(|| format!("{name} is not a list of strings"))?;
            match name {
                "keys" => rules.keys = words.into_iter().map(str::to_owned).collect(),
                "hosts" => rules.hosts = words.into_iter().map(str::to_ascii_lowercase).collect(),
                "addresses" => {
                    for word in words {
                        rules.open_addresses(word)?;
                    }
                }
                _ => {
                    return Err(format!(
                        "unknown key {name:?}; there are keys, addresses, hosts"
                    ));
                }
            }
        }
        if let Some(key) = rules.keys.iter().find(|key| !config::is_key_pattern(key)) {
            return Err(format!(
                "{key:?} is not a key, nor a section like \"output.*\""
            ));
        }
        Ok(rules)
    }

    fn open_addresses(&mut self, word: &str) -> Result<(), String> {
        if word == "all" {
            self.all_addresses = true;
            return Ok(());
        }
        let range = word.parse().map_err(|error| format!("{error}"))?;
        self.addresses.push(range);
        Ok(())
    }

    fn opens_key(&self, key: &str) -> bool {
        self.keys.iter().any(|open| match open.strip_suffix('*') {
            Some(section) => key.starts_with(section),
            None => open == key,
        })
    }

    /// Whether a host, as it stands in a URL, may be crawled.
    fn opens_host(&self, host: &str) -> bool {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if self.all_addresses {
            return true;
        }
        if let Ok(address) = bare.parse::<IpAddr>() {
            let mut ranges = self.addresses.iter();
            return is_public(address) || ranges.any(|range| range.contains(address));
        }
        let mut names = self.hosts.iter();
        !is_internal_name(bare)
            || names.any(|open| match open.strip_prefix('*') {
                Some(ending) => bare.ends_with(ending),
                None => open == bare,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    fn check(rules: &str, hosts: &[&str], settings: &[&str], toml: &str) -> Vec<Forbidden> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("operators.toml");
        if !rules.is_empty() {
            std::fs::write(&path, rules).unwrap();
        }
        let order = Order {
            hosts: &strings(hosts),
            settings: &strings(settings),
            toml: Some(toml),
        };
        forbidden(&path, &order)
    }

    fn keys(words: &[&str]) -> Vec<Forbidden> {
        strings(words).into_iter().map(Forbidden::Key).collect()
    }

    #[test]
    fn by_default_operators_neither_read_files_nor_send_credentials_nor_look_inside() {
        let settings = [
            "fetch.ca_file=/dev/zero",
            "fetch.allow_private=all",
            "crawl.tries=2",
            "crawl.connections=100000",
            "scope.exclude+=*x*",
        ];
        let toml = "[fetch]\nsignature_key_file = \"/etc/shadow\"\ncontact = \"https://a.example\"\n\
                    [[site]]\nmatch = \"evil.example\"\nauth = \"env:SHOP\"\nsite_delay = \"2s\"\n";
        let found = check("", &["example.com"], &settings, toml);
        let expected = keys(&[
            "crawl.connections",
            "fetch.allow_private",
            "fetch.ca_file",
            "fetch.signature_key_file",
            "site.auth",
        ]);
        assert_eq!(found, expected);
        let inside = [
            "127.0.0.1",
            "[::1]",
            "169.254.169.254",
            "[::ffff:10.0.0.1]",
            "localhost",
            "intranet",
            "db.internal",
        ];
        let found = check("", &inside, &[], "");
        assert_eq!(found.len(), inside.len(), "{found:?}");
        assert_eq!(check("", &["example.com", "8.8.8.8"], &[], ""), []);
    }

    #[test]
    fn admins_open_keys_ranges_and_names() {
        let rules = "keys = [\"fetch.proxies\", \"output.*\"]\naddresses = [\"10.20.0.0/16\"]\n\
                     hosts = [\"intranet\", \"*.corp.internal\"]\n";
        let settings = [
            "fetch.proxies=http://h:1",
            "output.min_free=1GiB",
            "fetch.resolve=a:1.1.1.1",
        ];
        let hosts = [
            "10.20.3.4",
            "10.21.0.1",
            "intranet",
            "a.corp.internal",
            "b.internal",
        ];
        let mut expected = keys(&["fetch.resolve"]);
        expected.extend(["10.21.0.1", "b.internal"].map(|host| Forbidden::Host(host.to_owned())));
        assert_eq!(check(rules, &hosts, &settings, ""), expected);
        let all = "addresses = [\"all\"]";
        assert_eq!(check(all, &["127.0.0.1", "localhost"], &[], ""), []);
    }

    #[test]
    fn rules_with_mistakes_open_nothing() {
        for wrong in [
            "keys = \"fetch.proxies\"",
            "key = []",
            "keys = [\"fetch.proxie\"]",
            "addresses = [\"everything\"]",
            "not toml",
        ] {
            let found = check(wrong, &["127.0.0.1"], &[], "");
            assert!(
                matches!(found[..], [Forbidden::Rules(_), Forbidden::Host(_)]),
                "{found:?}"
            );
            assert_eq!(check(wrong, &["example.com"], &[], ""), []);
        }
    }

    #[test]
    fn a_file_that_cannot_be_parsed_is_left_to_the_crawl_to_refuse() {
        assert_eq!(check("", &[], &[], "[[site\nauth = 1"), []);
    }
}
