//! Text to fill pages with.
//!
//! A [`Pool`] holds sentences of one language, already in the bytes of one
//! encoding. Pages take slices of it: copying a few hundred bytes is all a
//! paragraph costs. Words are drawn by Zipf's law from real vocabulary and
//! from made-up words for the tail, which makes the text compress about as
//! well as real pages do.

use crate::charset::Encoding;
use crate::dice::{Dice, Draw};

const POOL_BYTES: usize = 384 * 1024;

pub(crate) const ENGLISH: &str = "the of and to in a is that for it on was with as by at from are this be an or his \
which have not had their one were all has when there who been more if no out so what time up said about \
other into than its only some could new them man two may then do first any my now such like our over me \
even most made after also did many before must through back years where much your way well down should \
because each just those people how too little state good very make world still own see men work long get \
here between both life being under never day same another know while last might us great old year off \
come since against go came right used take three price market city weather music school report travel \
ticket season house garden water light table letter story village river mountain bridge library";

pub(crate) const KOREAN: &str = "이 그 것 수 등 및 년 월 일 사람 우리 나라 시간 문제 사회 생활 세계 정부 경제 시장 회사 학교 교육 \
학생 선생님 친구 가족 아이 여자 남자 어머니 아버지 집 길 물 산 바다 하늘 바람 나무 꽃 봄 여름 가을 겨울 아침 \
저녁 오늘 내일 어제 서울 부산 대구 광주 제주 한국 지역 도시 마을 시민 행사 공연 영화 음악 책 신문 방송 소식 기사 \
사진 가격 상품 주문 배송 할인 구매 고객 안내 이용 검색 결과 정보 자료 연구 개발 기술 과학 컴퓨터 인터넷 전화 \
새로운 좋은 많은 큰 작은 높은 오래된 아름다운 중요한 다양한 있다 없다 하다 되다 보다 가다 오다 주다 받다 \
만들다 생각하다 시작하다 그리고 그러나 하지만 또한 때문에 위하여 대하여 통하여 함께 다시 이미 아직 매우 가장";

/// Words with syllables that CP949 has and KS X 1001 lacks.
const CP949_ONLY: &str = "똠방각하 펲시콜라 찦차 쓩쓩 뷁 햏자 홰칰";

const LATIN_SYLLABLES: [&str; 24] = [
    "ba", "cor", "del", "en", "fi", "gra", "hol", "in", "jo", "ka", "lum", "mi", "nor", "o", "pra",
    "qui", "ran", "sel", "ti", "un", "ver", "wo", "xa", "zen",
];
const HANGUL_SYLLABLES: &str = "가나다라마바사아자차하거너더러머버서어저고노도로모보소오조구누두루무부수우주기니디리미비시이지";

/// Sentences in one language and one encoding.
pub(crate) struct Pool {
    bytes: Vec<u8>,
    /// Where sentences start.
    starts: Vec<u32>,
}

/// The language of a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    English,
    Korean,
}

impl Pool {
    pub(crate) fn new(seed: u64, language: Language, encoding: Encoding) -> Self {
        let mut dice = Dice::new(seed, Draw::Pool, [language as u64]);
        let words = vocabulary(language, encoding, &mut dice);
        let mut pool = Self {
            bytes: Vec::with_capacity(POOL_BYTES + 1024),
            starts: Vec::new(),
        };
        let mut sentence = String::new();
        while pool.bytes.len() < POOL_BYTES {
            pool.starts.push(pool.bytes.len() as u32);
            sentence.clear();
            for _ in 0..6 + dice.below(12) {
                sentence.push_str(zipf_word(&words, &mut dice));
                sentence.push(' ');
            }
            sentence.pop();
            sentence.push_str(". ");
            encoding.encode(&sentence, &mut pool.bytes);
        }
        pool
    }

    /// Appends whole words, at most `bytes_max` bytes of them, from a sentence
    /// chosen by `dice`.
    pub(crate) fn push_text(&self, bytes_max: usize, dice: &mut Dice, out: &mut Vec<u8>) {
        let mut left = bytes_max;
        while left >= MIN_TEXT {
            let start = self.starts[dice.below(self.starts.len() as u32) as usize] as usize;
            let taken = self.words_from(start, left);
            out.extend_from_slice(taken);
            left -= taken.len();
            if taken.len() < MIN_TEXT {
                break;
            }
        }
    }

