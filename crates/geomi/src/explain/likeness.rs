//! What a page is like: taken from its visits, and where it looks like spam, why,
//! from the page as stored.

use geomi_engine::explain::PageLikeness;
use geomi_fetch::StoredAnswer;
use geomi_page::{PageInput, ReadLimits, SpamFeatures, charset_parameter};
use geomi_store::readback::{Archive, ArchiveLimits, Spelling};
use geomi_store::{CrawlDir, segment, visits};
use geomi_url::CrawlUrl;

use super::row;

/// Adds what visits/ and the archive know: which page it is near to, and what its
/// spam score is made of.
pub(super) fn complete(
    likeness: &mut PageLikeness,
    dir: &CrawlDir,
    url: &CrawlUrl,
) -> anyhow::Result<()> {
    if likeness.near_key.is_some() && likeness.near_to.is_none() {
        name_near(likeness, dir)?;
    }
    if likeness.spam_percent > Some(0)
        && let Some(features) = spam_features(dir, url)
    {
        let parts = features.parts().into_iter();
        let parts = parts.filter(|(_, points)| *points > 0);
        likeness.spam_parts = parts
            .map(|(name, points)| (name.to_owned(), points))
            .collect();
    }
    Ok(())
}

fn name_near(likeness: &mut PageLikeness, dir: &CrawlDir) -> anyhow::Result<()> {
    for segment in segment::list(dir)? {
        for visit in visits::read_visit_columns(&segment.table(dir), &["url"])? {
            likeness.name(&visit?);
            if likeness.near_to.is_some() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The features of the page as it was last stored. `None` where it cannot be
/// read: the score is told either way, and `geomi verify` says what is damaged.
fn spam_features(dir: &CrawlDir, url: &CrawlUrl) -> Option<SpamFeatures> {
    let limits = ArchiveLimits::default();
    let archive = Archive::open(CrawlDir::new(dir.root()), limits).ok()?;
    let captures = archive.captures(url, Spelling::Exact).ok()?;
    let read = archive.read(captures.last()?).ok()?;
    let block = read.content().block.clone();
    let answer = StoredAnswer::parse(block, limits.block_bytes_max).ok()?;
    let content_type = answer.headers.get("content-type");
    let input = PageInput {
        url,
        mime: content_type.as_deref(),
        charset_label: content_type.as_deref().and_then(charset_parameter),
        body: &answer.body,
    };
    SpamFeatures::of(&input, &ReadLimits::default())
}

/// The rows of a page.
pub(super) fn words(text: &mut String, likeness: &PageLikeness) {
    if let (Some(key), Some(bits)) = (&likeness.near_key, likeness.near_bits) {
        let other = likeness.near_to.as_ref().unwrap_or(key);
        let near = format!("says nearly what {other} said ({bits} of 64 bits differ)");
        row(text, "near", near);
    }
    if let Some(percent) = likeness.spam_percent.filter(|percent| *percent > 0) {
        let parts = likeness.spam_parts.iter();
        let parts: Vec<String> = parts
            .map(|(name, points)| format!("{} {points}", name.replace('_', " ")))
            .collect();
        let made_of = if parts.is_empty() {
            String::new()
        } else {
            format!(": {}", parts.join(", "))
        };
        row(text, "spam", format!("{percent} of 100{made_of}"));
    }
    if likeness.soft_404 == Some(true) {
        let says = "it came with 200 and says that it is not there";
        row(text, "soft 404", says);
    }
}
