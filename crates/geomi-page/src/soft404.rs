//! Pages that say they are not there, and come with 200 all the same.
//!
//! Asking a site for a path nobody has would tell for certain, and cost a
//! request. Instead a page is taken at its word: its title says so, or its text
//! is short and does.

/// Text longer than this is a page about something.
pub(crate) const TEXT_BYTES_MAX: u64 = 1500;

/// What short pages say, in lower case without punctuation and numbers.
const SAID: [&str; 12] = [
    "page not found",
    "was not found",
    "not be found",
    "t be found",
    "page does not exist",
    "page you requested does not",
    "no longer available",
    "페이지를 찾을 수 없",
    "존재하지 않는 페이지",
    "페이지가 존재하지 않",
    "없는 페이지입니다",
    "삭제되었거나",
];

/// What titles say, in lower case.
const TITLES: [&str; 6] = [
    "404",
    "page not found",
    "not found",
    "페이지를 찾을 수 없",
    "존재하지 않는 페이지",
    "없는 페이지",
];

/// Whether a normalised text says so.
pub(crate) fn says_so(text: &[u8]) -> bool {
    // A character at the end may have been cut.
    let text = String::from_utf8_lossy(text);
    SAID.iter().any(|said| text.contains(said))
}

/// Whether a title says so: all of it, or its first or last part. A page that
/// tells of error 404 has a longer title.
pub(crate) fn title_says_so(title: &str) -> bool {
    const TITLE_BYTES_MAX: usize = 100;
    let title = title.to_lowercase();
    let mut parts = title.split(['|', '-', ':', '·', '–', '—']).map(str::trim);
    let is_one = |part: &str| {
        let rest = TITLES.iter().find_map(|said| part.strip_prefix(said));
        rest.is_some_and(|rest| rest.chars().count() <= 12)
    };
    title.len() <= TITLE_BYTES_MAX && parts.any(is_one)
}

#[cfg(test)]
mod tests {
    use geomi_url::CrawlUrl;

    use crate::{PageInput, ReadLimits, Readers};

    fn is_missing(body: &str) -> bool {
        let url = CrawlUrl::parse("http://example.com/").unwrap();
        let input = PageInput {
            url: &url,
            mime: Some("text/html"),
            charset_label: None,
            body: body.as_bytes(),
        };
        let page = Readers::standard().read(&input, &ReadLimits::default());
        page.says_not_found
    }

    #[test]
    fn pages_that_say_they_are_missing() {
        for page in [
            "<title>404 Not Found</title><p>Sorry.",
            "<title>Page not found | Shop</title>",
            "<title>Shop</title><h1>Sorry!</h1> The page you wanted could not be found.",
            "<p>요청하신 <b>페이지를</b> 찾을 수 없습니다.",
            "<title>오류</title><p>삭제되었거나 이동한 글입니다",
        ] {
            assert!(is_missing(page), "{page}");
        }
        let essay = format!("<p>{} The page was not found.", "Some words. ".repeat(200));
        for page in [
            "",
            "<title>Route 404 through the hills and what it taught us</title>",
            "<title>Lost and found</title><p>Nothing was lost.",
            &essay,
        ] {
            assert!(!is_missing(page), "{page}");
        }
    }
}