    /// A phrase of at most `bytes_max` bytes, for titles and link texts. They
    /// come from the first sentences only: fifty places all over the pool would
    /// be fifty cache misses a page.
    pub(crate) fn phrase(&self, bytes_max: usize, dice: &mut Dice) -> &[u8] {
        let start = self.starts[dice.below(PHRASES) as usize] as usize;
        self.words_from(start, bytes_max)
    }

    /// Cut back to the last space: in none of the encodings is a space part of
    /// another character.
    fn words_from(&self, start: usize, bytes_max: usize) -> &[u8] {
        let slice = &self.bytes[start..self.bytes.len().min(start + bytes_max)];
        let end = slice.iter().rposition(|&byte| byte == b' ').unwrap_or(0);
        &slice[..end]
    }
}

const PHRASES: u32 = 256;

/// Shorter runs are not worth a slice: a word may take as much.
const MIN_TEXT: usize = 48;

fn vocabulary(language: Language, encoding: Encoding, dice: &mut Dice) -> Vec<String> {
    let common = match language {
        Language::English => ENGLISH,
        Language::Korean => KOREAN,
    };
    let mut words: Vec<String> = common.split_whitespace().map(str::to_owned).collect();
    if language == Language::Korean && encoding == Encoding::Cp949 {
        let rare = CP949_ONLY.split_whitespace().map(str::to_owned);
        words.splice(20..20, rare);
    }
    let hangul: Vec<char> = HANGUL_SYLLABLES.chars().collect();
    while words.len() < 2000 {
        let syllables = 2 + dice.below(3);
        words.push(match language {
            Language::English => (0..syllables)
                .map(|_| LATIN_SYLLABLES[dice.below(LATIN_SYLLABLES.len() as u32) as usize])
                .collect(),
            Language::Korean => (0..syllables)
                .map(|_| hangul[dice.below(hangul.len() as u32) as usize])
                .collect(),
        });
    }
    words
}

/// Zipf with exponent 1 by the inverse of its continuous law.
fn zipf_word<'w>(words: &'w [String], dice: &mut Dice) -> &'w str {
    let rank = (words.len() as f64).powf(dice.unit()) as usize - 1;
    &words[rank.min(words.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_whole_words_of_the_wanted_length() {
        for language in [Language::English, Language::Korean] {
            for encoding in Encoding::ALL {
                let pool = Pool::new(5, language, encoding);
                let mut out = Vec::new();
                pool.push_text(4000, &mut Dice::new(1, Draw::Text, [1]), &mut out);
                assert!(
                    (3900..=4000).contains(&out.len()),
                    "{language:?} {encoding:?} {}",
                    out.len()
                );
                let decoder = match encoding {
                    Encoding::Utf8 => encoding_rs::UTF_8,
                    Encoding::EucKr | Encoding::Cp949 => encoding_rs::EUC_KR,
                    Encoding::Iso2022Kr => {
                        let parts = |shift| out.split(move |&byte| byte == shift).count();
                        assert_eq!(parts(0x0E), parts(0x0F), "every shift is undone");
                        continue;
                    }
                };
                assert!(!decoder.decode(&out).2, "{language:?} {encoding:?}");
            }
        }
    }

    #[test]
    fn euc_kr_stays_within_ks_x_1001_and_cp949_does_not() {
        let beyond = |encoding| {
            let pool = Pool::new(5, Language::Korean, encoding);
            let (text, _, _) = encoding_rs::EUC_KR.decode(&pool.bytes);
            text.contains('똠')
        };
        assert!(!beyond(Encoding::EucKr));
        let euc = Pool::new(5, Language::Korean, Encoding::EucKr);
        let outside = euc.bytes.iter().find(|&&byte| (0x80..0xA1).contains(&byte));
        assert_eq!(outside, None, "KS X 1001 has no byte between");
        assert!(!euc.bytes.contains(&b'&'), "no character was escaped");
        assert!(beyond(Encoding::Cp949));
    }
}
