//! The table of keys: everything that can be set, in the order of the file.
//!
//! One row is one setting: its path, its default, its kind with the place it
//! goes to, its sentence of documentation, and its flag where it has one. From
//! this table come the parser of geomi.toml, `--set`, the flags of `crawl` with
//! their variables and help, the file `geomi init` writes, the suggestion for a
//! misspelled key and every message about a wrong value.

use std::time::Duration;

use geomi_refresh::upkeep::Weights;

use super::draft::{self, Draft};
use super::keys::{Key, key, unset};
use super::kind::Kind;
use super::presets;
use super::secrecy::Secrecy;

/// Sections with their sentence, in the order of the file.
pub(crate) const SECTIONS: [(&str, &str); 7] = [
    ("crawl", "How much, and in which order."),
    ("politeness", "How gently sites are asked."),
    ("fetch", "How one request is made, and to whom."),
    ("scope", "Which URLs are wanted."),
    (
        "refresh",
        "How copies are kept fresh by `geomi refresh run`.",
    ),
    ("output", "How the crawl directory is written."),
    ("cluster", "How the work is divided."),
];

const SCOPE: &str = "Scope";
const LIMITS: &str = "Limits";
const GENTLY: &str = "Politeness";
const NETWORK: &str = "Network";

const MINUTE: Duration = Duration::from_mins(1);

const ORDERS: &[&str] = &["rtt", "round-robin", "fifo", "priority"];
const PAGE_ORDERS: &[&str] = &["breadth-first", "priority"];
const ROTATIONS: &[&str] = &["site", "request"];
pub(super) const ROBOTS: &[&str] = &["respect", "ignore"];
const ON_OFF: &[&str] = &["on", "off"];
const SITEMAPS: &[&str] = &["robots", "guess", "none"];
const REQUISITES: &[&str] = &["any", "scope"];
const SCOPES: &[&str] = &["page", "path", "host", "domain", "any", "party"];

pub(super) const MAX: u64 = i64::MAX as u64;
pub(super) const MAX_BUDGET: u64 = 1_000_000_000;

