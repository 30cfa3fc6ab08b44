//! Charsets: labels, wrong labels, no labels; above all Korean.

#[path = "../../../tests/conformance_data.rs"]
mod conformance_data;

use conformance_data::conformance_data;
use encoding_rs::{EUC_KR, SHIFT_JIS, WINDOWS_1252};
use geomi_model::{CharsetSource, Document};
use geomi_page::{PageInput, ReadLimits, Readers};
use geomi_url::CrawlUrl;

const KOREAN: &str = "<title>한국어 문서</title><p>안녕하세요, 세계 여러분. 반갑습니다.";

fn read(label: Option<&str>, body: &[u8]) -> Document {
    let url = CrawlUrl::parse("http://example.com/").expect("a URL");
    let input = PageInput {
        url: &url,
        mime: Some("text/html"),
        charset_label: label,
        body,
    };
    Readers::standard().read(&input, &ReadLimits::default())
}

#[track_caller]
fn check(label: Option<&str>, body: &[u8], name: &str, source: CharsetSource, title: &str) {
    let page = read(label, body);
    let charset = page.charset.expect("HTML has a charset");
    assert_eq!(
        (charset.name, charset.source),
        (name, source),
        "label {label:?}"
    );
    assert_eq!(page.title.as_deref(), Some(title), "label {label:?}");
}

fn euc_kr(text: &str) -> Vec<u8> {
    let (bytes, _, unmappable) = EUC_KR.encode(text);
    assert!(!unmappable);
    bytes.into_owned()
}

fn iso_2022_kr(text: &str) -> Vec<u8> {
    let mut out = b"\x1B$)C".to_vec();
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c as u8);
        } else {
            out.push(0x0E);
            out.extend(euc_kr(&c.to_string()).iter().map(|byte| byte & 0x7F));
            out.push(0x0F);
        }
    }
    out
}

#[test]
fn korean_with_the_right_label() {
    for label in [
        "euc-kr",
        "EUC-KR",
        "cp949",
        "MS949",
        "uhc",
        "windows-949",
        "ks_c_5601-1987",
        "ksc5601",
        " \"euc-kr\" ",
        "cp949; x=y",
    ] {
        check(
            Some(label),
            &euc_kr(KOREAN),
            "EUC-KR",
            CharsetSource::Header,
            "한국어 문서",
        );
    }
    check(
        Some("utf-8"),
        KOREAN.as_bytes(),
        "UTF-8",
        CharsetSource::Header,
        "한국어 문서",
    );
    check(
        Some("iso-2022-kr"),
        &iso_2022_kr(KOREAN),
        "ISO-2022-KR",
        CharsetSource::Header,
        "한국어 문서",
    );
}

#[test]
fn syllables_only_cp949_has() {
    let page = "<title>똠방각하 펲시콜라</title>";
    check(
        Some("cp949"),
        &euc_kr(page),
        "EUC-KR",
        CharsetSource::Header,
        "똠방각하 펲시콜라",
    );
}

#[test]
fn korean_with_a_label_inside() {
    for meta in [
        "<meta charset=euc-kr>",
        "<META HTTP-EQUIV='Content-Type' CONTENT='text/html; charset=ks_c_5601-1987'>",
        "<meta content=\"text/html;charset=MS949\" http-equiv=content-type>",
    ] {
        let body = euc_kr(&format!("{meta}{KOREAN}"));
        check(None, &body, "EUC-KR", CharsetSource::Meta, "한국어 문서");
    }
    let body = euc_kr(&format!("<?xml version='1.0' encoding='euc-kr'?>{KOREAN}"));
    check(None, &body, "EUC-KR", CharsetSource::Meta, "한국어 문서");
    let body = iso_2022_kr(&format!("<meta charset=iso-2022-kr>{KOREAN}"));
    check(
        None,
        &body,
        "ISO-2022-KR",
        CharsetSource::Meta,
        "한국어 문서",
    );
}

#[test]
fn the_header_is_stronger_than_the_page() {
    let body = euc_kr(&format!("<meta charset=shift_jis>{KOREAN}"));
    check(
        Some("euc-kr"),
        &body,
        "EUC-KR",
        CharsetSource::Header,
        "한국어 문서",
    );
}

#[test]
fn wrong_labels_are_corrected() {
    let utf_8 = KOREAN.as_bytes();
    for label in ["euc-kr", "iso-8859-1", "shift_jis", "utf-16"] {
        check(
            Some(label),
            utf_8,
            "UTF-8",
            CharsetSource::Corrected,
            "한국어 문서",
        );
    }
    for label in ["utf-8", "iso-8859-1", "windows-1252"] {
        check(
            Some(label),
            &euc_kr(KOREAN),
            "EUC-KR",
            CharsetSource::Corrected,
            "한국어 문서",
        );
    }
    let body = euc_kr(&format!("<meta charset=utf-8>{KOREAN}"));
    check(
        None,
        &body,
        "EUC-KR",
        CharsetSource::Corrected,
        "한국어 문서",
    );
}

