//! The mirror's front page: its sites and where to begin reading.

use std::fmt::Write as _;

use super::names::reference;
use super::plan::Plan;
use crate::words;

/// Its name.
pub(super) const NAME: &str = "index.html";

/// The page.
pub(super) fn page(plan: &Plan, crawl: &str) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Mirror of {0}</title>\n\
         <style>body {{ max-width: 50em; margin: 2em auto; padding: 0 1em; font-family: sans-serif; line-height: 1.5 }}</style>\n\
         </head>\n<body>\n<h1>Mirror of {0}</h1>\n<p>{1}, {2}.</p>\n",
        escaped(crawl),
        words::plural(plan.sites.len() as u64, "site"),
        words::plural(plan.sites.values().map(|site| site.files).sum(), "file"),
    );
    for (name, site) in &plan.sites {
        write!(
            page,
            "<h2>{}</h2>\n<p>{}</p>\n<ul>\n",
            escaped(name),
            words::plural(site.files, "file")
        )
        .expect("a string takes everything");
        for (title, file) in &site.entries {
            let link = escaped(&reference(NAME, file));
            writeln!(page, "<li><a href=\"{link}\">{}</a></li>", escaped(title))
                .expect("a string takes everything");
        }
        if site.more > 0 {
            writeln!(page, "<li>and {} more</li>", words::count(site.more))
                .expect("a string takes everything");
        }
        page.push_str("</ul>\n");
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_text() {
        assert_eq!(escaped("<b>\"&"), "&lt;b&gt;&quot;&amp;");
        let page = page(&Plan::default(), "a<b");
        assert!(page.contains("<title>Mirror of a&lt;b</title>"), "{page}");
        assert!(page.contains("<p>0 sites, 0 files.</p>"), "{page}");
    }
}
