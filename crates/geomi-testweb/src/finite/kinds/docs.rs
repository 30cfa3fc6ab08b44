//! Documentation in versions: the same text in each but for a line.

use crate::finite::{FiniteSite, Link, Plan, Reply, Sheet, Target};

#[derive(Debug)]
pub(crate) struct Docs {
    pub(crate) versions: u32,
    pub(crate) parts: u32,
    pub(crate) pages_per_part: u32,
}

const PARTS: [&str; 8] = [
    "guide",
    "reference",
    "howto",
    "api",
    "cli",
    "config",
    "errors",
    "internals",
];

impl Docs {
    fn path(version: u32, part: u32, page: u32) -> String {
        format!("/v{version}/{}/topic-{page}", PARTS[part as usize])
    }

    fn all(&self) -> impl Iterator<Item = (u32, u32)> + use<'_> {
        (0..self.parts).flat_map(|part| (1..=self.pages_per_part).map(move |page| (part, page)))
    }

    fn topic(&self, site: &FiniteSite, version: u32, part: u32, page: u32) -> Sheet {
        let words = site.words;
        let draw = words.draw(&[60, part.into(), page.into()]);
        let mut sheet = Sheet::new(format!("{} {page}", words.name(draw)))
            .under(format!("/v{version}/"), format!("v{version}"));
        sheet.p(words.text(draw, 12));
        sheet.p(format!(
            "{} {version}.{}",
            words.t("판", "Version"),
            version * 3 % 7
        ));
        for other in 1..=self.versions {
            sheet.a(Self::path(other, part, page), format!("v{other}"));
        }
        sheet.neighbours(words, page, self.pages_per_part, |page| {
            Self::path(version, part, page)
        });
        sheet
    }
}

impl Plan for Docs {
    fn kind(&self) -> &'static str {
        "documentation"
    }

    fn menu(&self, _: &FiniteSite) -> Vec<Link> {
        let versions = 1..=self.versions;
        versions
            .map(|version| (format!("/v{version}/"), format!("v{version}")))
            .collect()
    }

    fn reply(&self, site: &FiniteSite, at: &Target) -> Option<Reply> {
        let version = |text: &str| {
            let version = text.strip_prefix('v')?.parse::<u32>().ok()?;
            (1..=self.versions).contains(&version).then_some(version)
        };
        let sheet = match *at.parts() {
            [] => Sheet::new(site.words.t("설명서", "Documentation")),
            [name] => {
                let version = version(name)?;
                let mut sheet = Sheet::new(name);
                sheet.list(self.all().map(|(part, page)| {
                    let path = Self::path(version, part, page);
                    let text = path.clone();
                    (path, text)
                }));
                sheet
            }
            [name, part, topic] => {
                let part = PARTS.iter().position(|own| *own == part)? as u32;
                let page = topic.strip_prefix("topic-")?.parse().ok()?;
                if part >= self.parts || !(1..=self.pages_per_part).contains(&page) {
                    return None;
                }
                self.topic(site, version(name)?, part, page)
            }
            _ => return None,
        };
        Some(Reply::Page(sheet))
    }

    fn pages(&self, _: &FiniteSite) -> Vec<String> {
        let mut pages = vec!["/".to_owned()];
        for version in 1..=self.versions {
            pages.push(format!("/v{version}/"));
            pages.extend(
                self.all()
                    .map(|(part, page)| Self::path(version, part, page)),
            );
        }
        pages
    }
}
