//! Forums whose threads have many pages.

use crate::finite::{FiniteSite, Link, Plan, Reply, Sheet, Target, paged};

#[derive(Debug)]
pub(crate) struct Forum {
    pub(crate) boards: u32,
    pub(crate) threads: u32,
    pub(crate) longest: u32,
}

const PER_LIST: u32 = 20;

impl Forum {
    /// How many pages a thread has.
    fn length(&self, site: &FiniteSite, thread: u32) -> u32 {
        let draw = site.words.draw(&[90, thread.into()]);
        1 + (draw % u64::from(self.longest)) as u32 * u32::from(draw.is_multiple_of(3))
    }

    fn lists(&self) -> u32 {
        self.threads.div_ceil(PER_LIST)
    }

    fn subject(site: &FiniteSite, thread: u32) -> String {
        site.words.sentence(site.words.draw(&[91, thread.into()]))
    }

    fn thread(&self, site: &FiniteSite, thread: u32, page: u32) -> Option<Sheet> {
        let last = self.length(site, thread);
        if thread >= self.boards * self.threads || !(1..=last).contains(&page) {
            return None;
        }
        let words = site.words;
        let board = thread / self.threads;
        let mut sheet =
            Sheet::new(Self::subject(site, thread)).under(format!("/f/{board}"), "board");
        for post in 0..4 {
            let draw = words.draw(&[92, thread.into(), page.into(), post]);
            sheet.h2(words.person(draw));
            sheet.p(words.text(draw, 1 + draw % 2));
        }
        sheet.pager(page, last, |page| paged(&format!("/t/{thread}"), page));
        Some(sheet)
    }
}

impl Plan for Forum {
    fn kind(&self) -> &'static str {
        "forum"
    }

    fn menu(&self, site: &FiniteSite) -> Vec<Link> {
        let boards = 0..self.boards;
        boards
            .map(|at| {
                (
                    format!("/f/{at}"),
                    site.words.name(site.words.draw(&[93, at.into()])),
                )
            })
            .collect()
    }

    fn reply(&self, site: &FiniteSite, at: &Target) -> Option<Reply> {
        let sheet = match *at.parts() {
            [] => Some(Sheet::new(site.words.t("토론방", "Forum"))),
            ["f", board] => {
                let board: u32 = board.parse().ok().filter(|board| *board < self.boards)?;
                let page = at.page().filter(|page| (1..=self.lists()).contains(page))?;
                let mut sheet = Sheet::new(format!("{} {board}", site.words.t("게시판", "Board")));
                let first = board * self.threads;
                let own = (page - 1) * PER_LIST..(page * PER_LIST).min(self.threads);
                sheet.list(own.map(|at| {
                    let thread = first + at;
                    (format!("/t/{thread}"), Self::subject(site, thread))
                }));
                sheet.pager(page, self.lists(), |page| {
                    paged(&format!("/f/{board}"), page)
                });
                Some(sheet)
            }
            ["t", thread] => self.thread(site, thread.parse().ok()?, at.page()?),
            _ => None,
        };
        sheet.map(Reply::Page)
    }

    fn pages(&self, site: &FiniteSite) -> Vec<String> {
        let mut pages = vec!["/".to_owned()];
        for board in 0..self.boards {
            let base = format!("/f/{board}");
            pages.extend((1..=self.lists()).map(|page| paged(&base, page)));
        }
        for thread in 0..self.boards * self.threads {
            let base = format!("/t/{thread}");
            pages.extend((1..=self.length(site, thread)).map(|page| paged(&base, page)));
        }
        pages
    }
}
