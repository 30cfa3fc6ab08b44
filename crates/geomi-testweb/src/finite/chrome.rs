//! What stands around every page of a site: header, menu, breadcrumbs, footer.

use geomi_model::Timestamp;

use super::FiniteSite;
use super::sheet::{Link, Sheet, anchor, put};
use crate::dice::hash64;
use crate::text::Language;

/// How much stands around a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Look {
    /// Header, menu, breadcrumbs and footer.
    Usual,
    /// Nothing at all, as old pages have it.
    Bare,
    /// A menu of about 20 KB on every page.
    Heavy,
    /// A clock, a counter, a banner and a nonce, other at each request.
    Noisy,
    /// EUC-KR, tables and fonts.
    Old,
}

/// The whole page.
pub(crate) fn dress(site: &FiniteSite, menu: &[Link], sheet: &Sheet, at: Timestamp) -> String {
    let words = site.words;
    let mut html = String::with_capacity(sheet.main.len() + 3000);
    if sheet.main.starts_with("<frameset") {
        html.extend(["<html><head><title>", &sheet.title, "</title></head>\n"]);
        html.extend([&*sheet.main, "</html>\n"]);
        return html;
    }
    let language = match words.language {
        Language::Korean => "ko",
        Language::English => "en",
    };
    let charset = site.charset();
    put(
        &mut html,
        format_args!(
            "<!DOCTYPE html>\n<html lang=\"{language}\"><head><meta charset=\"{charset}\">\n\
         <title>{} - {}</title></head>\n<body>\n",
            sheet.title,
            site.title()
        ),
    );
    if site.look != Look::Bare {
        header(site, menu, sheet, at, &mut html);
    }
    html.push_str("<main>\n");
    put(
        &mut html,
        format_args!("<h1>{}</h1>\n{}</main>\n", sheet.title, sheet.main),
    );
    if site.look != Look::Bare {
        footer(site, &mut html);
    }
    html.push_str("</body></html>\n");
    html
}

fn header(site: &FiniteSite, menu: &[Link], sheet: &Sheet, at: Timestamp, html: &mut String) {
    let words = site.words;
    put(
        html,
        format_args!(
            "<header><a href=\"/\">{}</a> <span>{}</span></header>\n<nav><ul>\n",
            site.title(),
            words.sentence(words.draw(&[1]))
        ),
    );
    for (href, text) in menu {
        put(html, format_args!("<li>{}</li>\n", anchor(href, text)));
    }
    html.push_str("</ul></nav>\n");
    if site.look == Look::Heavy {
        for number in 0..200 {
            let draw = words.draw(&[2, number]);
            put(
                html,
                format_args!("<div class=\"m{number}\">{}</div>\n", words.sentence(draw)),
            );
        }
    }
    if site.look == Look::Noisy {
        noise(site, at, html);
    }
    if !sheet.trail.is_empty() {
        html.push_str("<div class=\"location\"><a href=\"/\">Home</a>");
        for (href, text) in &sheet.trail {
            put(html, format_args!(" &gt; {}", anchor(href, text)));
        }
        html.push_str("</div>\n");
    }
}

/// What differs on each request, wherever the page itself is the same.
fn noise(site: &FiniteSite, at: Timestamp, html: &mut String) {
    let words = site.words;
    let now = at.micros() as u64;
    put(
        html,
        format_args!(
            "<p>{} {}</p>\n<p>{} {}</p>\n<aside>{}</aside>\n\
         <form action=\"/login\" method=\"post\"><input type=\"hidden\" name=\"token\" value=\"{:016x}\"></form>\n",
            words.t("현재 시각", "It is now"),
            at.to_rfc3339_millis(),
            words.t("방문자 수", "Visitors"),
            now / 977 % 10_000_000,
            words.text(hash64(now), 3),
            hash64(now ^ 0xA5),
        ),
    );
}

fn footer(site: &FiniteSite, html: &mut String) {
    let words = site.words;
    put(
        html,
        format_args!(
            "<footer><p>{} | {} | {} 02-{:04}-{:04}</p>\n<p>Copyright {}. All rights reserved.</p></footer>\n",
            site.title(),
            words.sentence(words.draw(&[3])),
            words.t("전화", "Phone"),
            words.draw(&[4]) % 10_000,
            words.draw(&[5]) % 10_000,
            site.title(),
        ),
    );
}