/// The table.
pub(crate) const KEYS: &[Key] = &[
    unset(
        "preset",
        "\"robot-2003\"",
        // Its values were set before any other.
        Kind::MaybeChoice(presets::NAMES, |_, _| {}),
        "Values under one name, weaker than all others: robot-2003, archive, search, polite.",
    )
    .flag("", "preset", "NAME", "GEOMI_PRESET"),
    key(
        "crawl.name",
        "\"geomi\"",
        Kind::Text(draft::set_name),
        "First part of the names of WARC files.",
    ),
    key(
        "crawl.connections",
        "256",
        Kind::Count(1, 65_536, |d, n| d.crawl.connections = n as usize),
        "Visits in progress at once, over all sites.",
    )
    .flag(NETWORK, "connections", "N", "GEOMI_CONNECTIONS")
    .letter('c'),
    key(
        "crawl.order",
        "\"rtt\"",
        Kind::Choice(ORDERS, draft::set_order),
        "Which ready site goes first: rtt, round-robin, fifo or priority.",
    )
    .flag(GENTLY, "order", "ORDER", "GEOMI_ORDER"),
    unset(
        "crawl.page_order",
        "\"breadth-first\"",
        Kind::MaybeChoice(PAGE_ORDERS, draft::set_page_order),
        "Which page of a site goes first: breadth-first or priority. Unset: breadth-first with a depth limit or scope party, else priority.",
    ),
    unset(
        "crawl.max_pages",
        "10_000",
        Kind::MaybeCount(1, MAX, |d, n| d.crawl.limits.pages_max = n),
        "Stop when this many pages are saved.",
    )
    .flag(LIMITS, "max-pages", "N", "GEOMI_MAX_PAGES")
    .letter('n'),
    unset(
        "crawl.max_bytes",
        "\"10GiB\"",
        Kind::MaybeSize(|d, n| d.crawl.limits.bytes_max = n),
        "Stop when this much came over the wire.",
    )
    .flag(LIMITS, "max-bytes", "SIZE", "GEOMI_MAX_BYTES"),
    unset(
        "crawl.max_time",
        "\"8h\"",
        Kind::MaybeDuration(|d, span| d.crawl.limits.time_max = span),
        "Stop this long after the run began.",
    )
    .flag(LIMITS, "max-time", "DUR", "GEOMI_MAX_TIME"),
    unset(
        "crawl.max_failures",
        "1_000",
        Kind::MaybeCount(0, MAX, |d, n| d.crawl.limits.failures_max = n),
        "Stop when more pages than this have failed (exit code 3).",
    ),
    key(
        "crawl.seen_memory",
        "\"256MiB\"",
        Kind::Size(8 << 10, |d, n| d.crawl.seen_bytes = n as usize),
        "Memory for telling new URLs from known ones; past it, from disk.",
    ),
    key(
        "crawl.sites_in_memory",
        "10_000",
        Kind::Count(1, MAX, |d, n| {
            d.crawl.engine.frontier.sites_max = n as usize;
        }),
        "Sites at work at once; the others take turns.",
    ),
    key(
        "crawl.prefer",
        "[]",
        Kind::Words(|d| &mut d.crawl.engine.prefer),
        "URLs to visit first: patterns as in scope.include.",
    ),
    key(
        "crawl.weight_depth",
        "10",
        Kind::Count(0, 1_000, |d, n| d.crawl.engine.prioritizer.depth = n as f32),
        "Weight of nearness to the seed, in a URL's priority.",
    ),
    key(
        "crawl.weight_shape",
        "15",
        Kind::Count(0, 1_000, |d, n| d.crawl.engine.prioritizer.shape = n as f32),
        "Weight of a short and plain URL, in a URL's priority.",
    ),
    key(
        "crawl.weight_importance",
        "80",
        Kind::Count(0, 1_000, |d, n| {
            d.crawl.engine.prioritizer.importance = n as f32;
        }),
        "Weight of links from important pages; in a URL's priority; 0 also ends promotion.",
    ),
    key(
        "crawl.weight_kind",
        "10",
        Kind::Count(0, 1_000, |d, n| d.crawl.engine.prioritizer.kind = n as f32),
        "Weight of the kind of link, anchors first, in a URL's priority.",
    ),
    key(
        "crawl.weight_history",
        "5",
        Kind::Count(0, 1_000, |d, n| {
            d.crawl.engine.prioritizer.history = n as f32;
        }),
        "Weight of how well the site has answered, in a URL's priority.",
    ),
    key(
        "crawl.weight_traffic",
        "40",
        Kind::Count(0, 1_000, |d, n| {
            d.crawl.engine.prioritizer.traffic = n as f32;
        }),
        "Weight of the site's traffic, where site.traffic gives it, in a URL's priority.",
    ),
    key(
        "crawl.weight_change",
        "20",
        Kind::Count(0, 1_000, |d, n| {
            d.crawl.engine.prioritizer.change = n as f32;
        }),
        "Weight of how often a sitemap says a page changes, in a URL's priority.",
    ),
    key(
        "crawl.tries",
        "3",
        Kind::Count(1, 255, |d, n| d.crawl.engine.tries = n as u8),
        "Attempts at one URL before it is given up.",
    ),
    key(
        "crawl.retry_wait",
        "\"2s\"",
        Kind::Duration(|d, span| d.crawl.engine.retry_wait = span),
        "Rest of a URL before its second try; doubles for each further one.",
    ),
    key(
        "crawl.nofollow",
        "true",
        Kind::Flag(|d, yes| d.crawl.engine.respect_nofollow = yes),
        "Whether links marked nofollow are left alone.",
    ),
    key(
        "politeness.site_delay",
        "\"adaptive\"",
        Kind::Delay(|d, span| d.delay = span),
        "Rest of a site after each answer: a duration, or adaptive.",
    )
    .flag(GENTLY, "site-delay", "DUR|adaptive", "GEOMI_SITE_DELAY"),
    key(
        "politeness.adaptive_floor",
        "\"1s\"",
        Kind::Duration(|d, span| d.adaptive_floor = span),
        "The least adaptive delay.",
    ),
    key(
        "politeness.adaptive_factor",
        "5",
        Kind::Count(0, 1_000, |d, n| d.adaptive_factor = n as u32),
        "The adaptive delay is this many times the last download time.",
    ),
    key(
        "politeness.adaptive_ceiling",
        "\"30s\"",
        Kind::MaybeDuration(|d, span| d.adaptive_ceiling = span),
        "The greatest adaptive delay; \"none\" for no bound.",
    ),
    key(
        "politeness.site_connections",
        "1",
        Kind::Count(1, 256, |d, n| politeness(d).site_connections = n as usize),
        "Connections to one site at once; several only on private addresses.",
    )
    .flag(GENTLY, "site-connections", "N", "GEOMI_SITE_CONNECTIONS"),
    key(
        "politeness.address_connections",
        "4",
        Kind::Count(1, 4_096, |d, n| {
            politeness(d).address_connections = n as usize;
        }),
        "Connections to one server at once, over all its sites and addresses.",
    ),
    key(
        "politeness.max_wait",
        "\"5m\"",
        Kind::Duration(|d, span| d.crawl.engine.frontier.wait_max = span),
        "A site that wants to be left alone for longer is retired for this run.",
    ),
    key(
        "politeness.backoff_first",
        "\"2s\"",
        Kind::Timeout(|d, span| politeness(d).backoff_first = span),
        "Rest of a site after its first failure; doubles with each further one.",
    ),
    key(
        "politeness.backoff_max",
        "\"1h\"",
        Kind::Timeout(|d, span| politeness(d).backoff_max = span),
        "Back-off grows no further than this.",
    ),
    unset(
        "fetch.contact",
        "\"https://example.org/about-our-crawler\"",
        Kind::MaybeText(draft::set_contact),
        "Where site owners reach you: a URL or mailto:; needed for public hosts.",
    )
    .flag(NETWORK, "contact", "URL", "GEOMI_CONTACT"),
    unset(
        "fetch.user_agent",
        "\"my-crawler/1.0 (+https://example.org/about-our-crawler)\"",
        Kind::MaybeText(draft::set_user_agent),
        "The User-Agent header; made of name, version and contact unless set.",
    )
    .flag(NETWORK, "user-agent", "TEXT", "GEOMI_USER_AGENT"),
    key(
        "fetch.robots",
        "\"respect\"",
        Kind::Choice(ROBOTS, draft::set_robots),
        "Whether robots.txt is obeyed: respect or ignore.",
    )
    .flag(GENTLY, "robots", "respect|ignore", "GEOMI_ROBOTS"),
    key(
        "fetch.i_own_these_hosts",
        "false",
        Kind::Flag(|d, yes| d.owns_hosts = yes),
        "Confirms that robots.txt may be ignored.",
    )
    .flag(GENTLY, "i-own-these-hosts", "", "GEOMI_I_OWN_THESE_HOSTS"),
    key(
        "fetch.connect_timeout",
        "\"5s\"",
        Kind::Timeout(|d, span| d.crawl.fetch.connect_timeout = span),
        "Time for the TCP handshake, and again for the TLS handshake.",
    ),
    key(
        "fetch.silence_timeout",
        "\"5s\"",
        Kind::Timeout(|d, span| d.crawl.fetch.silence_timeout = span),
        "The longest silence while an answer is awaited.",
    ),
    key(
        "fetch.total_timeout",
        "\"1m\"",
        Kind::Timeout(|d, span| d.crawl.fetch.total_timeout = span),
        "Time for a whole answer.",
    ),
    key(
        "fetch.body_max",
        "\"16MiB\"",
        Kind::Size(1_024, |d, n| d.crawl.fetch.body_bytes_max = n as usize),
        "The longest body, after decoding; the rest is cut off.",
    ),
    key(
        "fetch.redirects",
        "5",
        Kind::Count(0, 20, |d, n| d.crawl.engine.redirects_max = n as u8),
        "Redirects followed in a row.",
    ),
    key(
        "fetch.cookies",
        "true",
        Kind::Flag(|d, yes| d.crawl.engine.cookies = yes),
        "Whether cookies are taken, and sent back to the site they are from.",
    ),
    unset(
        "fetch.signature_key_file",
        "\"bot-key.pem\"",
        Kind::MaybeText(|d, path| {
            d.signature_key_file = Some(path.to_owned());
            Ok(())
        }),
        "Ed25519 key, PEM or JWK, that signs requests (RFC 9421, Web Bot Auth).",
    ),
    unset(
        "fetch.signature_agent",
        "\"https://bot.example.org\"",
        Kind::MaybeText(|d, url| {
            d.signature_agent = Some(url.to_owned());
            Ok(())
        }),
        "Where the public key is published, sent as Signature-Agent.",
    ),
    key(
        "fetch.resolve",
        "[]",
        Kind::List(draft::add_resolve),
        "Addresses as HOST:ADDR, or *:ADDR for all hosts.",
    )
    .flag(NETWORK, "resolve", "HOST:ADDR", "GEOMI_RESOLVE"),
    key(
        "fetch.allow_private",
        "[]",
        Kind::List(draft::add_private),
        "Loopback and private ranges that may be asked, as CIDR, or all.",
    )
    .flag(NETWORK, "allow-private", "CIDR|all", "GEOMI_ALLOW_PRIVATE"),
    key(
        "fetch.allow_hosts",
        "[]",
        Kind::List(draft::add_host),
        "Internal hosts that may be at such addresses, as HOST or HOST:PORT; those of seeds are added.",
    ),
    key(
        "fetch.name_servers",
        "[]",
        Kind::List(draft::add_name_server),
        "Name servers to ask instead of the system's, as ADDR or ADDR:PORT.",
    ),
    key(
        "fetch.proxies",
        "[]",
        Kind::List(draft::add_proxy),
        "Proxies to go through: http://USER:PASSWORD@HOST:PORT, socks5://HOST:PORT.",
    )
    .secret(Secrecy::Userinfo),
    key(
        "fetch.proxy_rotation",
        "\"site\"",
        Kind::Choice(ROTATIONS, draft::set_proxy_rotation),
        "Which proxy serves: always the same for a host (site) or in turn (request).",
    ),
    key(
        "fetch.http2",
        "true",
        Kind::Flag(|d, yes| d.crawl.fetch.http2 = yes),
        "Whether HTTP/2 is spoken where an encrypted host offers it.",
    ),
    unset(
        "fetch.ca_file",
        "\"/etc/ssl/our-authority.pem\"",
        Kind::MaybeText(draft::set_ca_file),
        "Certificate authorities trusted besides the machine's, a PEM file.",
    ),
    key(
        "scope.kind",
        "\"host\"",
        Kind::Choice(SCOPES, draft::set_scope),
        "How far from a seed: page, path, host, domain, any or party.",
    )
    .flag(SCOPE, "scope", "SCOPE", "GEOMI_SCOPE"),
    key(
        "scope.include",
        "[]",
        Kind::Words(|d| &mut d.crawl.engine.scope.include),
        "Only URLs like this: a glob over the whole URL, or re:REGEX.",
    )
    .flag(SCOPE, "include", "GLOB", "GEOMI_INCLUDE"),
    key(
        "scope.exclude",
        "[]",
        Kind::Words(|d| &mut d.crawl.engine.scope.exclude),
        "No URLs like this; stronger than include.",
    )
    .flag(SCOPE, "exclude", "GLOB", "GEOMI_EXCLUDE"),
    unset(
        "scope.depth",
        "5",
        Kind::MaybeCount(0, 65_535, |d, n| {
            d.crawl.engine.scope.depth_max = n.map(|n| n as u16);
        }),
        "Links away from the seed, at most.",
    )
    .flag(SCOPE, "depth", "N", "GEOMI_DEPTH")
    .letter('d'),
    key(
        "scope.requisites",
        "\"scope\"",
        Kind::Choice(REQUISITES, draft::set_requisites),
        "From where images, styles, scripts and frames of a page in scope are taken: any, scope.",
    ),
    key(
        "scope.follow_forms",
        "true",
        Kind::Flag(|d, yes| d.crawl.engine.follow.forms = yes),
        "Whether GET forms in which nothing is to be filled in are followed.",
    ),
    key(
        "scope.follow_adverts",
        "true",
        Kind::Flag(|d, yes| d.crawl.engine.follow.adverts = yes),
        "Whether links in blocks named as advertisements are followed.",
    ),
    unset(
        "scope.party_urls_max",
        "640_000",
        Kind::MaybeCount(1, MAX, |d, n| d.crawl.engine.party_urls_max = n),
        "URLs taken in from one seed, at most; ROBOT's filter of 640,000 bits was for as many.",
    ),
    key(
        "scope.skip_near_duplicates",
        "false",
        Kind::Flag(|d, yes| d.crawl.engine.likeness.skip_near_duplicates = yes),
        "Whether links of pages that say nearly what another said are not followed.",
    ),
    key(
        "scope.skip_mirrors",
        "false",
        Kind::Flag(|d, yes| d.crawl.engine.likeness.skip_mirrors = yes),
        "Whether URLs of a site that has the same pages as another are refused, once that is known.",
    ),
    unset(
        "scope.spam_percent_max",
        "80",
        Kind::MaybeCount(0, 100, |d, n| {
            d.crawl.engine.likeness.spam_percent_max = n.map(|n| n as u8);
        }),
        "Spam score, 0 to 100, above which a page's links are not followed.",
    ),
    key(
        "scope.url_chars_max",
        "2048",
        Kind::Count(16, 1 << 20, |d, n| {
            d.crawl.engine.scope.url_chars_max = n as usize;
        }),
        "Characters of a URL, at most.",
    ),
    key(
        "scope.seed_chars_max",
        "2048",
        Kind::Count(16, 1 << 20, |d, n| {
            d.crawl.engine.scope.seed_chars_max = n as usize;
        }),
        "Characters of a seed, at most.",
    ),
    key(
        "scope.extensions_denied",
        "[]",
        Kind::Words(|d| &mut d.crawl.engine.scope.extensions_denied),
        "File name extensions not to fetch, such as \"zip\".",
    ),
    key(
        "scope.mimes_wanted",
        "[]",
        Kind::Words(|d| &mut d.crawl.engine.scope.mimes_wanted),
        "Content types wanted, such as \"text/html\" or \"image/*\"; all if empty.",
    ),
    key(
        "scope.path_repeat_max",
        "8",
        Kind::MaybeCount(1, 1_000, |d, n| {
            d.crawl.engine.scope.path_repeat_max = n.map(|n| n as u16);
        }),
        "Times a run of path segments may repeat in a row; \"none\" for no bound.",
    ),
    key(
        "scope.segments_max",
        "32",
        Kind::MaybeCount(1, 1_000, |d, n| {
            d.crawl.engine.scope.segments_max = n.map(|n| n as u16);
        }),
        "Segments of a path, at most; \"none\" for no bound.",
    ),
    key(
        "scope.sites_denied",
        "[]",
        Kind::Words(|d| &mut d.crawl.engine.scope.sites_denied),
        "Sites never to visit: \"example.com\", or \"*.example.com\" and all under it.",
    ),
    key(
        "scope.drop_params",
        draft::DROP_PARAMS,
        Kind::List(draft::add_drop_param),
        "Parameters that links lose: \"name\", \"name*\", \"name:token\"; \"none\" to keep all.",
    ),
    key(
        "scope.trap_guard",
        "\"on\"",
        Kind::Choice(ON_OFF, |d, place| d.crawl.engine.novelty.is_on = place == 0),
        "Whether parts of a site that do not stop growing come last.",
    )
    .flag(SCOPE, "trap-guard", "on|off", "GEOMI_TRAP_GUARD"),
    key(
        "scope.template_budget",
        "80",
        Kind::Count(1, MAX_BUDGET, |d, n| {
            d.crawl.engine.novelty.template_budget = n as u32;
        }),
        "Pages of one URL template that repeat content and lead on before the rest is deferred.",
    ),
    key(
        "scope.section_budget",
        "90",
        Kind::Count(1, MAX_BUDGET, |d, n| {
            d.crawl.engine.novelty.section_budget = n as u32;
        }),
        "The same for a part of a site: a first directory, or a path with queries.",
    ),
    key(
        "scope.site_budget",
        "100",
        Kind::Count(1, MAX_BUDGET, |d, n| {
            d.crawl.engine.novelty.site_budget = n as u32;
        }),
        "The same for a whole site.",
    ),
    key(
        "scope.growth_budget",
        "400",
        Kind::Count(1, MAX_BUDGET, |d, n| {
            d.crawl.engine.novelty.growth_budget = n as u32;
        }),
        "Pages with new content, and as many waiting URLs, without a dead end before a part is deferred.",
    ),
    key(
        "scope.site_pages",
        "25000",
        Kind::Count(1, MAX_BUDGET, |d, n| {
            d.crawl.engine.novelty.site_pages = n as u32;
        }),
        "Pages with new content that lead on without any sign of an end, at most, per site.",
    ),
    key(
        "scope.last_calls",
        "20",
        Kind::Count(0, MAX_BUDGET, |d, n| {
            d.crawl.engine.novelty.last_calls = n as u32;
        }),
        "Deferred URLs of a part of a site that are tried at the end of a crawl, to find its end.",
    ),
    key(
        "scope.domain_hosts",
        "40",
        Kind::Count(1, MAX_BUDGET, |d, n| {
            d.crawl.engine.novelty.domain_hosts = n as u32;
        }),
        "Hosts of one registrable domain that are opened before they bring pages.",
    ),
    key(
        "scope.ignore_after",
        "8",
        Kind::Count(2, 1_000, |d, n| d.crawl.engine.novelty.pairs_min = n as u32),
        "Pairs of equal pages after which a parameter is ignored.",
    ),
    key(
        "scope.sitemaps",
        "\"guess\"",
        Kind::Choice(SITEMAPS, draft::set_sitemaps),
        "Sitemaps asked for: those robots.txt names (robots), /sitemap.xml too (guess), or none.",
    ),
    key(
        "refresh.policy",
        "\"clock\"",
        Kind::Choice(&geomi_refresh::named::NAMES, |d, at| {
            geomi_refresh::named::NAMES[at].clone_into(&mut d.crawl.engine.plan.policy);
        }),
        "The rule that says when a page is due; `geomi refresh simulate` compares them.",
    ),
    key(
        "refresh.every",
        "\"7d\"",
        Kind::Period(MINUTE, draft::set_every),
        "The budget: as many visits as if every page were visited this often.",
    ),
    unset(
        "refresh.requests_per_day",
        "20_000",
        Kind::MaybeCount(1, MAX_BUDGET, draft::set_requests_per_day),
        "The budget in requests a day, for all pages together; stronger than `every`.",
    ),
    unset(
        "refresh.site_requests_per_day",
        "500",
        Kind::MaybeCount(1, MAX_BUDGET, |d, n| {
            d.crawl.engine.plan.site_requests_per_day = n;
        }),
        "Requests a day that each site gets at most; what it cannot use goes to the others.",
    ),
    key(
        "refresh.weights",
        "\"none\"",
        Kind::Choice(&Weights::NAMES, |d, at| {
            d.crawl.engine.plan.weights = Weights::ALL[at];
        }),
        "What pages weigh: all the same (none), or by the priority they were found with (importance).",
    ),
    unset(
        "refresh.requests_per_hour",
        "2_000",
        Kind::MaybeCount(1, MAX_BUDGET, |d, n| {
            d.crawl.engine.plan.requests_per_hour = n;
        }),
        "Requests in any hour, for all pages together, at most.",
    ),
    unset(
        "refresh.discovery_per_day",
        "500",
        Kind::MaybeCount(0, MAX_BUDGET, |d, n| {
            d.crawl.engine.plan.discovery_per_day = n;
        }),
        "First requests a day for pages found while a crawl is kept fresh; unset: as many as the plan's own budget for the pages known when the day began, at least 24.",
    ),
    key(
        "refresh.timezone",
        "\"UTC\"",
        Kind::Text(draft::set_timezone),
        "Time zone of hours and days in plans, schedules and reports, by its IANA name such as \"Asia/Seoul\".",
    ),
    key(
        "refresh.quiet_hours",
        "[]",
        Kind::List(|d, line| d.crawl.engine.plan.quiet_hours.add(line)),
        "Hours (of refresh.timezone) in which nothing is visited, such as \"22-6\" or \"Mon-Fri 8-18\"; with \"25%\" behind, a quarter.",
    ),
    key(
        "refresh.longest_gap",
        "\"90d\"",
        Kind::Period(MINUTE, |d, span| d.crawl.engine.plan.longest_gap = span),
        "The longest time a page is left alone, whatever the policy says.",
    ),
    key(
        "output.warc_size",
        "\"1GiB\"",
        Kind::Size(1 << 20, |d, n| d.crawl.output.warc_bytes_max = n),
        "A WARC file is closed at this size.",
    ),
    key(
        "output.gzip_level",
        "1",
        Kind::Count(1, 12, |d, n| d.crawl.output.gzip_level = n as u8),
        "Effort of compression, 1 to 12.",
    ),
    key(
        "output.segment_rows",
        "8192",
        Kind::Count(1, 1 << 24, |d, n| d.crawl.output.segment_rows = n),
        "Visits a Parquet file holds at most; those of a small crawl hold fewer.",
    ),
    key(
        "output.store_broken",
        "true",
        Kind::Flag(|d, yes| d.crawl.engine.store_broken = yes),
        "Whether content that is broken (undecodable, or not of its type) is stored.",
    ),
    key(
        "output.log_size",
        "\"256MiB\"",
        Kind::Size(1 << 16, |d, n| d.crawl.output.log_bytes_max = n),
        "log.jsonl is rotated at this size.",
    ),
    key(
        "output.publish_every",
        "\"1m\"",
        Kind::Period(Duration::from_secs(1), |d, span| {
            d.crawl.output.publish_every = span;
        }),
        "How often the index and the lists of seeds are written while the crawl runs, if they changed.",
    ),
    key(
        "output.min_free",
        "\"64MiB\"",
        Kind::Size(0, |d, n| d.crawl.limits.disk_free_min = n),
        "Free disk space below which the crawl stops in good order (exit code 5).",
    ),
    key(
        "cluster.partitions",
        "1",
        Kind::Count(1, 4_096, |d, n| d.crawl.partitions = n as u16),
        "Parts the URL space is cut into; fixed for the life of a directory.",
    ),
];

fn politeness(draft: &mut Draft) -> &mut geomi_frontier::Politeness {
    &mut draft.crawl.engine.frontier.politeness
}