#[test]
fn missing_labels_are_guessed() {
    check(
        None,
        KOREAN.as_bytes(),
        "UTF-8",
        CharsetSource::Detected,
        "한국어 문서",
    );
    check(
        None,
        &euc_kr(KOREAN),
        "EUC-KR",
        CharsetSource::Detected,
        "한국어 문서",
    );
    check(
        Some("no-such"),
        &euc_kr(KOREAN),
        "EUC-KR",
        CharsetSource::Detected,
        "한국어 문서",
    );
    check(
        None,
        &iso_2022_kr(KOREAN),
        "ISO-2022-KR",
        CharsetSource::Detected,
        "한국어 문서",
    );
    let western = "<title>Über café</title><p>déjà vu à la française, garçon, naïve élève";
    check(
        None,
        &WINDOWS_1252.encode(western).0,
        "windows-1252",
        CharsetSource::Detected,
        "Über café",
    );
    let japanese =
        "<title>日本語のページ</title><p>これは日本語で書かれた文章です。テストのために使います。";
    check(
        None,
        &SHIFT_JIS.encode(japanese).0,
        "Shift_JIS",
        CharsetSource::Detected,
        "日本語のページ",
    );
}

#[test]
fn right_labels_are_left_alone() {
    let western = "<title>Über café</title><p>garçon";
    let bytes = WINDOWS_1252.encode(western).0;
    check(
        Some("iso-8859-1"),
        &bytes,
        "windows-1252",
        CharsetSource::Header,
        "Über café",
    );
    // Two syllables of EUC-KR that happen to be valid UTF-8 stay what the label says.
    let syllables = b"<title>\xC2\xA1\xC3\xA2</title>";
    assert!(std::str::from_utf8(syllables).is_ok());
    let page = read(Some("euc-kr"), syllables);
    assert_eq!(page.charset.expect("HTML has a charset").name, "EUC-KR");
    check(
        Some("euc-kr"),
        b"<title>ascii</title>",
        "EUC-KR",
        CharsetSource::Header,
        "ascii",
    );
}

#[test]
fn a_stray_byte_does_not_unmake_utf_8() {
    let mut body = KOREAN.as_bytes().to_vec();
    body.extend_from_slice(b" \xFF \xEA\xB0");
    check(
        Some("utf-8"),
        &body,
        "UTF-8",
        CharsetSource::Header,
        "한국어 문서",
    );
    check(None, &body, "UTF-8", CharsetSource::Detected, "한국어 문서");
}

#[test]
fn byte_order_marks_come_first() {
    let marked = format!("\u{feff}{KOREAN}");
    check(
        Some("euc-kr"),
        marked.as_bytes(),
        "UTF-8",
        CharsetSource::Bom,
        "한국어 문서",
    );
    let little: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(None, &little, "UTF-16LE", CharsetSource::Bom, "한국어 문서");
    let big: Vec<u8> = marked.encode_utf16().flat_map(u16::to_be_bytes).collect();
    check(
        Some("utf-8"),
        &big,
        "UTF-16BE",
        CharsetSource::Bom,
        "한국어 문서",
    );
    let unmarked: Vec<u8> = KOREAN.encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(
        Some("utf-16le"),
        &unmarked,
        "UTF-16LE",
        CharsetSource::Header,
        "한국어 문서",
    );
}

#[test]
fn queries_are_written_in_the_page_s_charset() {
    let link = "<a href='/찾기?q=한글'>";
    let page = read(Some("euc-kr"), &euc_kr(link));
    assert_eq!(
        page.links[0].url.as_str(),
        "http://example.com/%EC%B0%BE%EA%B8%B0?q=%C7%D1%B1%DB"
    );
    let odd = euc_kr("한국어 문서 <a href='/x?q=&#9731;&#8364;가#z'>");
    assert_eq!(
        read(Some("euc-kr"), &odd).links[0].url.as_str(),
        "http://example.com/x?q=%26%239731%3B%A2%E6%B0%A1",
        "what EUC-KR does not have is written as a reference"
    );
    let page = read(Some("utf-8"), link.as_bytes());
    assert!(
        page.links[0]
            .url
            .as_str()
            .ends_with("?q=%ED%95%9C%EA%B8%80")
    );
}

fn utf_16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

