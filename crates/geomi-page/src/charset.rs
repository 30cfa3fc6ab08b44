//! Which charset a page is in, and its text.
//!
//! In order: a byte order mark; the label of Content-Type; a declaration in the
//! first bytes ([`crate::prescan`]); a guess. Labels are wrong often enough that
//! the bytes have the last word:
//!
//! * bytes in which every other one is zero are UTF-16, and zeros never stand so
//!   in anything else;
//! * bytes that are valid UTF-8 with several multi-byte characters are UTF-8,
//!   whatever the label says: another charset would hardly produce them; a stray
//!   byte or a cut end does not unmake that;
//! * a page that announces ISO-2022-KR and shifts is just that;
//! * a page labelled UTF-8 (or windows-1252, which servers add by themselves)
//!   that is not, and whose high bytes pair up as Hangul, is EUC-KR;
//! * a page labelled UTF-8 that is mostly broken as such is what it declares
//!   inside, or guessed anew.
//!
//! A guess by `chardetng` is dear, so it is made last, on a bounded piece that
//! begins at the first non-ASCII byte. ASCII and valid UTF-8 are never copied.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    EUC_KR, Encoding, ISO_2022_JP, ISO_8859_2, ISO_8859_15, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE,
    WINDOWS_1250, WINDOWS_1252,
};
use geomi_model::{Charset, CharsetSource};

use crate::iso2022kr;
use crate::prescan;
use crate::reader::{PageInput, ReadLimits};

/// A page's text and how it was found.
pub(crate) struct Decoded<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) charset: Charset,
    /// The charset queries of its links are written in.
    pub(crate) query_encoding: &'static Encoding,
    /// Whether some bytes are of no charset; U+FFFD stands in their place.
    pub(crate) has_errors: bool,
}

impl Decoded<'_> {
    /// Whether more than one in a hundred characters could not be decoded.
    pub(crate) fn is_garbled(&self) -> bool {
        self.has_errors && {
            let errors = self.text.matches(char::REPLACEMENT_CHARACTER).count();
            errors * 100 > self.text.chars().count()
        }
    }
}

/// A charset as a label names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Label {
    /// One that the web platform decodes.
    Web(&'static Encoding),
    /// The one it does not, and we do.
    Iso2022Kr,
}

impl Label {
    /// What a declaration inside the page means: it was read as ASCII, so it
    /// cannot be UTF-16.
    pub(crate) fn as_declared_inside(self) -> Self {
        match self {
            Self::Web(encoding) if encoding == UTF_16LE || encoding == UTF_16BE => Self::Web(UTF_8),
            Self::Web(encoding) if encoding == encoding_rs::X_USER_DEFINED => {
                Self::Web(WINDOWS_1252)
            }
            other => other,
        }
    }
}

/// Looks a label up. The names of the standard come first, as it spells them;
/// then those that Korean software uses and the standard does not list, however
/// they are punctuated: `CP949`, `ms_949`, `KS C 5601-1987`.
pub(crate) fn label(name: &[u8]) -> Option<Label> {
    let name = name.trim_ascii();
    if let Some(encoding) = Encoding::for_label_no_replacement(name) {
        return Some(Label::Web(encoding));
    }
    let mut folded = [0; LABEL_BYTES_MAX];
    match fold(name, &mut folded)? {
        b"iso2022kr" | b"csiso2022kr" => Some(Label::Iso2022Kr),
        b"utf8" | b"utf8mb4" | b"utf8mb3" | b"xutf8" | b"unicode11utf8" => Some(Label::Web(UTF_8)),
        folded if KOREAN.contains(&folded) => Some(Label::Web(EUC_KR)),
        _ => None,
    }
}

/// Names of EUC-KR and of its superset CP949, letters and digits only.
const KOREAN: [&[u8]; 20] = [
    b"949",
    b"cp949",
    b"xcp949",
    b"ms949",
    b"xms949",
    b"windows949",
    b"xwindows949",
    b"ibm949",
    b"uhc",
    b"xuhc",
    b"euckr",
    b"xeuckr",
    b"cseuckr",
    b"ksc5601",
    b"ksc56011987",
    b"ksc56011989",
    b"ksc56011992",
    b"ksx1001",
    b"ksx10011992",
    b"korean",
];

