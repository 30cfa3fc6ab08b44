//! Old Korean sites: EUC-KR, frames, relative links.

use crate::finite::{FiniteSite, Link, Plan, Reply, Sheet, Target};

#[derive(Debug)]
pub(crate) struct Old {
    pub(crate) posts: u32,
}

const PER_LIST: u32 = 12;
const ROOMS: [&str; 4] = ["intro", "history", "greeting", "map"];

impl Old {
    fn lists(&self) -> u32 {
        self.posts.div_ceil(PER_LIST)
    }

    fn list(&self, site: &FiniteSite, page: u32) -> Sheet {
        let mut sheet = Sheet::new("게시판");
        let first = (page - 1) * PER_LIST + 1;
        // Relative to /cgi-bin/.
        for post in first..(first + PER_LIST).min(self.posts + 1) {
            let subject = site.words.sentence(site.words.draw(&[120, post.into()]));
            sheet.a(format!("read.cgi?db=bbs&no={post}"), subject);
        }
        sheet.neighbours(site.words, page, self.lists(), |page| {
            format!("list.cgi?db=bbs&pg={page}")
        });
        sheet
    }
}

impl Plan for Old {
    fn kind(&self) -> &'static str {
        "old EUC-KR frames"
    }

    fn menu(&self, _: &FiniteSite) -> Vec<Link> {
        Vec::new()
    }

    fn reply(&self, site: &FiniteSite, at: &Target) -> Option<Reply> {
        let words = site.words;
        let sheet = match *at.parts() {
            [] => {
                let mut sheet = Sheet::new("홈페이지");
                sheet.main.push_str(
                    "<frameset cols=\"180,*\">\n<frame src=\"menu.html\">\n\
                     <frame src=\"main.html\">\n</frameset>\n",
                );
                sheet
            }
            ["menu.html"] => {
                let mut sheet = Sheet::new("차례");
                for room in ROOMS {
                    sheet.a(format!("{room}.html"), room);
                }
                sheet.a("cgi-bin/list.cgi?db=bbs&pg=1", "게시판");
                sheet
            }
            ["main.html"] => {
                let mut sheet = Sheet::new("환영합니다");
                sheet.p(words.text(words.draw(&[121]), 3));
                sheet
            }
            ["cgi-bin", "list.cgi"] => {
                let page = at
                    .number("pg")
                    .filter(|page| (1..=self.lists()).contains(page))?;
                self.list(site, page)
            }
            ["cgi-bin", "read.cgi"] => {
                let post = at
                    .number("no")
                    .filter(|post| (1..=self.posts).contains(post))?;
                let draw = words.draw(&[120, post.into()]);
                let mut sheet = Sheet::new(words.sentence(draw));
                sheet.p(words.text(draw, 2));
                sheet.neighbours(words, post, self.posts, |post| {
                    format!("read.cgi?db=bbs&no={post}")
                });
                sheet
            }
            [name] => {
                let room = name
                    .strip_suffix(".html")
                    .filter(|room| ROOMS.contains(room))?;
                let mut sheet = Sheet::new(room);
                sheet.p(words.text(words.draw(&[122, room.len() as u64]), 5));
                sheet
            }
            _ => return None,
        };
        Some(Reply::Page(sheet))
    }

    fn pages(&self, _: &FiniteSite) -> Vec<String> {
        let mut pages: Vec<String> = ["/", "/menu.html", "/main.html"].map(str::to_owned).into();
        pages.extend(ROOMS.map(|room| format!("/{room}.html")));
        pages.extend((1..=self.lists()).map(|page| format!("/cgi-bin/list.cgi?db=bbs&pg={page}")));
        pages.extend((1..=self.posts).map(|post| format!("/cgi-bin/read.cgi?db=bbs&no={post}")));
        pages
    }
}
