//! Numbers that tell pages with the same words apart.

use geomi_url::CrawlUrl;
use xxhash_rust::xxh3::xxh3_64;

/// A number this near to one of the URL is the page's own number, or its
/// neighbour's.
const NEAR: u64 = 32;
/// Digits of a number in a URL that are read.
const DIGITS_MAX: usize = 18;

/// A hash over the numbers of a page that its URL does not explain; `None` if
/// there is none. `numbers` are the telling ones of the main text: three digits or
/// more, without dates, years and counters.
///
/// ```
/// use geomi_novelty::telling_numbers;
/// use geomi_url::CrawlUrl;
/// let url = CrawlUrl::parse("http://e.com/week/345").unwrap();
/// assert_eq!(telling_numbers(&url, &[345, 346]), None);
/// assert!(telling_numbers(&url, &[345, 12_900]).is_some());
/// ```
pub fn telling_numbers(url: &CrawlUrl, numbers: &[u64]) -> Option<u64> {
    if numbers.is_empty() {
        return None;
    }
    let text = url.path_and_query().as_bytes();
    let own: Vec<u64> = text
        .split(|byte| !byte.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| {
            let digits = digits.iter().take(DIGITS_MAX);
            digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
        })
        .collect();
    let is_own = |number: u64| own.iter().any(|own| own.abs_diff(number) <= NEAR);
    let telling = numbers.iter().filter(|number| !is_own(**number));
    let bytes: Vec<u8> = telling.flat_map(|number| number.to_le_bytes()).collect();
    // Collisions can be made, by whoever writes the page and may as well write the numbers.
    (!bytes.is_empty()).then(|| xxh3_64(&bytes))
}