/// Every charset Korean pages come in, under every label they come with: the
/// title comes out right.
#[test]
fn a_korean_title_comes_out_whatever_the_label() {
    const TITLES: [&str; 4] = [
        "한국어 문서",
        "가나",
        "똠방각하 펲시콜라",
        "대한민국 大韓民國 News",
    ];
    const LABELS: [Option<&str>; 19] = [
        None,
        Some("utf-8"),
        Some("UTF8"),
        Some("euc-kr"),
        Some("cp949"),
        Some("ms949"),
        Some("uhc"),
        Some("x-windows-949"),
        Some("KS_C_5601-1987"),
        Some("ks c 5601-1987"),
        Some("korean"),
        Some("iso-2022-kr"),
        Some("iso-8859-1"),
        Some("windows-1252"),
        Some("us-ascii"),
        Some("shift_jis"),
        Some("utf-16"),
        Some("utf-16be"),
        Some("no-such-charset"),
    ];
    let text = "<p>서울특별시 중구 세종대로에서 열린 행사에 많은 시민이 참여했습니다.</p>";
    for title in TITLES {
        let page = format!("<html><head><title>{title}</title></head><body>{text}</body></html>");
        let bodies = [
            ("utf-8", page.clone().into_bytes()),
            ("euc-kr", euc_kr(&page)),
            ("utf-16le", utf_16(&page, u16::to_le_bytes)),
            ("utf-16be", utf_16(&page, u16::to_be_bytes)),
        ];
        for (written, body) in &bodies {
            for label in LABELS {
                let page = read(label, body);
                let found = page.title.as_deref();
                assert_eq!(found, Some(title), "{written} labelled {label:?}");
            }
        }
    }
    // The seven bits of ISO-2022-KR cannot carry what only CP949 has.
    for label in LABELS {
        let page = read(label, &iso_2022_kr(KOREAN));
        assert_eq!(page.title.as_deref(), Some("한국어 문서"), "{label:?}");
    }
}

#[test]
fn a_wrong_header_leaves_the_word_to_the_page() {
    // Nothing but syllables that only CP949 has: the bytes alone say little.
    let body = euc_kr("<meta charset=cp949><title>똠펲</title>");
    for label in ["utf-8", "utf-16"] {
        let page = read(Some(label), &body);
        assert_eq!(page.title.as_deref(), Some("똠펲"), "{label}");
    }
}

#[test]
fn a_stray_byte_does_not_turn_utf_8_into_what_the_label_says() {
    let mut body = KOREAN.as_bytes().to_vec();
    body.extend_from_slice(b" \xFF \xEA\xB0");
    for label in ["euc-kr", "iso-8859-1", "cp949", "iso-2022-kr"] {
        check(
            Some(label),
            &body,
            "UTF-8",
            CharsetSource::Corrected,
            "한국어 문서",
        );
    }
}

#[test]
fn zeros_here_and_there_are_not_utf_16() {
    let body = b"<title>a\0b</title>\0\0<p>c\0d and more of it";
    let page = read(Some("utf-8"), body);
    assert_eq!(page.charset.expect("HTML has a charset").name, "UTF-8");
}

/// Where the conformance data lies: beside the project, or where a variable says.
/// Pages that we decode otherwise than their declaration says, and why.
const DIFFERENT: [(&str, &str); 1] = [(
    "euc-jp",
    "the first page of test-yahoo-jp.dat declares EUC-JP and is stored in UTF-8: we go by the bytes",
)];

#[test]
fn html5lib_encoding_tests() {
    let Some(folder) = conformance_data("html5lib_encoding_tests", "html5lib/encoding") else {
        return;
    };
    let files = std::fs::read_dir(&folder).unwrap();
    let mut failed = Vec::new();
    let mut different = Vec::new();
    let mut cases = 0;
    for file in files {
        let content = std::fs::read(file.unwrap().path()).unwrap();
        for (data, expected) in encoding_cases(&content) {
            cases += 1;
            let charset = read(None, data).charset.unwrap();
            // The tests' default for pages without a declaration is ours to guess.
            let found = match charset.source {
                CharsetSource::Meta | CharsetSource::Bom => charset.name,
                CharsetSource::Corrected => {
                    different.push(expected.to_ascii_lowercase());
                    expected.as_str()
                }
                _ => "windows-1252",
            };
            if !found.eq_ignore_ascii_case(&expected) {
                failed.push(format!(
                    "{found} for {expected}: {}",
                    String::from_utf8_lossy(data)
                ));
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {cases}:\n{}",
        failed.len(),
        failed.join("\n---\n")
    );
    assert!(cases > 70, "only {cases} cases");
    assert_eq!(different, DIFFERENT.map(|(encoding, _)| encoding));
}

/// The cases of a file: `#data`, the bytes, `#encoding`, the name.
fn encoding_cases(content: &[u8]) -> Vec<(&[u8], String)> {
    let mut cases = Vec::new();
    let mut rest = content;
    while let Some(start) = find(rest, b"#data\n") {
        rest = &rest[start + 6..];
        let Some(end) = find(rest, b"\n#encoding\n") else {
            break;
        };
        let data = &rest[..end];
        rest = &rest[end + 11..];
        let line = find(rest, b"\n").unwrap_or(rest.len());
        cases.push((
            data,
            String::from_utf8_lossy(&rest[..line]).trim().to_owned(),
        ));
    }
    cases
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}
