//! Shops: categories, list pages, items; a cart that robots.txt forbids and a
//! wish list that redirects.

use crate::finite::{FiniteSite, Link, Plan, Reply, Sheet, Target, paged};

/// What the items of a shop differ in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unlike {
    /// Name, price and picture; their descriptions are nearly the same.
    Usual,
    /// The price alone.
    Price,
    /// The picture alone.
    Picture,
    /// The number in the title alone.
    Number,
}

#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) categories: u32,
    pub(crate) lists: u32,
    pub(crate) per_list: u32,
    pub(crate) unlike: Unlike,
    /// Whether lists can be had in other orders.
    pub(crate) sorted: bool,
    /// Whether each item has a wish-list link, which redirects.
    pub(crate) wishes: bool,
    /// Whether addresses are those of a Korean mall's script.
    pub(crate) mall: bool,
}

const ORDERS: [&str; 3] = ["price", "new", "name"];

impl Shop {
    fn items(&self) -> u32 {
        self.categories * self.lists * self.per_list
    }

    fn item_path(&self, item: u32) -> String {
        if self.mall {
            format!("/goods/goods_view.php?goodsNo={}", 100_000 + item)
        } else {
            format!("/item/{item}")
        }
    }

    fn list_path(&self, category: u32, page: u32, order: Option<&str>) -> String {
        let base = if self.mall {
            format!("/goods/goods_list.php?cateCd={category:03}")
        } else {
            format!("/c/{category}")
        };
        let path = paged(&base, page);
        let mark = if path.contains('?') { '&' } else { '?' };
        match order {
            Some(order) => format!("{path}{mark}sort={order}"),
            None => path,
        }
    }

    fn category_name(site: &FiniteSite, category: u32) -> String {
        site.words.name(site.words.draw(&[20, u64::from(category)]))
    }

    fn item_name(&self, site: &FiniteSite, item: u32) -> String {
        let words = site.words;
        match self.unlike {
            Unlike::Usual => {
                format!("{} {item}", words.name(words.draw(&[21, u64::from(item)])))
            }
            Unlike::Price | Unlike::Picture => words.name(words.draw(&[21])),
            Unlike::Number => format!("{} No. {item}", words.name(words.draw(&[21]))),
        }
    }

    fn price(&self, site: &FiniteSite, item: u32) -> String {
        site.words.price(match self.unlike {
            Unlike::Usual | Unlike::Price => 900 + u64::from(item) * 7,
            Unlike::Picture | Unlike::Number => 4900,
        })
    }

    fn picture(&self, item: u32) -> String {
        match self.unlike {
            Unlike::Usual | Unlike::Picture => format!("/img/goods/{item}.png"),
            Unlike::Price | Unlike::Number => "/img/goods/all.png".to_owned(),
        }
    }

    fn list(&self, site: &FiniteSite, category: u32, page: u32, order: Option<&str>) -> Sheet {
        let words = site.words;
        let mut sheet = Sheet::new(Self::category_name(site, category));
        let start = ((category - 1) * self.lists + page - 1) * self.per_list;
        if self.sorted {
            for other in ORDERS {
                sheet.a(self.list_path(category, page, Some(other)), other);
            }
        }
        let mut items: Vec<u32> = (start + 1..=start + self.per_list).collect();
        if let Some(order) = order.and_then(|order| ORDERS.iter().position(|o| *o == order)) {
            items.sort_by_key(|item| words.draw(&[22 + order as u64, u64::from(*item)]));
        }
        sheet.list(items.into_iter().map(|item| {
            let text = format!("{} {}", self.item_name(site, item), self.price(site, item));
            (self.item_path(item), text)
        }));
        sheet.pager(page, self.lists, |page| {
            self.list_path(category, page, order)
        });
        sheet
    }

    fn item(&self, site: &FiniteSite, item: u32) -> Sheet {
        let words = site.words;
        let category = (item - 1) / (self.lists * self.per_list) + 1;
        let mut sheet = Sheet::new(self.item_name(site, item)).under(
            self.list_path(category, 1, None),
            Self::category_name(site, category),
        );
        sheet.img(self.picture(item), self.item_name(site, item));
        sheet.p(format!(
            "{}: {}",
            words.t("가격", "Price"),
            self.price(site, item)
        ));
        sheet.p(words.text(words.draw(&[23]), 4));
        sheet.a(
            format!("/cart?add={item}"),
            words.t("장바구니", "Add to cart"),
        );
        if self.wishes {
            sheet.a(format!("/wish?id={item}"), words.t("찜하기", "Wish list"));
        }
        sheet
    }
}

impl Plan for Shop {
    fn kind(&self) -> &'static str {
        match (self.unlike, self.mall) {
            (Unlike::Usual, false) => "shop",
            (Unlike::Usual, true) => "mall by script",
            (Unlike::Price, _) => "shop, price differs",
            (Unlike::Picture, _) => "shop, picture differs",
            (Unlike::Number, _) => "shop, number differs",
        }
    }

    fn forbidden(&self) -> &'static [&'static str] {
        &["/cart"]
    }

    fn menu(&self, site: &FiniteSite) -> Vec<Link> {
        let categories = (1..=self.categories)
            .map(|at| (self.list_path(at, 1, None), Self::category_name(site, at)));
        categories.collect()
    }

    fn reply(&self, site: &FiniteSite, at: &Target) -> Option<Reply> {
        let words = site.words;
        let category_and_item = match (&*at.parts(), self.mall) {
            ([], _) => {
                let mut sheet = Sheet::new(words.t("어서 오세요", "Welcome"));
                sheet.p(words.text(words.draw(&[24]), 3));
                return Some(Reply::Page(sheet));
            }
            (["login"], _) => {
                let mut sheet = Sheet::new(words.t("로그인", "Log in"));
                sheet.p(words.t("회원만 이용할 수 있습니다.", "For members only."));
                return Some(Reply::Page(sheet));
            }
            (["wish"], _) => return Some(Reply::Moved("/login".to_owned())),
            (["c", category], false) => (category.parse().ok(), None),
            (["item", item], false) => (None, item.parse().ok()),
            (["goods", "goods_list.php"], true) => (at.number("cateCd"), None),
            (["goods", "goods_view.php"], true) => (
                None,
                at.number("goodsNo")
                    .map(|number| number.saturating_sub(100_000)),
            ),
            _ => return None,
        };
        match category_and_item {
            (Some(category), _) => {
                let page = at.page()?;
                let is_there =
                    (1..=self.categories).contains(&category) && (1..=self.lists).contains(&page);
                let order = at.value("sort").filter(|order| ORDERS.contains(order));
                is_there.then(|| Reply::Page(self.list(site, category, page, order)))
            }
            (None, Some(item)) => (1..=self.items())
                .contains(&item)
                .then(|| Reply::Page(self.item(site, item))),
            (None, None) => None,
        }
    }

    fn pages(&self, _: &FiniteSite) -> Vec<String> {
        let mut pages = vec!["/".to_owned()];
        if self.wishes {
            pages.push("/login".to_owned());
        }
        for category in 1..=self.categories {
            for page in 1..=self.lists {
                pages.push(self.list_path(category, page, None));
                if self.sorted {
                    pages.extend(ORDERS.map(|order| self.list_path(category, page, Some(order))));
                }
            }
        }
        pages.extend((1..=self.items()).map(|item| self.item_path(item)));
        pages
    }
}
