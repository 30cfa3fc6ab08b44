//! Every rule and every refusal of the scope, by example.

use geomi_scope::{Candidate, Refusal, Rule, Scope, ScopeConfig, ScopeKind, SiteScope, Verdict};
use geomi_url::CrawlUrl;
use proptest::prelude::*;

fn url(text: &str) -> CrawlUrl {
    CrawlUrl::parse(text).expect("tests use good URLs")
}

fn scope(change: impl FnOnce(&mut ScopeConfig)) -> Scope {
    let mut config = ScopeConfig::default();
    change(&mut config);
    Scope::new(config).expect("tests of verdicts use good configurations")
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

/// A link one step from the seed.
fn link(scope: &Scope, seed: &str, link: &str) -> Verdict {
    let (url, seed) = (url(link), url(seed));
    scope.judge(&Candidate {
        url: &url,
        seed: &seed,
        depth: 1,
        is_seed: false,
        is_redirect: false,
    })
}

fn seed(scope: &Scope, text: &str) -> Verdict {
    let url = url(text);
    scope.judge(&Candidate {
        url: &url,
        seed: &url,
        depth: 0,
        is_seed: true,
        is_redirect: false,
    })
}

/// The redirect of a seed, its target made the effective seed.
fn seed_redirect(scope: &Scope, target: &str) -> Verdict {
    let url = url(target);
    scope.judge(&Candidate {
        url: &url,
        seed: &url,
        depth: 0,
        is_seed: false,
        is_redirect: true,
    })
}

fn accept(rule: Rule) -> Verdict {
    Verdict::Accept { rule }
}

const OFF: Verdict = Verdict::Refuse(Refusal::OffScope);

#[test]
fn page_takes_the_seeds_only() {
    let page = scope(|config| config.kind = ScopeKind::Page);
    assert_eq!(seed(&page, "http://e.kr/a"), accept(Rule::Seed));
    assert_eq!(link(&page, "http://e.kr/a", "http://e.kr/a.css"), OFF);
    assert_eq!(
        seed_redirect(&page, "https://www.e.kr/a"),
        accept(Rule::SeedRedirect)
    );
}

#[test]
fn path_takes_the_directory_of_the_seed() {
    let path = scope(|config| config.kind = ScopeKind::Path);
    let seed = "http://e.kr/docs/intro.html?x=/y/";
    for inside in ["http://e.kr/docs/", "https://e.kr/docs/a/b?c"] {
        assert_eq!(link(&path, seed, inside), accept(Rule::Path), "{inside}");
    }
    for outside in [
        "http://e.kr/docs",
        "http://e.kr/",
        "http://e.kr/docs2/",
        "http://e.kr:81/docs/",
        "http://w.e.kr/docs/",
    ] {
        assert_eq!(link(&path, seed, outside), OFF, "{outside}");
    }
    assert_eq!(
        link(&path, "http://e.kr", "http://e.kr/any/where"),
        accept(Rule::Path)
    );
}

#[test]
fn host_takes_the_site_of_the_seed() {
    let host = scope(|_| {});
    for inside in ["http://e.kr/", "https://e.kr/x", "http://e.kr:443/x"] {
        assert_eq!(link(&host, "http://e.kr/a", inside), accept(Rule::Host));
    }
    for outside in ["http://www.e.kr/", "http://e.kr:8080/", "http://e.com/"] {
        assert_eq!(link(&host, "http://e.kr/a", outside), OFF, "{outside}");
    }
}

#[test]
fn domain_takes_every_host_of_the_registrable_domain() {
    let domain = scope(|config| config.kind = ScopeKind::Domain);
    let seed = "http://www.e.co.kr/";
    for inside in ["http://e.co.kr/", "https://a.b.e.co.kr:81/x"] {
        assert_eq!(link(&domain, seed, inside), accept(Rule::Domain));
    }
    for outside in ["http://f.co.kr/", "http://we.co.kr/", "http://e.kr/"] {
        assert_eq!(link(&domain, seed, outside), OFF, "{outside}");
    }
}

#[test]
fn any_takes_everything() {
    let any = scope(|config| config.kind = ScopeKind::Any);
    assert_eq!(
        link(&any, "http://e.kr/", "http://[::1]:9/x"),
        accept(Rule::Any)
    );
}

#[test]
fn party_takes_the_site_and_proposes_the_rest_as_seeds() {
    let party = scope(|config| {
        config.kind = ScopeKind::Party;
        config.depth_max = Some(0);
        config.include = strings(&["http://e.kr/*"]);
        config.exclude = strings(&["*/ads/*"]);
        config.sites_denied = strings(&["bad.kr"]);
    });
    let home = "http://e.kr/";
    assert_eq!(
        link(&party, home, "http://e.kr/x"),
        Verdict::Refuse(Refusal::TooDeep {
            depth: 1,
            depth_max: 0
        })
    );
    // Depth and include speak of this party; another one starts anew.
    assert_eq!(link(&party, home, "http://f.kr/x"), Verdict::CandidateSeed);
    assert_eq!(
        link(&party, home, "http://f.kr/ads/1"),
        Verdict::Refuse(Refusal::Excluded { pattern: 0 })
    );
    assert_eq!(
        link(&party, home, "http://bad.kr/"),
        Verdict::Refuse(Refusal::SiteDenied)
    );
    let open = scope(|config| config.kind = ScopeKind::Party);
    assert_eq!(link(&open, home, "http://e.kr/x"), accept(Rule::Party));
}

#[test]
fn a_redirected_seed_widens_the_scope_to_where_it_leads() {
    let host = scope(|config| config.include = strings(&["*/articles/*"]));
    let target = "https://www.e.kr/";
    assert_eq!(seed_redirect(&host, target), accept(Rule::SeedRedirect));
    assert_eq!(
        link(&host, target, "https://www.e.kr/articles/1"),
        accept(Rule::Include(0))
    );
    // The redirect of a page that is no seed is judged like any link.
    let (from, to) = (url("http://e.kr/"), url("http://f.kr/"));
    let redirect = Candidate {
        url: &to,
        seed: &from,
        depth: 1,
        is_seed: false,
        is_redirect: true,
    };
    assert_eq!(host.judge(&redirect), OFF);
}

#[test]
fn depth_is_counted_from_the_seed() {
    let shallow = scope(|config| config.depth_max = Some(1));
    let seed = url("http://e.kr/");
    let at = |depth| {
        shallow.judge(&Candidate {
            url: &seed,
            seed: &seed,
            depth,
            is_seed: false,
            is_redirect: false,
        })
    };
    assert_eq!(at(1), accept(Rule::Host));
    assert_eq!(
        at(2),
        Verdict::Refuse(Refusal::TooDeep {
            depth: 2,
            depth_max: 1
        })
    );
}

#[test]
fn length_holds_for_seeds_too() {
    let short = scope(|config| {
        config.url_chars_max = 20;
        config.seed_chars_max = 15;
    });
    let home = "http://e.kr/";
    assert_eq!(link(&short, home, "http://e.kr/45678901"), {
        accept(Rule::Host)
    });
    assert_eq!(
        link(&short, home, "http://e.kr/456789012"),
        Verdict::Refuse(Refusal::TooLong {
            chars: 21,
            chars_max: 20
        })
    );
    assert_eq!(
        seed(&short, "http://e.kr/4567"),
        Verdict::Refuse(Refusal::SeedTooLong {
            chars: 16,
            chars_max: 15
        })
    );
}

#[test]
fn exclude_wins_over_include_and_over_seeds() {
    let both = scope(|config| {
        config.include = strings(&["*/news/*", "re:/\\d+$"]);
        config.exclude = strings(&["*.zip", "*/news/old*"]);
    });
    let home = "http://e.kr/";
    let judge = |text| link(&both, home, text);
    assert_eq!(judge("http://e.kr/news/a"), accept(Rule::Include(0)));
    assert_eq!(judge("http://e.kr/12"), accept(Rule::Include(1)));
    assert_eq!(
        judge("http://e.kr/x"),
        Verdict::Refuse(Refusal::NotIncluded)
    );
    assert_eq!(judge("http://f.kr/news/a"), OFF);
    let excluded = Verdict::Refuse(Refusal::Excluded { pattern: 1 });
    assert_eq!(judge("http://e.kr/news/old/1"), excluded);
    assert_eq!(seed(&both, "http://e.kr/x"), accept(Rule::Seed));
    assert_eq!(seed(&both, "http://e.kr/news/old"), excluded);
}

#[test]
fn traps_are_refused_unless_typed() {
    let small = scope(|config| {
        config.path_repeat_max = Some(2);
        config.segments_max = Some(7);
    });
    let loops = "http://e.kr/a/b/a/b/a/b/";
    let repeated = Verdict::Refuse(Refusal::RepeatedSegments { repeat_max: 2 });
    assert_eq!(link(&small, "http://e.kr/", loops), repeated);
    assert_eq!(seed(&small, loops), accept(Rule::Seed));
    assert_eq!(
        link(&small, "http://e.kr/", "http://e.kr/1/2/3/4/5/6/7/8"),
        Verdict::Refuse(Refusal::TooManySegments { segments_max: 7 })
    );
    let off = scope(|config| {
        config.path_repeat_max = None;
        config.segments_max = None;
    });
    let long = format!("http://e.kr{}", "/a".repeat(900));
    assert_eq!(link(&off, "http://e.kr/", &long), accept(Rule::Host));
}

#[test]
fn denied_extensions_are_those_of_the_file_name() {
    let no_zip = scope(|config| config.extensions_denied = strings(&["zip", ".ISO"]));
    let judge = |text| link(&no_zip, "http://e.kr/", text);
    for denied in [
        "http://e.kr/a.zip",
        "http://e.kr/x/B.Zip?y",
        "http://e.kr/a.iso",
    ] {
        assert_eq!(
            judge(denied),
            Verdict::Refuse(Refusal::Extension),
            "{denied}"
        );
    }
    for wanted in [
        "http://e.kr/zip",
        "http://e.kr/a.zip/",
        "http://e.kr/?f=a.zip",
    ] {
        assert_eq!(judge(wanted), accept(Rule::Host), "{wanted}");
    }
}

#[test]
fn denied_sites_are_denied_to_seeds() {
    let deny = scope(|config| config.sites_denied = strings(&["*.bad.kr", "worse.kr"]));
    let denied = Verdict::Refuse(Refusal::SiteDenied);
    assert_eq!(seed(&deny, "http://www.bad.kr/"), denied);
    assert_eq!(link(&deny, "http://worse.kr/", "http://worse.kr/x"), denied);
    assert_eq!(seed(&deny, "http://good.kr/"), accept(Rule::Seed));
}

#[test]
fn the_first_table_of_a_site_that_has_a_value_wins_it() {
    let scope = scope(|config| {
        config.kind = ScopeKind::Any;
        config.depth_max = Some(0);
        config.exclude = strings(&["*login*"]);
        config.sites = vec![
            SiteScope {
                names: strings(&["a.kr"]),
                exclude: Some(strings(&["*calendar*"])),
                ..SiteScope::default()
            },
            SiteScope {
                names: strings(&["*.kr"]),
                depth_max: Some(3),
                include: Some(strings(&["*.html"])),
                exclude: Some(Vec::new()),
            },
        ];
    });
    let judge = |text| link(&scope, "http://seed.com/", text);
    let excluded = Verdict::Refuse(Refusal::Excluded { pattern: 0 });
    assert_eq!(judge("http://a.kr/calendar.html"), excluded);
    assert_eq!(judge("http://a.kr/login.html"), accept(Rule::Include(0)));
    assert_eq!(judge("http://b.kr/calendar.html"), accept(Rule::Include(0)));
    assert_eq!(
        judge("http://b.kr/x"),
        Verdict::Refuse(Refusal::NotIncluded)
    );
    let too_deep = Refusal::TooDeep {
        depth: 1,
        depth_max: 0,
    };
    assert_eq!(judge("http://b.com/x"), Verdict::Refuse(too_deep));
}

#[test]
fn content_types_are_wanted_by_name_or_class() {
    assert!(scope(|_| {}).wanted_mime("application/zip"));
    let some = scope(|config| config.mimes_wanted = strings(&["Text/HTML", "image/*"]));
    assert!(some.wanted_mime("text/html; charset=euc-kr"));
    assert!(some.wanted_mime(" IMAGE/png "));
    assert!(some.wanted_mime(""), "no type says nothing");
    assert!(!some.wanted_mime("text/plain"));
    assert!(!some.wanted_mime("imagery/png"));
    assert!(scope(|config| config.mimes_wanted = strings(&["*/*"])).wanted_mime("a/b"));
}

#[test]
fn everything_wrong_is_said_at_once() {
    let errors = Scope::new(ScopeConfig {
        include: strings(&["re:[", "/x"]),
        exclude: strings(&[""]),
        url_chars_max: 0,
        extensions_denied: strings(&["tar.gz", "."]),
        mimes_wanted: strings(&["html", "*/html"]),
        sites_denied: strings(&["e.kr/path", "a b"]),
        sites: vec![SiteScope {
            names: strings(&["c d"]),
            include: Some(strings(&["re:("])),
            ..SiteScope::default()
        }],
        ..ScopeConfig::default()
    })
    .expect_err("nothing in it is right");
    let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 12, "{said:#?}");
    for named in [
        "url_chars_max",
        "re:[",
        "\"*/x\"",
        "tar.gz",
        "html",
        "e.kr/path",
        "a b",
        "c d",
        "re:(",
    ] {
        assert!(said.iter().any(|text| text.contains(named)), "{named}");
    }
}

