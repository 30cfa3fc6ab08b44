//! Small sites to stand beside something endless.

use super::FiniteSite;
use super::catalogue::{numbered, shop as shop_of};
use super::kinds::blog::Blog;
use super::kinds::board::{Board, Script};
use super::kinds::docs::Docs;
use super::kinds::gallery::Gallery;
use super::kinds::numbered::{Reached, Says};
use super::kinds::shop::Shop;
use crate::text::Language;

/// Items of [`shop`].
pub(crate) const SHOP_ITEMS: u32 = 4 * 3 * 10;

pub(crate) fn shop(language: Language, seed: u64) -> FiniteSite {
    let plan = Shop {
        wishes: false,
        ..shop_of(4, 3, 10)
    };
    FiniteSite::new(plan, language, seed)
}

pub(crate) fn board(language: Language, seed: u64) -> FiniteSite {
    let plan = Board {
        script: Script::Zeroboard,
        boards: 2,
        posts: 25,
    };
    FiniteSite::new(plan, language, seed)
}

pub(crate) fn docs(language: Language, seed: u64) -> FiniteSite {
    let plan = Docs {
        versions: 2,
        parts: 2,
        pages_per_part: 10,
    };
    FiniteSite::new(plan, language, seed)
}

pub(crate) fn gallery(language: Language, seed: u64) -> FiniteSite {
    let plan = Gallery {
        photos: 50,
        index: true,
    };
    FiniteSite::new(plan, language, seed)
}

pub(crate) fn blog(language: Language, seed: u64) -> FiniteSite {
    let plan = Blog {
        posts: 40,
        first_year: 2024,
        years: 2,
    };
    FiniteSite::new(plan, language, seed)
}

pub(crate) fn questions(language: Language, seed: u64) -> FiniteSite {
    let plan = numbered("questions", 80, Says::Question, Reached::Lists(20));
    FiniteSite::new(plan, language, seed)
}
