//! Lines of Heritrix 3's crawl.log.
//!
//! Twelve fields with blanks between them: when it was logged, fetch status,
//! size, URI, discovery path, referrer, type, worker, when the fetch began and
//! how many milliseconds it took, digest, source tag (the seed), annotations.
//! `-` stands for what is not known.
//!
//! geomi does not keep what kind of link led to a page, so the discovery path is
//! what can be said: an `L` for each link from the seed, `R` for redirects that
//! led here at once, `E` in the last place for content that pages embed, `P` for
//! robots.txt.

use std::collections::HashMap;

use geomi_model::{CaptureKind, NetworkState, Visit};
use geomi_url::UrlHash;

/// Hops Heritrix writes out; those before are only counted.
const HOPS_MAX: usize = 50;

/// What must be remembered from line to line.
#[derive(Debug, Default)]
pub(crate) struct CrawlLog {
    /// Targets of redirects: from where, and after how many in a row.
    redirects: HashMap<UrlHash, (UrlHash, u16)>,
}

impl CrawlLog {
    /// Remembers a visit that redirects; all visits must be shown in order.
    pub(crate) fn notice(&mut self, visit: &Visit) {
        if let Some(location) = &visit.location {
            let from = visit.url.hash64();
            let hops = self.redirects_to(visit).saturating_add(1);
            self.redirects.insert(location.hash64(), (from, hops));
        }
    }

    /// The line of a visit, without its end.
    pub(crate) fn line(&self, visit: &Visit) -> String {
        let is_answer = visit.state.is_answer();
        let size = if is_answer || visit.body_bytes > 0 {
            visit.body_bytes.to_string()
        } else {
            "-".to_owned()
        };
        let millis = visit.phases.total.as_millis();
        let began = match visit.state {
            NetworkState::NotTried => "-".to_owned(),
            _ => format!("{}+{millis}", visit.time.to_compact_millis()),
        };
        format!(
            "{} {:>5} {size:>10} {} {} {} {} {} {began} {} {} {}",
            (visit.time + visit.phases.total).to_rfc3339_millis(),
            status(visit),
            visit.url,
            self.path(visit),
            or_dash(visit.via.as_ref().map(ToString::to_string)),
            or_dash(visit.mime.as_deref().and_then(word)),
            worker(visit),
            or_dash(visit.digest.map(|digest| digest.to_string())),
            or_dash(visit.seed.as_ref().map(ToString::to_string)),
            or_dash(annotations(visit)),
        )
    }

    fn redirects_to(&self, visit: &Visit) -> u16 {
        let from = self.redirects.get(&visit.url.hash64());
        let via = visit.via.as_ref().map(geomi_url::CrawlUrl::hash64);
        from.filter(|(from, _)| Some(*from) == via)
            .map_or(0, |(_, hops)| *hops)
    }

    fn path(&self, visit: &Visit) -> String {
        let redirects = self.redirects_to(visit);
        let mut path = "L".repeat(visit.depth.into());
        path.push_str(&"R".repeat(redirects.into()));
        if visit.is_robots {
            path.push('P');
        } else if path.ends_with('L') && visit.mime.as_deref().is_some_and(is_embedded) {
            path.pop();
            path.push('E');
        }
        match path.len().checked_sub(HOPS_MAX) {
            None if path.is_empty() => "-".to_owned(),
            None | Some(0) => path,
            Some(more) => format!("{more}+{}", &path[more..]),
        }
    }
}

/// The status code, or Heritrix's number for what went wrong.
fn status(visit: &Visit) -> i32 {
    match visit.state {
        NetworkState::Ok | NetworkState::Code => visit.code.map_or(0, i32::from),
        // Never tried.
        NetworkState::NotTried => 0,
        // The name could not be resolved.
        NetworkState::NoIp => -1,
        // No connection.
        NetworkState::ConnectError | NetworkState::ConnectTimeout => -2,
        // The connection was lost, or what came over it was no HTTP, which
        // Heritrix does not tell apart.
        NetworkState::Connected
        | NetworkState::HeaderError
        | NetworkState::HeaderShort
        | NetworkState::HeaderNotHttp
        | NetworkState::DownloadError => -3,
        // It took too long.
        NetworkState::HeaderTimeout | NetworkState::DownloadTimeout => -4,
    }
}

fn is_embedded(mime: &str) -> bool {
    let mime = mime.to_ascii_lowercase();
    ["image/", "font/", "audio/", "video/"]
        .iter()
        .any(|class| mime.starts_with(class))
        || mime == "text/css"
        || mime.ends_with("javascript")
}

/// The number of the worker that fetched it, which the archive's file names.
fn worker(visit: &Visit) -> String {
    let number = visit.capture.as_ref().and_then(|capture| {
        let name = capture.file.strip_suffix(".warc.gz")?.rsplit('-').next()?;
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.parse::<u32>().ok()
    });
    number.map_or_else(|| "-".to_owned(), |number| format!("#{number:03}"))
}

