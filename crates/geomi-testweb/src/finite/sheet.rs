//! What a page says between its header and its footer.

use std::fmt::{Arguments, Display, Write as _};

use super::words::Words;

/// A link: where to and what it says.
pub(crate) type Link = (String, String);

/// The title, the way to it and the main part of a page.
pub(crate) struct Sheet {
    pub(crate) title: String,
    pub(crate) trail: Vec<Link>,
    pub(crate) main: String,
}

impl Sheet {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            trail: Vec::new(),
            main: String::new(),
        }
    }

    /// With one more step in its breadcrumbs.
    pub(crate) fn under(mut self, href: impl Into<String>, text: impl Into<String>) -> Self {
        self.trail.push((href.into(), text.into()));
        self
    }

    pub(crate) fn p(&mut self, text: impl Display) {
        put(&mut self.main, format_args!("<p>{text}</p>\n"));
    }

    pub(crate) fn h2(&mut self, text: impl Display) {
        put(&mut self.main, format_args!("<h2>{text}</h2>\n"));
    }

    pub(crate) fn a(&mut self, href: impl AsRef<str>, text: impl Display) {
        self.main.push_str(&anchor(href.as_ref(), text));
        self.main.push('\n');
    }

    pub(crate) fn img(&mut self, src: impl Display, alt: impl Display) {
        put(
            &mut self.main,
            format_args!("<img src=\"{src}\" alt=\"{alt}\">\n"),
        );
    }

    pub(crate) fn list(&mut self, links: impl IntoIterator<Item = Link>) {
        self.main.push_str("<ul>\n");
        for (href, text) in links {
            let anchor = anchor(&href, text);
            put(&mut self.main, format_args!("<li>{anchor}</li>\n"));
        }
        self.main.push_str("</ul>\n");
    }

    /// Links to the list pages near this one, to the first and to the last.
    pub(crate) fn pager(&mut self, at: u32, last: u32, path: impl Fn(u32) -> String) {
        self.main.push_str("<div class=\"paging\">\n");
        let near = at.saturating_sub(3).max(1)..=(at + 3).min(last);
        let ends = [1, last].into_iter().filter(|end| !near.contains(end));
        let mut pages: Vec<u32> = near.clone().chain(ends).collect();
        pages.sort_unstable();
        for page in pages {
            if page == at {
                put(&mut self.main, format_args!("<b>{page}</b>\n"));
            } else {
                self.a(path(page), page);
            }
        }
        self.main.push_str("</div>\n");
    }

    /// Links to the page before and after, where there are such.
    pub(crate) fn neighbours(
        &mut self,
        words: Words,
        at: u32,
        last: u32,
        path: impl Fn(u32) -> String,
    ) {
        if at > 1 {
            self.a(path(at - 1), words.t("이전", "Previous"));
        }
        if at < last {
            self.a(path(at + 1), words.t("다음", "Next"));
        }
    }
}

/// Appends text.
pub(crate) fn put(out: &mut String, text: Arguments<'_>) {
    out.write_fmt(text).expect("a String takes all");
}

pub(crate) fn anchor(href: &str, text: impl Display) -> String {
    format!("<a href=\"{}\">{text}</a>", href.replace('&', "&amp;"))
}

/// The address of a list page: the first one has no number.
pub(crate) fn paged(base: &str, page: u32) -> String {
    if page == 1 {
        return base.to_owned();
    }
    let mark = if base.contains('?') { '&' } else { '?' };
    format!("{base}{mark}page={page}")
}
