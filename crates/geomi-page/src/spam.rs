//! How much a page looks like spam, by features that are stated.
//!
//! A score of 0 to 100 is the sum of what each feature adds, and a feature adds
//! in proportion between two bounds: nothing at the lower, all its points at the
//! upper. The features and bounds are those of the table in docs/formats.md; they
//! follow Ntoulas et al. 2006 (title, links and text, repetition, hidden content)
//! and Fetterly et al. 2004 (host names). No single feature reaches 50: a page
//! must be odd in several ways.
//!
//! It is a measure, not a verdict: what follows from it is the operator's rule.

use arrayvec::ArrayVec;

use crate::content::Content;
use crate::html::{HtmlReader, examine};
use crate::reader::{Extractor as _, PageInput, ReadLimits, essence};

/// What a score is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SpamFeatures {
    /// Words of the main text.
    pub words: u32,
    /// Share of the word used most, in hundredths.
    pub top_word_percent: u8,
    /// Links to follow: anchors.
    pub anchors: u32,
    /// Those that lead to another host.
    pub anchors_elsewhere: u32,
    /// Bytes of text a reader sees.
    pub text_bytes: u64,
    /// Bytes of text hidden by an attribute or an inline style.
    pub hidden_bytes: u64,
    /// Times a word of the title comes again in the title.
    pub title_repeats: u32,
    /// Entries of `meta name=keywords`.
    pub keywords: u32,
    /// Characters of the host name.
    pub host_chars: u32,
    /// Hyphens in it.
    pub host_hyphens: u32,
}

/// Words or anchors below which shares mean nothing.
const WORDS_MIN: u32 = 50;
const ANCHORS_MIN: u32 = 20;
/// Words of a title that are looked at.
const TITLE_WORDS_MAX: usize = 100;
/// A host name that is no longer than this may have its hyphens.
const HOST_CHARS_MIN: u32 = 30;

impl SpamFeatures {
    /// The features of a page as it was sent; `None` for content that is no HTML.
    ///
    /// ```
    /// use geomi_page::{PageInput, ReadLimits, SpamFeatures};
    /// let url = geomi_url::CrawlUrl::parse("http://example.com/").unwrap();
    /// let input = PageInput {
    ///     url: &url,
    ///     mime: Some("text/html"),
    ///     charset_label: None,
    ///     body: b"<title>pills, best pills, more pills</title>",
    /// };
    /// let spam = SpamFeatures::of(&input, &ReadLimits::default()).unwrap();
    /// assert_eq!(spam.title_repeats, 2);
    /// ```
    pub fn of(input: &PageInput<'_>, limits: &ReadLimits) -> Option<Self> {
        let mime = input.mime.map(essence).unwrap_or_default();
        let is_html = HtmlReader.claims(&Content::new(&mime, input.body));
        is_html.then(|| examine(input, limits).1)
    }

    /// The score, in hundredths.
    pub fn score_percent(&self) -> u8 {
        let sum: u64 = self.parts().iter().map(|(_, points)| points).sum();
        u8::try_from(sum.min(100)).unwrap_or(100)
    }

