//! The sentences of the console, in each language.
//!
//! One file a language. What stands on a page is a field of [`Words`], and what
//! can be [wrong](Wrong) is a kind with a sentence, so that a sentence missing in
//! one language does not compile; what is looked up by a code (how a crawl
//! stands, what a site waits for) is in tables, and a test holds that all
//! languages have the same codes.

mod en;
mod ko;
mod ko_why;

use std::borrow::Cow;

use geomi_engine::explain::{Advice, Cause, Held, NextStep, Reason, RobotsStanding, SiteReport};
use http::{HeaderMap, header};

use crate::http::guard::cookie;
use crate::wrong::Wrong;

/// The cookie of the language somebody chose.
pub(crate) const COOKIE: &str = "geomi_language";

/// A language of the console.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    English,
    Korean,
}

impl Language {
    /// All of them.
    pub(crate) const ALL: [Self; 2] = [Self::English, Self::Korean];

    /// Its code in HTML and in cookies.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Korean => "ko",
        }
    }

    /// Its own name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Korean => "한국어",
        }
    }

    /// The language with this code.
    pub(crate) fn from_code(code: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|language| language.code() == code)
    }

    /// Its sentences.
    pub(crate) const fn words(self) -> &'static Words {
        match self {
            Self::English => &en::WORDS,
            Self::Korean => &ko::WORDS,
        }
    }

    /// The language somebody chose, or the first one their browser asks for
    /// that we have.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        if let Some(chosen) = cookie(headers, COOKIE).and_then(Self::from_code) {
            return chosen;
        }
        let asked = headers.get(header::ACCEPT_LANGUAGE);
        let asked = asked.and_then(|asked| asked.to_str().ok()).unwrap_or("");
        let mut best = (Self::English, 0.0);
        for one in asked.split(',') {
            let (tag, weight) = one.split_once(";q=").unwrap_or((one, "1"));
            let code = tag.trim().split('-').next().unwrap_or("");
            // A weight that cannot be read counts for nothing.
            let weight = weight.trim().parse().unwrap_or(0.0);
            if let Some(language) = Self::from_code(code)
                && weight > best.1
            {
                best = (language, weight);
            }
        }
        best.0
    }
}