#[test]
fn refusals_have_one_name_each_and_a_sentence() {
    let all = [
        Refusal::TooLong {
            chars: 9,
            chars_max: 8,
        },
        Refusal::SeedTooLong {
            chars: 9,
            chars_max: 8,
        },
        Refusal::OffScope,
        Refusal::TooDeep {
            depth: 9,
            depth_max: 8,
        },
        Refusal::SiteDenied,
        Refusal::TooManySegments { segments_max: 8 },
        Refusal::RepeatedSegments { repeat_max: 8 },
        Refusal::Extension,
        Refusal::Excluded { pattern: 7 },
        Refusal::NotIncluded,
    ];
    let names = all.map(Refusal::as_str);
    assert_eq!(names, Refusal::NAMES);
    for (refusal, name) in all.into_iter().zip(names) {
        let is_kebab = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(name.chars().all(is_kebab), "{name}");
        assert!(refusal.to_string().contains(' '), "{refusal}");
    }
    assert_eq!(all[8].to_string(), "exclude pattern 8 matches it");
    assert_eq!(Rule::Include(0).to_string(), "include pattern 1");
    assert_eq!(Rule::SeedRedirect.to_string(), "seed-redirect");
}

fn any_url() -> impl Strategy<Value = CrawlUrl> {
    "https?://([ab]\\.)?e\\.(kr|co\\.kr)(:81)?(/[ab]{0,2}){1,6}(\\.zip)?(\\?[ab=]{0,4})?"
        .prop_map(|text| url(&text))
}

