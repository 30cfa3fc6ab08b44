//! Content from the archive, made ready for a browser that reads files.

use std::borrow::Cow;

use geomi_fetch::StoredAnswer;
use geomi_model::Visit;
use geomi_page::{
    PageInput, ReadLimits, charset_parameter, decode_text, rewrite_html, rewrite_style_sheet,
};
use geomi_url::CrawlUrl;

use super::kind::Treatment;
use super::names::reference;
use super::plan::Plan;

/// The bytes of a visit's file, links led to other files of the plan.
pub(super) fn ready<'a>(
    plan: &Plan,
    visit: &Visit,
    name: &str,
    answer: &'a StoredAnswer,
) -> Cow<'a, [u8]> {
    let treatment = plan.kind(visit).treatment;
    let content_type = answer.headers.get("content-type");
    let input = PageInput {
        url: &visit.url,
        mime: visit.mime.as_deref(),
        charset_label: content_type.as_deref().and_then(charset_parameter),
        body: &answer.body,
    };
    let limits = ReadLimits::default();
    let mut placer = |url: &CrawlUrl| plan.file_behind(url).map(|to| reference(name, to));
    match treatment {
        Treatment::Html => Cow::Owned(rewrite_html(&input, &limits, &mut placer).into_bytes()),
        Treatment::StyleSheet => {
            Cow::Owned(rewrite_style_sheet(&input, &limits, &mut placer).into_bytes())
        }
        Treatment::AsIs => Cow::Borrowed(&answer.body),
        Treatment::Script | Treatment::Text if answer.body.is_ascii() => {
            Cow::Borrowed(&answer.body)
        }
        Treatment::Script => Cow::Owned(decode_text(&input, &limits).0.into_owned().into_bytes()),
        Treatment::Text => {
            let (text, _) = decode_text(&input, &limits);
            Cow::Owned(["\u{feff}", &text].concat().into_bytes())
        }
    }
}
