//! Words for sites that look written: Korean or English, drawn by number.

use std::sync::OnceLock;

use crate::dice::hash64;
use crate::text::{ENGLISH, KOREAN, Language};

/// The language of a site and what its draws begin from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    pub(crate) language: Language,
    pub(crate) seed: u64,
}

const KINDS_EN: [&str; 12] = [
    "Canvas", "Oak", "Steel", "Cotton", "Classic", "Compact", "Northern", "Garden", "Travel",
    "Studio", "Harbor", "Winter",
];
const THINGS_EN: [&str; 16] = [
    "bag", "chair", "lamp", "notebook", "jacket", "kettle", "bench", "blanket", "clock", "mirror",
    "basket", "shelf", "bottle", "scarf", "table", "camera",
];
const KINDS_KO: [&str; 12] = [
    "면",
    "원목",
    "스테인리스",
    "린넨",
    "클래식",
    "휴대용",
    "겨울용",
    "정원",
    "여행용",
    "작업실",
    "항구",
    "봄맞이",
];
const THINGS_KO: [&str; 16] = [
    "가방",
    "의자",
    "조명",
    "공책",
    "재킷",
    "주전자",
    "벤치",
    "담요",
    "시계",
    "거울",
    "바구니",
    "선반",
    "물병",
    "목도리",
    "식탁",
    "카메라",
];
const PEOPLE_EN: [&str; 10] = [
    "Alice Moon",
    "Tom Reed",
    "Sara Kim",
    "Jonas Vale",
    "Mina Park",
    "Paul Hart",
    "Nora Lind",
    "Ben Okoro",
    "Eva Cruz",
    "Ian Shaw",
];
const PEOPLE_KO: [&str; 10] = [
    "김민수",
    "이서연",
    "박지훈",
    "최유진",
    "정하늘",
    "강도윤",
    "조은비",
    "윤재호",
    "장미란",
    "임수빈",
];

impl Words {
    /// A number drawn for these.
    pub(crate) fn draw(self, of: &[u64]) -> u64 {
        let start = hash64(self.seed);
        of.iter().fold(start, |draw, part| {
            hash64(draw ^ part.wrapping_mul(0x51_7C_C1))
        })
    }

    /// The text for this language.
    pub(crate) fn t(self, korean: &'static str, english: &'static str) -> &'static str {
        match self.language {
            Language::Korean => korean,
            Language::English => english,
        }
    }

    pub(crate) fn word(self, draw: u64) -> &'static str {
        let words = vocabulary(self.language);
        words[draw as usize % words.len()]
    }

    /// A sentence of six to fourteen words.
    pub(crate) fn sentence(self, draw: u64) -> String {
        let count = 6 + draw % 9;
        let words: Vec<&str> = (0..count)
            .map(|at| self.word(hash64(draw.wrapping_add(at * 7919))))
            .collect();
        words.join(" ") + "."
    }

    pub(crate) fn text(self, draw: u64, sentences: u64) -> String {
        let all: Vec<String> = (0..sentences)
            .map(|at| self.sentence(hash64(draw.wrapping_add(at * 104_729))))
            .collect();
        all.join(" ")
    }

    /// The name of a thing.
    pub(crate) fn name(self, draw: u64) -> String {
        let (kinds, things) = match self.language {
            Language::Korean => (KINDS_KO, THINGS_KO),
            Language::English => (KINDS_EN, THINGS_EN),
        };
        let kind = kinds[draw as usize % kinds.len()];
        let thing = things[(draw >> 16) as usize % things.len()];
        format!("{kind} {thing}")
    }

    pub(crate) fn person(self, draw: u64) -> &'static str {
        let people = match self.language {
            Language::Korean => PEOPLE_KO,
            Language::English => PEOPLE_EN,
        };
        people[draw as usize % people.len()]
    }

    /// A price with the currency of the language.
    pub(crate) fn price(self, number: u64) -> String {
        match self.language {
            Language::Korean => format!("{}원", number * 100),
            Language::English => format!("${}.{:02}", number / 100, number % 100),
        }
    }
}

fn vocabulary(language: Language) -> &'static [&'static str] {
    static LISTS: [OnceLock<Vec<&'static str>>; 2] = [OnceLock::new(), OnceLock::new()];
    LISTS[language as usize].get_or_init(|| {
        let words = match language {
            Language::Korean => KOREAN,
            Language::English => ENGLISH,
        };
        words.split_whitespace().collect()
    })
}
