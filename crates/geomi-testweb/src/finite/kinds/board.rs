//! Boards as Korean and other scripts make them: several boards, lists of
//! fifteen, posts with the one before and after.

use crate::finite::{FiniteSite, Link, Plan, Reply, Sheet, Target, paged};

/// Whose addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Script {
    /// `/bbs/board.php?bo_table=free&wr_id=12&page=3`
    Gnuboard,
    /// `/zboard/view.php?id=free&no=12`
    Zeroboard,
    /// `/viewtopic.php?f=2&t=33`
    Phpbb,
}

#[derive(Debug)]
pub(crate) struct Board {
    pub(crate) script: Script,
    pub(crate) boards: u32,
    pub(crate) posts: u32,
}

const PER_LIST: u32 = 15;
const NAMES: [&str; 8] = [
    "free", "qna", "notice", "gallery", "tips", "market", "review", "join",
];

impl Board {
    fn lists(&self) -> u32 {
        self.posts.div_ceil(PER_LIST)
    }

    fn list_path(&self, board: u32, page: u32) -> String {
        let name = NAMES[board as usize % NAMES.len()];
        let base = match self.script {
            Script::Gnuboard => format!("/bbs/board.php?bo_table={name}"),
            Script::Zeroboard => format!("/zboard/zboard.php?id={name}"),
            Script::Phpbb => format!("/viewforum.php?f={board}"),
        };
        paged(&base, page)
    }

    /// A post carries the number of the list that it stands in where the script
    /// has it so.
    fn post_path(&self, board: u32, post: u32) -> String {
        let name = NAMES[board as usize % NAMES.len()];
        match self.script {
            Script::Gnuboard => {
                let page = (self.posts - post) / PER_LIST + 1;
                format!("/bbs/board.php?bo_table={name}&wr_id={post}&page={page}")
            }
            Script::Zeroboard => format!("/zboard/view.php?id={name}&no={post}"),
            Script::Phpbb => {
                format!("/viewtopic.php?f={board}&t={}", board * self.posts + post)
            }
        }
    }

    fn subject(site: &FiniteSite, board: u32, post: u32) -> String {
        let draw = site.words.draw(&[30, board.into(), post.into()]);
        let words = [draw, draw >> 9, draw >> 18].map(|draw| site.words.word(draw));
        words.join(" ")
    }

    fn list(&self, site: &FiniteSite, board: u32, page: u32) -> Option<Sheet> {
        let newest = self.posts.checked_sub(page.checked_sub(1)? * PER_LIST)?;
        if newest == 0 {
            return None;
        }
        let mut sheet = Sheet::new(NAMES[board as usize % NAMES.len()]);
        let oldest = newest.saturating_sub(PER_LIST - 1).max(1);
        sheet.list((oldest..=newest).rev().map(|post| {
            let text = format!("{post}. {}", Self::subject(site, board, post));
            (self.post_path(board, post), text)
        }));
        sheet.pager(page, self.lists(), |page| self.list_path(board, page));
        Some(sheet)
    }

    fn post(&self, site: &FiniteSite, board: u32, post: u32) -> Option<Sheet> {
        if !(1..=self.posts).contains(&post) {
            return None;
        }
        let words = site.words;
        let draw = words.draw(&[31, board.into(), post.into()]);
        let mut sheet = Sheet::new(Self::subject(site, board, post)).under(
            self.list_path(board, 1),
            NAMES[board as usize % NAMES.len()],
        );
        sheet.p(format!(
            "{}: {} | {}: {} | 20{:02}-{:02}-{:02}",
            words.t("글쓴이", "Author"),
            words.person(draw),
            words.t("조회", "Views"),
            draw % 3000,
            10 + draw % 15,
            1 + (draw >> 8) % 12,
            1 + (draw >> 16) % 28,
        ));
        sheet.p(words.text(draw, 1 + draw % 4));
        sheet.neighbours(words, post, self.posts, |post| self.post_path(board, post));
        Some(sheet)
    }
}

impl Plan for Board {
    fn kind(&self) -> &'static str {
        match self.script {
            Script::Gnuboard => "board (gnuboard)",
            Script::Zeroboard => "board (zeroboard)",
            Script::Phpbb => "board (phpBB)",
        }
    }

    fn menu(&self, _: &FiniteSite) -> Vec<Link> {
        let boards = 0..self.boards;
        boards
            .map(|board| {
                let name = NAMES[board as usize % NAMES.len()].to_owned();
                (self.list_path(board, 1), name)
            })
            .collect()
    }

    fn reply(&self, site: &FiniteSite, at: &Target) -> Option<Reply> {
        let name = |key: &str| {
            let name = at.value(key)?;
            let board = NAMES.iter().position(|own| *own == name)? as u32;
            (board < self.boards).then_some(board)
        };
        let sheet = match (self.script, &*at.parts()) {
            (_, []) => {
                let mut sheet = Sheet::new(site.words.t("모임 첫 화면", "Our club"));
                sheet.p(site.words.text(site.words.draw(&[32]), 3));
                Some(sheet)
            }
            (Script::Gnuboard, ["bbs", "board.php"]) => match at.number("wr_id") {
                Some(post) => self.post(site, name("bo_table")?, post),
                None => self.list(site, name("bo_table")?, at.page()?),
            },
            (Script::Zeroboard, ["zboard", "zboard.php"]) => {
                self.list(site, name("id")?, at.page()?)
            }
            (Script::Zeroboard, ["zboard", "view.php"]) => {
                self.post(site, name("id")?, at.number("no")?)
            }
            (Script::Phpbb, ["viewforum.php"]) => {
                let board = at.number("f").filter(|board| *board < self.boards)?;
                self.list(site, board, at.page()?)
            }
            (Script::Phpbb, ["viewtopic.php"]) => {
                let board = at.number("f").filter(|board| *board < self.boards)?;
                self.post(
                    site,
                    board,
                    at.number("t")?.checked_sub(board * self.posts)?,
                )
            }
            _ => None,
        };
        sheet.map(Reply::Page)
    }

    fn pages(&self, _: &FiniteSite) -> Vec<String> {
        let mut pages = vec!["/".to_owned()];
        for board in 0..self.boards {
            pages.extend((1..=self.lists()).map(|page| self.list_path(board, page)));
            pages.extend((1..=self.posts).map(|post| self.post_path(board, post)));
        }
        pages
    }
}
