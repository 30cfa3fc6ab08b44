//! The collection: which finite sites there are.

use std::sync::Arc;

use super::kinds::blog::Blog;
use super::kinds::board::{Board, Script};
use super::kinds::directory::Directory;
use super::kinds::docs::Docs;
use super::kinds::events::Events;
use super::kinds::forum::Forum;
use super::kinds::gallery::Gallery;
use super::kinds::newspaper::Newspaper;
use super::kinds::numbered::{Numbered, Reached, Says};
use super::kinds::old::Old;
use super::kinds::recipes::Recipes;
use super::kinds::shop::{Shop, Unlike};
use super::kinds::tree::Tree;
use super::kinds::wiki::Wiki;
use super::{FiniteSite, Look, Plan, Words};
use crate::text::Language;

impl FiniteSite {
    /// The whole collection, about half of it Korean, from 8 to 20,000 pages.
    pub fn collection() -> Vec<Self> {
        let mut all = Shelf::default();
        shops(&mut all);
        boards(&mut all);
        by_date(&mut all);
        knowledge(&mut all);
        pictures_and_series(&mut all);
        numbers(&mut all);
        little_text(&mut all);
        ways(&mut all);
        folders(&mut all);
        far(&mut all);
        all.0
    }

    pub(crate) fn new(plan: impl Plan + 'static, language: Language, seed: u64) -> Self {
        Self {
            plan: Arc::new(plan),
            words: Words { language, seed },
            look: Look::Usual,
            door: None,
        }
    }
}

/// The sites so far; languages take turns.
#[derive(Default)]
struct Shelf(Vec<FiniteSite>);

impl Shelf {
    fn put(&mut self, plan: impl Plan + 'static) -> &mut FiniteSite {
        let number = self.0.len();
        let language = if number.is_multiple_of(2) {
            Language::Korean
        } else {
            Language::English
        };
        self.0
            .push(FiniteSite::new(plan, language, 1000 + number as u64));
        &mut self.0[number]
    }
}

pub(super) fn shop(categories: u32, lists: u32, per_list: u32) -> Shop {
    Shop {
        categories,
        lists,
        per_list,
        unlike: Unlike::Usual,
        sorted: false,
        wishes: true,
        mall: false,
    }
}

fn shops(all: &mut Shelf) {
    all.put(shop(5, 4, 10));
    all.put(Shop {
        sorted: true,
        ..shop(8, 5, 20)
    });
    all.put(Shop {
        unlike: Unlike::Price,
        ..shop(5, 10, 12)
    });
    all.put(Shop {
        unlike: Unlike::Picture,
        ..shop(4, 10, 10)
    });
    all.put(Shop {
        unlike: Unlike::Number,
        ..shop(6, 8, 10)
    });
    all.put(shop(20, 48, 20));
    all.put(Shop {
        mall: true,
        ..shop(6, 6, 15)
    });
    all.put(shop(2, 1, 3));
    all.put(Shop {
        mall: true,
        sorted: true,
        ..shop(4, 5, 12)
    });
    all.put(Shop {
        unlike: Unlike::Price,
        sorted: true,
        ..shop(3, 4, 8)
    });
    all.put(shop(8, 8, 15));
}

fn boards(all: &mut Shelf) {
    for (script, boards, posts) in [
        (Script::Phpbb, 5, 300),
        (Script::Gnuboard, 4, 120),
        (Script::Zeroboard, 3, 90),
        (Script::Gnuboard, 6, 600),
        (Script::Phpbb, 2, 40),
        (Script::Zeroboard, 5, 400),
    ] {
        all.put(Board {
            script,
            boards,
            posts,
        });
    }
    all.put(Forum {
        boards: 3,
        threads: 40,
        longest: 5,
    });
    all.put(Forum {
        boards: 6,
        threads: 200,
        longest: 12,
    });
}

fn by_date(all: &mut Shelf) {
    for (posts, first_year, years) in [
        (120, 2019, 3),
        (336, 2014, 5),
        (700, 2008, 10),
        (1200, 2006, 12),
    ] {
        all.put(Blog {
            posts,
            first_year,
            years,
        });
    }
    all.put(Newspaper {
        first_year: 2024,
        years: 1,
    });
    all.put(Newspaper {
        first_year: 2015,
        years: 4,
    });
    all.put(Events {
        first_year: 2024,
        years: 2,
        by_query: false,
        only_first: None,
    });
    all.put(Events {
        first_year: 2022,
        years: 3,
        by_query: true,
        only_first: None,
    });
}

fn knowledge(all: &mut Shelf) {
    for articles in [100, 600, 2500] {
        all.put(Wiki { articles });
    }
    for (versions, parts, pages_per_part) in [(3, 2, 12), (6, 4, 25), (8, 6, 40)] {
        all.put(Docs {
            versions,
            parts,
            pages_per_part,
        });
    }
    all.put(Directory {
        regions: 6,
        trades: 6,
        businesses: 8,
    });
    all.put(Directory {
        regions: 12,
        trades: 14,
        businesses: 30,
    });
    all.put(Recipes { recipes: 60 });
    all.put(Recipes { recipes: 150 });
}