proptest! {
    #[test]
    fn wider_kinds_take_what_narrower_ones_take(page in any_url(), seed in any_url()) {
        let accepts = |kind| {
            let scope = scope(|config| {
                config.kind = kind;
                config.path_repeat_max = None;
            });
            let candidate = Candidate { url: &page, seed: &seed, depth: 1, is_seed: false, is_redirect: false };
            scope.judge(&candidate).is_accepted()
        };
        let widening = [ScopeKind::Page, ScopeKind::Path, ScopeKind::Host, ScopeKind::Domain, ScopeKind::Any];
        for pair in widening.windows(2) {
            prop_assert!(!accepts(pair[0]) || accepts(pair[1]), "{:?}", pair);
        }
        prop_assert_eq!(accepts(ScopeKind::Party), accepts(ScopeKind::Host));
    }

    #[test]
    fn an_exclude_pattern_never_lets_more_in(page in any_url(), seed in any_url(), glob in "\\*[ab./*]{1,4}") {
        let candidate = Candidate { url: &page, seed: &seed, depth: 1, is_seed: false, is_redirect: false };
        let without = scope(|config| config.kind = ScopeKind::Any).judge(&candidate);
        let with = scope(|config| {
            config.kind = ScopeKind::Any;
            config.exclude = vec![glob];
        })
        .judge(&candidate);
        let excluded = Verdict::Refuse(Refusal::Excluded { pattern: 0 });
        prop_assert!(with == without || with == excluded, "{:?}", with);
    }
}