/// No charset has a longer name.
const LABEL_BYTES_MAX: usize = 32;

/// A label in lower case without punctuation; `None` for one that is too long.
fn fold<'a>(name: &[u8], folded: &'a mut [u8; LABEL_BYTES_MAX]) -> Option<&'a [u8]> {
    let mut len = 0;
    for byte in name.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
        *folded.get_mut(len)? = byte.to_ascii_lowercase();
        len += 1;
    }
    Some(&folded[..len])
}

/// The charset a page declares for itself in its first bytes, whether or not it
/// was decoded so.
///
/// ```
/// use geomi_page::declared_charset;
/// assert_eq!(declared_charset(b"<meta charset=ks_c_5601-1987>"), Some("EUC-KR"));
/// assert_eq!(declared_charset(b"<title>none</title>"), None);
/// ```
pub fn declared_charset(body: &[u8]) -> Option<&'static str> {
    Some(match prescan::declared(body)? {
        Label::Web(encoding) => encoding.name(),
        Label::Iso2022Kr => "ISO-2022-KR",
    })
}

/// Looks up a label of a header, where quotes and rests of other parameters are
/// found.
fn header_label(name: &str) -> Option<Label> {
    let name = name.split([';', ',']).next().unwrap_or(name);
    label(name.trim_matches(['"', '\'', ' ']).as_bytes())
}

/// Decides the charset and decodes.
pub(crate) fn decode<'a>(input: &PageInput<'a>, limits: &ReadLimits) -> Decoded<'a> {
    let body = input.body;
    if let Some((encoding, bom_bytes)) = Encoding::for_bom(body) {
        return decode_as(encoding, &body[bom_bytes..], CharsetSource::Bom);
    }
    let header = input.charset_label.and_then(header_label);
    let labelled = match header {
        Some(label) => Some((label, CharsetSource::Header)),
        None => prescan::declared(body).map(|label| (label, CharsetSource::Meta)),
    };
    if let Some(encoding) = unmarked_utf16(body) {
        let source = match labelled {
            Some((label, source)) if label == Label::Web(encoding) => source,
            Some(_) => CharsetSource::Corrected,
            None => CharsetSource::Detected,
        };
        return decode_as(encoding, body, source);
    }
    match labelled {
        Some((Label::Iso2022Kr, source)) => decode_labelled_iso2022kr(input, limits, source),
        Some((Label::Web(encoding), source)) => decode_labelled(input, limits, encoding, source),
        None if shifts_into_korean(body) => decode_iso2022kr(body, CharsetSource::Detected),
        None => match simdutf8::basic::from_utf8(body) {
            Ok(text) => borrowed(text, UTF_8, CharsetSource::Detected),
            Err(_) => decode_detected(input, limits, CharsetSource::Detected),
        },
    }
}

fn decode_labelled<'a>(
    input: &PageInput<'a>,
    limits: &ReadLimits,
    encoding: &'static Encoding,
    source: CharsetSource,
) -> Decoded<'a> {
    let body = input.body;
    let is_utf16 = encoding == UTF_16LE || encoding == UTF_16BE;
    if is_utf16 && body.contains(&0) || encoding == ISO_2022_JP && body.contains(&0x1B) {
        return decode_as(encoding, body, source);
    }
    match simdutf8::basic::from_utf8(body) {
        Ok(text) if text.is_ascii() && shifts_into_korean(body) => {
            decode_iso2022kr(body, CharsetSource::Corrected)
        }
        Ok(text) if is_utf16 => borrowed(text, UTF_8, CharsetSource::Corrected),
        Ok(text) if encoding == UTF_8 || text.is_ascii() => borrowed(text, encoding, source),
        Ok(text) if is_surely_utf8(text, encoding) => {
            borrowed(text, UTF_8, CharsetSource::Corrected)
        }
        Err(_) if is_mostly_utf8(body) => {
            let is_corrected = encoding != UTF_8;
            let source = if is_corrected {
                CharsetSource::Corrected
            } else {
                source
            };
            decode_as(UTF_8, body, source)
        }
        Err(_) if encoding == UTF_8 || is_utf16 => {
            decode_detected(input, limits, CharsetSource::Corrected)
        }
        Err(_) if is_doubtful(encoding, input) && looks_like_euc_kr(body) => {
            decode_as(EUC_KR, body, CharsetSource::Corrected)
        }
        Ok(_) | Err(_) => decode_as(encoding, body, source),
    }
}