pub(super) fn numbered(kind: &'static str, count: u32, says: Says, reached: Reached) -> Numbered {
    Numbered {
        kind,
        before: "/p/",
        after: "",
        list: "/list",
        count,
        says,
        reached,
    }
}

fn pictures_and_series(all: &mut Shelf) {
    all.put(Gallery {
        photos: 60,
        index: true,
    });
    all.put(Gallery {
        photos: 1500,
        index: true,
    });
    all.put(Gallery {
        photos: 400,
        index: false,
    });
    let serial = |kind, count, says| Numbered {
        before: "/read/",
        after: ".html",
        ..numbered(kind, count, says, Reached::Chain)
    };
    all.put(serial("serial novel", 500, Says::Chapter));
    all.put(serial("web comic", 800, Says::Comic));
    all.put(serial("serial novel", 1200, Says::Chapter));
    all.put(serial("serial novel", 3000, Says::Chapter));
    all.put(serial("web comic", 1500, Says::Comic));
}

fn numbers(all: &mut Shelf) {
    let parts = |count, per| Numbered {
        before: "/parts/",
        list: "/parts",
        ..numbered("part catalogue", count, Says::Figures, Reached::Lists(per))
    };
    all.put(parts(1200, 30));
    all.put(parts(20_000, 40));
    all.put(Numbered {
        before: "/patent?number=",
        list: "/patents",
        ..numbered("patents, a chain", 900, Says::Figures, Reached::Chain)
    });
    let script = |count| Numbered {
        before: "/index.php?act=view&id=",
        list: "/index.php?act=list",
        ..numbered("single script", count, Says::Article, Reached::Lists(20))
    };
    all.put(script(300));
    all.put(script(1500));
}

fn little_text(all: &mut Shelf) {
    let soon = |count, reached| numbered("says nearly nothing", count, Says::Soon, reached);
    all.put(soon(7, Reached::Front));
    all.put(soon(120, Reached::Lists(10)));
    all.put(soon(400, Reached::Front));
    all.put(numbered("questions", 200, Says::Question, Reached::Front));
    all.put(numbered(
        "questions",
        700,
        Says::Question,
        Reached::Lists(25),
    ));
    let profiles = |count| Numbered {
        before: "/user/",
        list: "/members",
        ..numbered("profiles", count, Says::Profile, Reached::Lists(50))
    };
    all.put(profiles(500));
    all.put(profiles(5000));
    for count in [150, 600] {
        all.put(numbered(
            "large menu",
            count,
            Says::Line,
            Reached::Lists(20),
        ))
        .look = Look::Heavy;
    }
    for count in [200, 1000] {
        all.put(numbered(
            "clock and counter",
            count,
            Says::Line,
            Reached::Lists(20),
        ))
        .look = Look::Noisy;
    }
    for posts in [40, 300] {
        let site = all.put(Old { posts });
        site.look = Look::Old;
        site.words.language = Language::Korean;
    }
    all.put(numbered("bare pages", 350, Says::Line, Reached::Front))
        .look = Look::Bare;
}

fn ways(all: &mut Shelf) {
    for count in [150, 1200] {
        all.put(numbered(
            "sitemap alone",
            count,
            Says::Article,
            Reached::Sitemap,
        ));
    }
    for count in [250, 900] {
        let plan = numbered(
            "redirect to each",
            count,
            Says::Article,
            Reached::Redirects(25),
        );
        all.put(Numbered {
            before: "/item/",
            ..plan
        });
    }
    for count in [400, 3000] {
        all.put(numbered(
            "related at random",
            count,
            Says::Article,
            Reached::Related(40),
        ));
    }
    all.put(numbered(
        "long pagination",
        10_000,
        Says::Article,
        Reached::NextList(5),
    ));
    all.put(numbered(
        "long pagination",
        1500,
        Says::Line,
        Reached::Lists(5),
    ));
}

fn folders(all: &mut Shelf) {
    for (depth, branches, leaf) in [
        (9, 2, false),
        (6, 3, true),
        (7, 3, false),
        (1, 300, true),
        (1, 40, true),
    ] {
        all.put(Tree {
            depth,
            branches,
            leaf,
            alike: false,
        });
    }
}

/// Sites that end further out than a guess reaches.
fn far(all: &mut Shelf) {
    // Its numbers come past those of years.
    all.put(Numbered {
        before: "/",
        after: "/",
        ..numbered("web comic by number", 2_600, Says::Comic, Reached::Chain)
    });
    all.put(Tree {
        depth: 6,
        branches: 3,
        leaf: false,
        alike: true,
    });
    all.put(Events {
        first_year: 1990,
        years: 35,
        by_query: true,
        only_first: Some(60),
    });
}