    /// What each feature adds to the score, by its name.
    pub fn parts(&self) -> [(&'static str, u64); 7] {
        let elsewhere = share(self.anchors_elsewhere.into(), self.anchors.into());
        let links = share(self.anchors.into(), self.words.max(1).into());
        let hidden = share(self.hidden_bytes, self.hidden_bytes + self.text_bytes);
        let many_anchors = self.anchors >= ANCHORS_MIN;
        let (top, hyphens) = (self.top_word_percent.into(), self.host_hyphens.into());
        let many_words = self.words >= WORDS_MIN;
        let long_host = self.host_chars > HOST_CHARS_MIN;
        [
            (
                "links_elsewhere",
                points(many_anchors, elsewhere, (70, 100), 20),
            ),
            ("links_to_words", points(many_anchors, links, (30, 100), 15)),
            ("top_word", points(many_words, top, (12, 30), 25)),
            (
                "hidden_text",
                points(self.hidden_bytes >= 500, hidden, (10, 50), 25),
            ),
            (
                "title_repeats",
                points(true, self.title_repeats.into(), (1, 4), 15),
            ),
            ("keywords", points(true, self.keywords.into(), (20, 60), 10)),
            ("host_hyphens", points(long_host, hyphens, (2, 5), 15)),
        ]
    }

    /// Counts what the title repeats.
    pub(crate) fn title_repeats_of(title: &str) -> u32 {
        let words = title.as_bytes().split(|byte| !is_of_word(*byte));
        let words = words.filter(|word| word.len() > 1);
        let mut met: ArrayVec<u64, TITLE_WORDS_MAX> =
            words.map(folded_hash).take(TITLE_WORDS_MAX).collect();
        let all = met.len();
        met.sort_unstable();
        let different = met.chunk_by(|a, b| a == b).count();
        u32::try_from(all - different).unwrap_or(u32::MAX)
    }
}

/// Letters and digits, and everything that is not ASCII.
const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// A hash of a word in which the case of Latin letters makes no difference.
fn folded_hash(word: &[u8]) -> u64 {
    word.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn share(part: u64, whole: u64) -> u64 {
    (part * 100).checked_div(whole).unwrap_or(0)
}

/// What a value adds: its place between two bounds, as a part of `most`.
fn points(counts: bool, value: u64, (low, high): (u64, u64), most: u64) -> u64 {
    if !counts {
        return 0;
    }
    value.clamp(low, high).abs_diff(low) * most / (high - low)
}

#[cfg(test)]
mod tests {
    use geomi_url::CrawlUrl;

    use crate::{PageInput, ReadLimits, Readers};

    fn spam_of(url: &str, body: &str) -> u8 {
        let url = CrawlUrl::parse(url).unwrap();
        let input = PageInput {
            url: &url,
            mime: Some("text/html"),
            charset_label: None,
            body: body.as_bytes(),
        };
        let page = Readers::standard().read(&input, &ReadLimits::default());
        page.spam_percent
    }

    fn links(count: usize, host: &str) -> String {
        let link = |at| format!("<a href='http://{host}/{at}'>item{at}</a> ");
        (0..count).map(link).collect()
    }

    fn prose(words: usize) -> String {
        let word = |at: usize| format!("word{} ", at * 7_919 % 983);
        (0..words).map(word).collect()
    }

    #[test]
    fn pages_by_what_is_odd_about_them() {
        let plain = "http://example.com/";
        let farm = "http://cheap-best-buy-online-pills-discount.example.com/";
        let stuffed = format!("<p>{}</p>", "cheap pills ".repeat(200));
        let hidden = format!("<div style='display:none'>{}</div>", prose(400));
        let title = "<title>pills, cheap pills, buy pills, best pills, pills</title>";
        let keywords = format!("<meta name=keywords content='{}'>", "pills,".repeat(80));
        let all = [
            title,
            &keywords,
            &stuffed,
            &hidden,
            &links(90, "other.test"),
        ]
        .concat();
        for (name, url, body, least, most) in [
            ("an empty page", plain, String::new(), 0, 0),
            (
                "an article",
                plain,
                prose(500) + &links(30, "example.com"),
                0,
                0,
            ),
            (
                "a list of links",
                plain,
                prose(100) + &links(60, "other.test"),
                20,
                40,
            ),
            ("a stuffed text", plain, stuffed.clone(), 25, 25),
            (
                "a stuffed title",
                plain,
                title.to_owned() + &prose(300),
                15,
                15,
            ),
            ("hidden text", plain, hidden.clone(), 25, 25),
            ("a host of hyphens", farm, prose(300), 15, 15),
            ("all of it", farm, all, 80, 100),
        ] {
            let score = spam_of(url, &body);
            assert!((least..=most).contains(&score), "{name}: {score}");
        }
    }
}