/// A page labelled ISO-2022-KR, which has no high bytes; one that has some is in
/// another charset.
fn decode_labelled_iso2022kr<'a>(
    input: &PageInput<'a>,
    limits: &ReadLimits,
    source: CharsetSource,
) -> Decoded<'a> {
    if input.body.is_ascii() {
        return decode_iso2022kr(input.body, source);
    }
    match simdutf8::basic::from_utf8(input.body) {
        Ok(text) if is_surely_utf8(text, EUC_KR) => borrowed(text, UTF_8, CharsetSource::Corrected),
        _ => decode_detected(input, limits, CharsetSource::Corrected),
    }
}

/// Labels that servers and editors write by themselves, so that Korean pages come
/// with them; real pages of theirs do not look like Hangul. In Korea any label
/// but a Korean one is doubtful.
fn is_doubtful(encoding: &'static Encoding, input: &PageInput<'_>) -> bool {
    const OF_HABIT: [&Encoding; 5] = [
        WINDOWS_1252,
        WINDOWS_1250,
        ISO_8859_2,
        ISO_8859_15,
        SHIFT_JIS,
    ];
    OF_HABIT.contains(&encoding) || top_level_domain(input.url.host()) == Some(b"kr")
}

/// Whether bytes announce ISO-2022-KR near their start and make use of it.
fn shifts_into_korean(body: &[u8]) -> bool {
    let head = &body[..body.len().min(prescan::PRESCAN_BYTES)];
    iso2022kr::is_announced(head) && iso2022kr::shifts(body)
}

