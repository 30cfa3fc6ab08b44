//! Directories of businesses by region and trade.

use crate::finite::{FiniteSite, Link, Plan, Reply, Sheet, Target, paged};

#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) regions: u32,
    pub(crate) trades: u32,
    pub(crate) businesses: u32,
}

const PER_LIST: u32 = 10;
const REGIONS_KO: [&str; 12] = [
    "서울", "부산", "대구", "인천", "광주", "대전", "울산", "세종", "경기", "강원", "전주", "제주",
];
const REGIONS_EN: [&str; 12] = [
    "north",
    "south",
    "east",
    "west",
    "harbor",
    "oldtown",
    "riverside",
    "hills",
    "campus",
    "station",
    "market",
    "island",
];
const TRADES: [&str; 14] = [
    "food", "hair", "cars", "law", "dentist", "books", "bank", "hotel", "school", "florist",
    "bakery", "gym", "tailor", "vet",
];

impl Directory {
    fn region(site: &FiniteSite, region: u32) -> &'static str {
        site.words
            .t(REGIONS_KO[region as usize], REGIONS_EN[region as usize])
    }

    fn list_path(site: &FiniteSite, region: u32, trade: u32) -> String {
        format!(
            "/{}/{}/",
            Self::region(site, region),
            TRADES[trade as usize]
        )
    }

    fn path(site: &FiniteSite, region: u32, trade: u32, business: u32) -> String {
        format!("{}{business}", Self::list_path(site, region, trade))
    }

    fn lists(&self) -> u32 {
        self.businesses.div_ceil(PER_LIST)
    }

    fn list(&self, site: &FiniteSite, (region, trade): (u32, u32), page: u32) -> Option<Sheet> {
        if !(1..=self.lists()).contains(&page) {
            return None;
        }
        let mut sheet = Sheet::new(format!(
            "{} {}",
            Self::region(site, region),
            TRADES[trade as usize]
        ));
        let first = (page - 1) * PER_LIST + 1;
        let own = first..(first + PER_LIST).min(self.businesses + 1);
        sheet.list(own.map(|at| {
            let name =
                site.words.name(
                    site.words
                        .draw(&[70, region.into(), trade.into(), at.into()]),
                );
            (Self::path(site, region, trade, at), name)
        }));
        let base = Self::list_path(site, region, trade);
        sheet.pager(page, self.lists(), |page| paged(&base, page));
        Some(sheet)
    }

    fn business(&self, site: &FiniteSite, (region, trade): (u32, u32), at: u32) -> Option<Sheet> {
        if !(1..=self.businesses).contains(&at) {
            return None;
        }
        let words = site.words;
        let draw = words.draw(&[70, region.into(), trade.into(), at.into()]);
        let mut sheet = Sheet::new(words.name(draw))
            .under(
                format!("/{}/", Self::region(site, region)),
                Self::region(site, region),
            )
            .under(Self::list_path(site, region, trade), TRADES[trade as usize]);
        sheet.p(format!(
            "{}: 0{}-{:04}-{:04}",
            words.t("전화", "Phone"),
            draw % 90,
            (draw >> 8) % 9999,
            (draw >> 24) % 9999
        ));
        sheet.p(format!(
            "{}: {} {}",
            words.t("주소", "Address"),
            Self::region(site, region),
            (draw >> 40) % 400
        ));
        Some(sheet)
    }
}

impl Plan for Directory {
    fn kind(&self) -> &'static str {
        "directory"
    }

    fn menu(&self, site: &FiniteSite) -> Vec<Link> {
        let regions = (0..self.regions).map(|region| Self::region(site, region));
        regions
            .map(|name| (format!("/{name}/"), name.to_owned()))
            .collect()
    }

    fn reply(&self, site: &FiniteSite, at: &Target) -> Option<Reply> {
        let region = |name: &str| (0..self.regions).find(|at| Self::region(site, *at) == name);
        let trade = |name: &str| (0..self.trades).find(|at| TRADES[*at as usize] == name);
        let sheet = match *at.parts() {
            [] => Some(Sheet::new(site.words.t("업체 찾기", "Find a business"))),
            [name] => {
                let region = region(name)?;
                let mut sheet = Sheet::new(name);
                sheet.list((0..self.trades).map(|trade| {
                    (
                        Self::list_path(site, region, trade),
                        TRADES[trade as usize].to_owned(),
                    )
                }));
                Some(sheet)
            }
            [place, name] => self.list(site, (region(place)?, trade(name)?), at.page()?),
            [place, name, number] => {
                self.business(site, (region(place)?, trade(name)?), number.parse().ok()?)
            }
            _ => None,
        };
        sheet.map(Reply::Page)
    }

    fn pages(&self, site: &FiniteSite) -> Vec<String> {
        let mut pages = vec!["/".to_owned()];
        for region in 0..self.regions {
            pages.push(format!("/{}/", Self::region(site, region)));
            for trade in 0..self.trades {
                let base = Self::list_path(site, region, trade);
                pages.extend((1..=self.lists()).map(|page| paged(&base, page)));
                let own = 1..=self.businesses;
                pages.extend(own.map(|at| Self::path(site, region, trade, at)));
            }
        }
        pages
    }
}
