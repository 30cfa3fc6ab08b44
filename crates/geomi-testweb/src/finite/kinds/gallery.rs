//! Picture galleries: a picture on each page and hardly a word; a chain of
//! pages, with or without an index of thumbnails.

use crate::finite::{FiniteSite, Link, Plan, Reply, Sheet, Target, paged};

#[derive(Debug)]
pub(crate) struct Gallery {
    pub(crate) photos: u32,
    pub(crate) index: bool,
}

const PER_LIST: u32 = 24;

impl Gallery {
    fn path(photo: u32) -> String {
        format!("/photo.html?no={photo}")
    }

    fn lists(&self) -> u32 {
        self.photos.div_ceil(PER_LIST)
    }
}

impl Plan for Gallery {
    fn kind(&self) -> &'static str {
        if self.index {
            "gallery"
        } else {
            "gallery, a chain"
        }
    }

    fn menu(&self, site: &FiniteSite) -> Vec<Link> {
        let (path, text) = if self.index {
            ("/thumbs".to_owned(), site.words.t("목록", "Index"))
        } else {
            (Self::path(1), site.words.t("보기", "View"))
        };
        vec![(path, text.to_owned())]
    }

    fn reply(&self, site: &FiniteSite, at: &Target) -> Option<Reply> {
        let sheet = match *at.parts() {
            [] => Sheet::new(site.words.t("사진", "Photos")),
            ["thumbs"] if self.index => {
                let page = at.page().filter(|page| (1..=self.lists()).contains(page))?;
                let mut sheet = Sheet::new(site.words.t("목록", "Index"));
                let first = (page - 1) * PER_LIST + 1;
                for photo in first..(first + PER_LIST).min(self.photos + 1) {
                    sheet.img(format!("/img/small/{photo}.png"), "");
                    sheet.a(Self::path(photo), photo);
                }
                sheet.pager(page, self.lists(), |page| paged("/thumbs", page));
                sheet
            }
            ["photo.html"] => {
                let photo = at
                    .number("no")
                    .filter(|no| (1..=self.photos).contains(no))?;
                let mut sheet = Sheet::new(site.words.t("사진", "Photo"));
                sheet.img(format!("/img/large/{photo}.png"), "");
                sheet.neighbours(site.words, photo, self.photos, Self::path);
                sheet
            }
            _ => return None,
        };
        Some(Reply::Page(sheet))
    }

    fn pages(&self, _: &FiniteSite) -> Vec<String> {
        let mut pages = vec!["/".to_owned()];
        if self.index {
            pages.extend((1..=self.lists()).map(|page| paged("/thumbs", page)));
        }
        pages.extend((1..=self.photos).map(Self::path));
        pages
    }
}