/// Words by a code.
pub(crate) type Table = &'static [(&'static str, &'static str)];

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident,)+ ; $($(#[$table_doc:meta])* $table:ident,)+) => {
        /// Everything the console says, in one language.
        #[derive(Debug)]
        pub(crate) struct Words {
            $($(#[$doc])* pub(crate) $name: &'static str,)+
            $($(#[$table_doc])* pub(crate) $table: Table,)+
            /// What is wrong, in a sentence.
            tell: fn(&Wrong) -> Cow<'static, str>,
            /// Why a crawl stands as it does, in a sentence.
            reason: fn(&Reason) -> String,
            /// What to do about it.
            advice: fn(Advice) -> String,
            /// What a site waits for, in a sentence.
            held: fn(&Held) -> String,
            /// What is known of a robots.txt, in a sentence.
            robots: fn(&RobotsStanding) -> String,
            /// What happens to a URL next, in a sentence.
            next: fn(&NextStep) -> String,
        }

        #[cfg(test)]
        impl Words {
            fn sentences(&self) -> Vec<(&'static str, &'static str)> {
                vec![$((stringify!($name), self.$name)),+]
            }

            fn tables(&self) -> Vec<(&'static str, Table)> {
                vec![$((stringify!($table), self.$table)),+]
            }
        }
    };
}

words! {
    skip_to_content, menu, crawls, workers, settings, log_out, log_in, theme, theme_light, theme_dark, theme_system,
    // Log-in and first admin.
    log_in_title, log_in_lead, user_id, password, first_title, first_lead, your_name, make_admin, password_rule,
    // Crawls.
    crawls_lead, name, state, saved, queued, failed, redirected, refused, pages_per_s, elapsed, days_and_clock, started, none_yet_title, none_yet_text,
    start_title, start_lead, root_url, root_url_help, crawl_name, crawl_name_help, scope, depth, max_pages, contact, contact_help,
    advanced, toml, toml_help, equivalent, start, start_disabled, no_limit, older, newer, in_all,
    // A crawl.
    live, queue, sites, log, pages, report, config, files, pause, resume, stop, start_again, started_runs, started_ended, started_nothing, connection_lost, last_update, may_be_old, why_stands, confirm_stop,
    workers_connected, in_flight, sites_ready, sites_waiting, sites_backing_off, done_share, left, transferred, links, seeds,
    rate_over_time, queue_over_time, by_class, by_cause, by_type, by_refusal, live_log, time, url, code, content_type, size, rtt, skipped, nothing_yet, not_running, refresh_hint, kept_fresh, by_rounds, by_table, requests_a_day, next_due,
    // Queue.
    queue_lead, waits_for, sites_count, urls_count, until, example, why, next_request, add_seeds, add_seeds_help, seeds_taken, no_samples, add, exclude, exclude_help, preview, preview_result, preview_queued, exclude_now, ask_url, ask_url_help, ask,
    // Sites.
    site, site_word, rhythm, delay, crawl_delay, requests, failures, address, order_by, filter, filter_url, at_rest_sites, live_sites, override_site, override_lead, leave_out, yes, no,
    // Log and pages.
    title, any_state, show, looked_on, stored,
    // Captures.
    content, captures, captures_lead, no_captures, no_captures_text, near_captures, compare, earlier, later, unchanged, text, download, diff, no_difference, cut, gone, new, lines_same,
    // Changes.
    changes, changes_lead, no_changes, no_changes_text, change_week, change_days, change_sites, changed, change_share, most_changes, nothing_compared, not_compared, legend_none, legend_most, gone_of_first, sites_of_first,
    freshness, mean_age, freshness_lead, curve_summary, estimated_of, in_numbers, predicted_title, predicted_lead, predicted, seen, visits,
    // Schedule.
    schedule, schedule_lead, hours_of_week, no_plan, no_plan_text, make_plan, make_plan_again, plan_under_way, plan_faults, visits_a_week, free_hours, busiest_hour, planned_visits, leave_free, schedule_legend, schedule_paint, save_hours, paint_run, days_label, from_hour, to_hour, close_hours, open_hours, no_visits_hour, more, follow_title, follow_lead, follow_plan,
    // Config.
    config_lead, change, change_help, settings_label,
    // Report.
    report_lead, report_empty, no_visits_stored, no_rows, no_rows_text, reach_until, reach_nothing, section, rows_of, and_more,
    // Workers.
    workers_lead, number, process, machine, this_machine, crawl, no_workers, join_hint,
    // Settings.
    users, users_lead, role, since, remove, add_user, tokens, tokens_lead, token_name, token_scope, make_token, token_once, audit, audit_lead, who, from_where, did, to, result, ok, refused_word,
    // Problems.
    problem_title, back, path, bytes,
    ;
    /// How a crawl stands.
    states,
    /// Rules by which URLs are not requested.
    refusals,
    /// What is done, in the audit log.
    actions,
    /// How far from a seed.
    scopes,
    /// What a site waits for.
    holds,
    /// Network states of a visit.
    network,
    /// Classes of answers.
    classes,
    /// Days of the week.
    weekdays,
    /// What a role may do.
    roles,
    /// Sections of a report.
    sections,
    /// Columns and facts of a report.
    columns,
    /// Values of facts of a report that are words.
    values,
    /// Status codes of problems.
    statuses,
    /// Orders of sites.
    orders,
}

/// A host name of a stranger's choice, cut to what a sentence can hold.
fn shown_host(host: &str) -> String {
    host.chars().take(100).collect()
}

impl Words {
    /// What is wrong, in a sentence.
    pub(crate) fn tell(&self, wrong: &Wrong) -> Cow<'static, str> {
        (self.tell)(wrong)
    }

    /// Why a crawl stands as it does, and what to do about it. A process of an older
    /// version tells it in English only.
    pub(crate) fn cause(&self, cause: &Cause) -> (String, Option<String>) {
        match &cause.reason {
            None => (cause.text.clone(), cause.advice.clone()),
            Some(reason) => ((self.reason)(reason), reason.advice().map(self.advice)),
        }
    }

    /// What is known of a robots.txt.
    pub(crate) fn robots(&self, site: &SiteReport) -> String {
        let standing = site.robots_standing.as_ref();
        standing.map_or_else(|| site.robots.clone(), self.robots)
    }

    /// What happens to a URL next.
    pub(crate) fn next(&self, step: &NextStep) -> String {
        (self.next)(step)
    }

    /// What a site waits for.
    pub(crate) fn held(&self, held: Option<&Held>, english: &str) -> String {
        held.map_or_else(|| english.to_owned(), self.held)
    }
}

/// A sentence with what belongs into its gaps, which are names in braces.
pub(crate) fn fill(sentence: &str, gaps: &[(&str, &str)]) -> String {
    gaps.iter()
        .fold(sentence.to_owned(), |sentence, (name, value)| {
            sentence.replace(&format!("{{{name}}}"), value)
        })
}

/// The word for a code, or the code itself where there is none.
pub(crate) fn look_up(table: Table, code: &str) -> String {
    let found = table.iter().find(|(known, _)| *known == code);
    found.map_or_else(
        || code.replace(['_', '-'], " "),
        |(_, word)| (*word).to_owned(),
    )
}

/// A sentence in another language, or the sentence itself where there is none.
pub(crate) fn translate(table: Table, sentence: &str) -> &str {
    let found = table.iter().find(|(known, _)| *known == sentence);
    found.map_or(sentence, |(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::Role;

    #[test]
    fn every_language_says_everything() {
        for language in Language::ALL {
            let words = language.words();
            for (name, sentence) in words.sentences() {
                assert!(!sentence.trim().is_empty(), "{name} in {}", language.name());
            }
        }
    }

    #[test]
    fn every_language_knows_the_same_codes() {
        let codes = |table: Table| -> Vec<&str> { table.iter().map(|(code, _)| *code).collect() };
        let english = Language::English.words().tables();
        for language in Language::ALL {
            for ((name, ours), (_, theirs)) in english.iter().zip(language.words().tables()) {
                assert_eq!(codes(ours), codes(theirs), "{name} in {}", language.name());
            }
        }
    }

    #[test]
    fn every_rule_of_refusal_has_its_words() {
        let known = Language::English.words().refusals;
        for name in geomi_engine::refusal_names() {
            assert!(known.iter().any(|(code, _)| *code == name), "{name}");
        }
        assert_eq!(known.len(), geomi_engine::refusal_names().count());
    }

    #[test]
    fn every_language_has_the_same_gaps() {
        let gaps = |sentence: &'static str| {
            let parts = sentence.split('{').skip(1);
            let mut names: Vec<&str> = parts.filter_map(|part| part.split('}').next()).collect();
            names.sort_unstable();
            names
        };
        let english = Language::English.words().sentences();
        for language in Language::ALL {
            let ours = language.words().sentences();
            for ((name, sentence), (_, other)) in ours.into_iter().zip(&english) {
                assert_eq!(gaps(sentence), gaps(other), "{name} in {}", language.name());
            }
        }
    }

    #[test]
    fn korean_is_korean() {
        let is_hangul = |c: char| ('가'..='힣').contains(&c);
        let english = Language::English.words().sentences();
        for ((name, sentence), (_, other)) in Language::Korean
            .words()
            .sentences()
            .into_iter()
            .zip(english)
        {
            let is_name = sentence == other;
            assert!(
                is_name || sentence.contains(is_hangul),
                "{name}: {sentence}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_names_and_numbers() {
        let role = Wrong::Role {
            needed: Role::Operator,
            yours: Role::Viewer,
        };
        let wait = Wrong::TooManyLogIns { minutes: 15 };
        let english = Language::English.words();
        assert_eq!(
            english.tell(&role),
            "this needs the role operator, and yours is viewer: ask an admin"
        );
        assert_eq!(
            english.tell(&wait),
            "too many failed log-ins: wait 15 minutes"
        );
        let korean = Language::Korean.words();
        let told = korean.tell(&role);
        assert!(
            told.contains("운영자 역할") && told.contains("조회자입니다"),
            "{told}"
        );
        assert!(korean.tell(&wait).contains("15분 뒤"), "{wait:?}");
    }

    #[test]
    fn the_language_is_the_one_asked_for() {
        let of = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_LANGUAGE, text.parse().unwrap());
            Language::of(&headers)
        };
        assert_eq!(of("ko-KR,ko;q=0.9,en;q=0.8"), Language::Korean);
        assert_eq!(of("fr,en;q=0.5,ko;q=0.4"), Language::English);
        assert_eq!(of("*"), Language::English);
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, "a=b; geomi_language=ko".parse().unwrap());
        assert_eq!(Language::of(&headers), Language::Korean);
    }
}