/// Tries, duplicates and the state of a failure, with commas between.
fn annotations(visit: &Visit) -> Option<String> {
    let mut notes = Vec::new();
    if visit.attempt > 1 {
        notes.push(format!("{}t", visit.attempt));
    }
    let kind = visit.capture.as_ref().map(|capture| capture.kind);
    if kind == Some(CaptureKind::Revisit) {
        notes.push(match visit.code {
            Some(304) => "warcRevisit:notModified".to_owned(),
            _ => "warcRevisit:digest".to_owned(),
        });
    }
    if !visit.state.is_answer() {
        notes.push(format!("geomi:{}", visit.state.as_str().replace(' ', "-")));
    }
    (!notes.is_empty()).then(|| notes.join(","))
}

/// The first word of a value that strangers wrote.
fn word(text: &str) -> Option<String> {
    let first = text.split(|c: char| c.is_whitespace() || c.is_control() || matches!(c, ';' | ','));
    first.map(str::to_owned).find(|word| !word.is_empty())
}

fn or_dash(text: Option<String>) -> String {
    text.filter(|text| !text.is_empty())
        .unwrap_or_else(|| "-".to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use geomi_model::{Capture, Digest, Timestamp};
    use geomi_url::CrawlUrl;

    use super::*;
    use crate::export::samples::visit;

    fn fields(line: &str) -> Vec<&str> {
        line.split_ascii_whitespace().collect()
    }

    #[test]
    fn a_captured_page() {
        let mut page = visit("http://e.com/a");
        page.time = Timestamp::from_micros(1_794_735_720_123_456);
        page.phases.total = Duration::from_millis(250);
        page.depth = 2;
        page.via = Some(CrawlUrl::parse("http://e.com/").unwrap());
        page.seed = page.via.clone();
        page.mime = Some("text/html".to_owned());
        page.body_bytes = 1299;
        page.digest = Some(Digest([0; 20]));
        page.attempt = 2;
        page.capture = Some(Capture {
            file: "x-20261115094200-00001-w7.warc.gz".to_owned(),
            offset: 0,
            length: 1,
            kind: CaptureKind::Revisit,
        });
        assert_eq!(
            CrawlLog::default().line(&page),
            "2026-11-15T09:42:00.373Z   200       1299 http://e.com/a LL http://e.com/ text/html #007 \
             20261115094200123+250 sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA http://e.com/ 2t,warcRevisit:digest"
        );
    }

    #[test]
    fn a_failure_has_heritrixs_number_and_no_size() {
        let mut page = visit("http://e.com/");
        page.state = NetworkState::HeaderTimeout;
        page.code = None;
        let line = CrawlLog::default().line(&page);
        let fields = fields(&line);
        assert_eq!(fields.len(), 12, "{line}");
        assert_eq!(fields[1..3], ["-4", "-"]);
        assert_eq!(fields[4..8], ["-", "-", "-", "-"]);
        assert_eq!(fields[11], "geomi:hTim");
    }

    #[test]
    fn redirects_embeds_and_robots_leave_their_letter() {
        let mut log = CrawlLog::default();
        let mut path = |visit: &Visit| {
            log.notice(visit);
            log.path(visit)
        };
        let mut hop = visit("http://e.com/1");
        hop.depth = 1;
        hop.location = Some(CrawlUrl::parse("http://e.com/2").unwrap());
        assert_eq!(path(&hop), "L");
        let mut second = visit("http://e.com/2");
        (second.depth, second.via) = (1, Some(hop.url.clone()));
        second.location = Some(CrawlUrl::parse("http://e.com/3").unwrap());
        assert_eq!(path(&second), "LR");
        let mut third = visit("http://e.com/3");
        (third.depth, third.via) = (1, Some(second.url.clone()));
        assert_eq!(path(&third), "LRR");
        let mut picture = visit("http://e.com/p");
        (picture.depth, picture.mime) = (3, Some("image/png".to_owned()));
        assert_eq!(path(&picture), "LLE");
        let mut robots = visit("http://e.com/robots.txt");
        robots.is_robots = true;
        assert_eq!(path(&robots), "P");
        let mut deep = visit("http://e.com/deep");
        deep.depth = 62;
        assert_eq!(path(&deep), format!("12+{}", "L".repeat(50)));
    }

    #[test]
    fn a_strangers_type_is_one_word() {
        let mut page = visit("http://e.com/");
        page.mime = Some("text/ html\tx".to_owned());
        assert_eq!(fields(&CrawlLog::default().line(&page)).len(), 12);
        page.mime = Some("  ".to_owned());
        assert_eq!(fields(&CrawlLog::default().line(&page))[6], "-");
    }
}