/// UTF-16 without a byte order mark: markup is ASCII, so one half of most code
/// units is zero, and always the same half.
fn unmarked_utf16(body: &[u8]) -> Option<&'static Encoding> {
    const HEAD_BYTES: usize = 512;
    const UNITS_MIN: usize = 4;
    let head = &body[..body.len().min(HEAD_BYTES)];
    // Nearly every page ends here: no zero in it.
    memchr::memchr(0, head)?;
    let (mut little, mut big, mut zero) = (0, 0, 0);
    for unit in head.chunks_exact(2) {
        match unit {
            [0, 0] => zero += 1,
            [_, 0] => little += 1,
            [0, _] => big += 1,
            _ => {}
        }
    }
    let is_even = |found: usize, wrong: usize| {
        found >= UNITS_MIN && zero == 0 && found > 8 * wrong && found * 8 > head.len() / 2
    };
    if is_even(little, big) {
        Some(UTF_16LE)
    } else if is_even(big, little) {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Whether text that is valid UTF-8 is not in `labelled` by chance. A two-byte
/// character of EUC-KR passes for UTF-8 about one time in ten, so a few of them
/// are needed; in a charset of single bytes one is enough.
fn is_surely_utf8(text: &str, labelled: &'static Encoding) -> bool {
    const CHANCE_MAX: usize = 3;
    if labelled.is_single_byte() {
        return true;
    }
    let mut two_bytes = 0;
    text.bytes().filter(|&byte| byte >= 0xC2).any(|lead| {
        two_bytes += 1;
        lead >= 0xE0 || two_bytes > CHANCE_MAX
    })
}

/// The piece of a page that is judged: from the first non-ASCII byte on, enough
/// to tell. A cut character at its end is one broken one among thousands.
fn sample(body: &[u8]) -> &[u8] {
    const SAMPLE_BYTES: usize = 16 * 1024;
    let start = Encoding::ascii_valid_up_to(body);
    &body[start..body.len().min(start + SAMPLE_BYTES)]
}

/// Whether bytes that are not valid UTF-8 are so for the most part: a cut
/// character at the end, a stray byte.
fn is_mostly_utf8(body: &[u8]) -> bool {
    let mut whole = 0_usize;
    let mut broken = 0_usize;
    for chunk in sample(body).utf8_chunks() {
        whole += chunk.valid().bytes().filter(|&byte| byte >= 0xC2).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    whole > 4 * broken
}

/// Whether high bytes come in pairs that are Hangul of KS X 1001, or at least
/// characters of it. Western text has lone high bytes instead.
fn looks_like_euc_kr(body: &[u8]) -> bool {
    let body = sample(body);
    let mut hangul = 0_usize;
    let mut others = 0_usize;
    let mut broken = 0_usize;
    let mut at = 0;
    while let Some(&lead) = body.get(at) {
        at += 1;
        if lead < 0x80 {
            continue;
        }
        match (lead, body.get(at)) {
            (0xB0..=0xC8, Some(0xA1..=0xFE)) => hangul += 1,
            (0xA1..=0xFD, Some(0xA1..=0xFE)) => others += 1,
            // The syllables CP949 adds are rare in running text.
            (0x81..=0xC6, Some(0x41..=0x5A | 0x61..=0x7A | 0x81..=0xFE)) => broken += 1,
            (_, None) => break,
            _ => {
                broken += 4;
                continue;
            }
        }
        at += 1;
    }
    hangul >= 2 && hangul > 2 * others && hangul > 8 * broken
}

/// Guesses a charset for bytes that are not valid UTF-8.
fn decode_detected<'a>(
    input: &PageInput<'a>,
    limits: &ReadLimits,
    source: CharsetSource,
) -> Decoded<'a> {
    let body = input.body;
    if looks_like_euc_kr(body) {
        return decode_as(EUC_KR, body, source);
    }
    if is_mostly_utf8(body) {
        return decode_as(UTF_8, body, source);
    }
    // What the header says is wrong; what the page says of itself may be right.
    if let Some(Label::Web(encoding)) = prescan::declared(body)
        && encoding != UTF_8
        && !encoding.is_single_byte()
        && is_whole(encoding, body)
    {
        return decode_as(encoding, body, source);
    }
    let start = Encoding::ascii_valid_up_to(body);
    let end = body
        .len()
        .min(start.saturating_add(limits.detect_bytes_max));
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&body[start..end], end == body.len());
    let encoding = detector.guess(top_level_domain(input.url.host()), Utf8Detection::Deny);
    decode_as(encoding, body, source)
}

/// Whether every character of the judged piece exists in a charset; the one that
/// is cut at its end is forgiven.
fn is_whole(encoding: &'static Encoding, body: &[u8]) -> bool {
    let sample = sample(body);
    let (text, _) = encoding.decode_without_bom_handling(sample);
    let is_cut = sample.len() < body.len();
    let text = if is_cut {
        text.trim_end_matches('\u{fffd}')
    } else {
        &text
    };
    !text.contains('\u{fffd}')
}

/// The last label of a host name, as the detector wants it; an address has none.
fn top_level_domain(host: &str) -> Option<&[u8]> {
    let last = host.rsplit('.').next()?;
    let is_name = last.len() > 1 && last.bytes().all(|byte| byte.is_ascii_lowercase());
    is_name.then_some(last.as_bytes())
}

fn decode_iso2022kr(body: &[u8], source: CharsetSource) -> Decoded<'_> {
    Decoded {
        text: Cow::Owned(iso2022kr::decode(body)),
        charset: Charset {
            name: "ISO-2022-KR",
            source,
        },
        query_encoding: UTF_8,
        has_errors: false,
    }
}

fn decode_as<'a>(
    encoding: &'static Encoding,
    body: &'a [u8],
    source: CharsetSource,
) -> Decoded<'a> {
    let (text, has_errors) = encoding.decode_without_bom_handling(body);
    Decoded {
        text,
        charset: Charset {
            name: encoding.name(),
            source,
        },
        query_encoding: encoding,
        has_errors,
    }
}

fn borrowed<'a>(text: &'a str, encoding: &'static Encoding, source: CharsetSource) -> Decoded<'a> {
    Decoded {
        text: Cow::Borrowed(text),
        charset: Charset {
            name: encoding.name(),
            source,
        },
        query_encoding: encoding,
        has_errors: false,
    }
}