#[test]
fn a_verdict_is_explained_by_what_the_operator_wrote() {
    let scope = Scope::new(ScopeConfig {
        include: vec!["*/news/*".to_owned()],
        exclude: vec!["*.zip".to_owned(), "re:[?]sid=".to_owned()],
        sites_denied: vec!["other.example".to_owned(), "*.bad.example".to_owned()],
        kind: ScopeKind::Any,
        ..ScopeConfig::default()
    })
    .unwrap();
    let seed = CrawlUrl::parse("http://e.example/").unwrap();
    let explain = |link: &str| {
        let url = seed.join(link).unwrap();
        let candidate = Candidate {
            url: &url,
            seed: &seed,
            depth: 1,
            is_seed: false,
            is_redirect: false,
        };
        scope.explain(&candidate, &scope.judge(&candidate))
    };
    assert_eq!(
        explain("/news/1"),
        "include pattern 1 (\"*/news/*\") matches it"
    );
    assert_eq!(
        explain("/news/1?sid=7"),
        "exclude pattern 2 (\"re:[?]sid=\") matches it"
    );
    assert_eq!(
        explain("http://www.bad.example/news/"),
        "\"*.bad.example\" of the deny list is its site"
    );
    assert_eq!(explain("/about"), "no include pattern matches it");

    let scope = Scope::new(ScopeConfig::default()).unwrap();
    let url = CrawlUrl::parse("http://other.example/x").unwrap();
    let candidate = Candidate {
        url: &url,
        seed: &seed,
        depth: 1,
        is_seed: false,
        is_redirect: false,
    };
    assert_eq!(
        scope.explain(&candidate, &scope.judge(&candidate)),
        "it is outside the scope host of its seed http://e.example/"
    );
}
