//! Keys that may change while a crawl runs.

use super::keys::KEYS;
use super::place::{Place, Problems};
use super::written::{Written, unknown};
use super::{Raw, parse_set};

/// What a running crawl can take over from one request to the next. The other
/// keys decide how files, connections and partitions were set up.
pub(crate) const LIVE: &[&str] = &[
    "crawl.connections",
    "crawl.max_pages",
    "crawl.max_bytes",
    "crawl.max_time",
    "crawl.max_failures",
    "crawl.prefer",
    "crawl.tries",
    "crawl.retry_wait",
    "crawl.nofollow",
    "politeness.site_delay",
    "politeness.adaptive_floor",
    "politeness.adaptive_factor",
    "politeness.adaptive_ceiling",
    "politeness.max_wait",
    "politeness.backoff_first",
    "politeness.backoff_max",
    "scope.include",
    "scope.exclude",
    "scope.depth",
    "scope.url_chars_max",
    "scope.requisites",
    "scope.follow_forms",
    "scope.follow_adverts",
    "scope.skip_near_duplicates",
    "scope.skip_mirrors",
    "scope.spam_percent_max",
    "scope.extensions_denied",
    "scope.mimes_wanted",
    "scope.path_repeat_max",
    "scope.segments_max",
    "scope.sites_denied",
    "scope.drop_params",
    "scope.trap_guard",
    "scope.template_budget",
    "scope.section_budget",
    "scope.site_budget",
    "scope.growth_budget",
    "scope.site_pages",
    "scope.last_calls",
    "scope.domain_hosts",
    "scope.ignore_after",
    "refresh.every",
    "refresh.requests_per_day",
    "refresh.site_requests_per_day",
    "refresh.requests_per_hour",
    "refresh.quiet_hours",
    "refresh.longest_gap",
    "output.min_free",
];

/// The same of the keys of a `[[site]]` table, written `site.HOST.KEY`.
const SITE_LIVE: &[&str] = &[
    "site_delay",
    "max_pages",
    "refresh_per_day",
    "depth",
    "include",
    "exclude",
];

/// Takes `KEY=VALUE`, or `KEY+=VALUE` which adds to a list.
pub(crate) fn change_live(settings: &[String], written: &mut Written, problems: &mut Problems) {
    let place = Place::Flag("geomi set".to_owned());
    for text in settings {
        let adds = text.split_once("+=").filter(|(key, _)| !key.contains('='));
        let plain = adds.map(|(key, value)| format!("{key}={value}"));
        let setting = match parse_set(plain.as_ref().unwrap_or(text), place.clone()) {
            Ok(setting) => setting,
            Err(what) => {
                problems.add(&place, what);
                continue;
            }
        };
        if let Some((site, name)) = of_site(&setting.path) {
            if SITE_LIVE.contains(&name) && adds.is_none() {
                written.set_for_site(site, name, &setting.raw, &place, problems);
            } else {
                problems.add(&place, not_of_site(&setting.path));
            }
            continue;
        }
        let Some(key) = KEYS.iter().find(|key| key.path == setting.path) else {
            problems.add(&place, unknown(&setting.path));
            continue;
        };
        if !LIVE.contains(&key.path) {
            let what = format!(
                "{} cannot change while a crawl runs: stop it, and run it again with --set {text}",
                key.path
            );
            problems.add(&place, what);
            continue;
        }
        match (adds, key.default == Some("[]"), &setting.raw) {
            (None, ..) => written.set(key.path, &setting.raw, place.clone(), problems),
            (Some(_), true, Raw::List(words)) => written.extend(key.path, words.clone()),
            (Some(_), true, Raw::Typed(word)) => written.extend(key.path, [word.clone()]),
            (Some(_), ..) => {
                let what = format!("{} is no list: write {}=VALUE", key.path, key.path);
                problems.add(&place, what);
            }
        }
    }
}

/// The site and the key of `site.HOST.KEY`.
fn of_site(path: &str) -> Option<(&str, &str)> {
    let (site, name) = path.strip_prefix("site.")?.rsplit_once('.')?;
    (!site.is_empty()).then_some((site, name))
}

fn not_of_site(path: &str) -> String {
    let keys = SITE_LIVE.join(", ");
    format!(
        "{path} cannot change while a crawl runs: of one site {keys} can, as site.HOST.KEY=VALUE"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::resolve;

    fn change(settings: &[&str]) -> (geomi_crawler::CrawlConfig, Problems) {
        let mut problems = Problems::default();
        let mut written = Written::defaults();
        let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
        change_live(&settings, &mut written, &mut problems);
        (resolve(&written, Vec::new(), &mut problems), problems)
    }

    #[test]
    fn every_live_key_is_a_key() {
        for path in LIVE {
            assert!(KEYS.iter().any(|key| key.path == *path), "{path}");
        }
    }

    #[test]
    fn values_are_replaced_and_lists_added_to() {
        let (meant, problems) = change(&[
            "crawl.tries=2",
            "scope.exclude=*a*",
            "scope.exclude+=*b=1*",
            "scope.exclude+=[\"*c*\"]",
        ]);
        assert!(problems.into_result().is_ok());
        assert_eq!(meant.engine.tries, 2);
        assert_eq!(meant.engine.scope.exclude, ["*a*", "*b=1*", "*c*"]);
    }

    #[test]
    fn one_site_can_be_changed_alone() {
        let (meant, problems) = change(&[
            "site.a.example.max_pages=5",
            "site.b.example:8080.site_delay=7s",
            "site.a.example.max_pages=6",
        ]);
        assert!(problems.into_result().is_ok());
        let named: Vec<(&[String], Option<u64>)> = meant
            .engine
            .sites
            .iter()
            .map(|site| (&*site.names, site.pages_max))
            .collect();
        let (a, b) = (["a.example".to_owned()], ["b.example:8080".to_owned()]);
        assert_eq!(named, [(&b[..], None), (&a[..], Some(6))]);
        let (_, problems) = change(&["site.a.example.auth=basic:a:b", "site.a.example.depth=x"]);
        assert_eq!(problems.iter().count(), 2);
    }

    #[test]
    fn everything_wrong_is_told_at_once() {
        let (_, problems) = change(&[
            "cluster.partitions=2",
            "crawl.tires=2",
            "crawl.tries+=1",
            "politeness.site_delay=5",
            "nonsense",
        ]);
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 5, "{told:?}");
        assert!(told[0].contains("cannot change while"), "{told:?}");
        assert!(told[1].contains("crawl.tries"), "{told:?}");
        assert!(told[2].contains("no list"), "{told:?}");
        assert!(told[3].contains("5s"), "{told:?}");
    }
}
