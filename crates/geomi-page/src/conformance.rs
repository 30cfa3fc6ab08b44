//! The tokenizer against html5lib's tokenizer tests, which lie beside the project
//! where it is developed and are not part of it.
//!
//! Our tokenizer keeps less than the tests know, so both sides are brought to what
//! it promises: text with its references decoded, start tags by element with
//! `href`, end tags. The tests write their attribute as `a`; it is renamed.
//! Every test is run but those in [`NOT_RUN`].

#[path = "../../../tests/conformance_data.rs"]
mod conformance_data;

use serde_json::Value;

use conformance_data::conformance_data;

use crate::element::{Attribute, Element};
use crate::raw_text::RawKind;
use crate::references::{Place, decode};
use crate::tokenizer::{Token, Tokenizer};

/// Tests that cannot be asked of us, by their description. All four put half of a
/// surrogate pair into the input, which a Rust string cannot hold: the decoders
/// before the tokenizer have made U+FFFD of it.
const NOT_RUN: [&str; 4] = [
    "Invalid Unicode character U+D800",
    "Invalid Unicode character U+D800 with valid following character",
    "Invalid Unicode character U+DFFF",
    "Invalid Unicode character U+DFFF with valid preceding character",
];

#[derive(PartialEq, Eq, Debug)]
enum Piece {
    Text(String),
    Start(Element, Option<String>, bool),
    End(Element),
}

#[test]
fn html5lib_tokenizer_tests() {
    let Some(folder) = conformance_data("html5lib_tokenizer_tests", "html5lib/tokenizer") else {
        return;
    };
    let files = std::fs::read_dir(&folder).unwrap();
    let mut passed = 0;
    let mut failed = Vec::new();
    let mut not_run = Vec::new();
    for file in files {
        let json = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let json: Value = serde_json::from_str(&json).unwrap();
        let Some(tests) = json["tests"].as_array() else {
            // The four tests of xmlViolation.test are about writing a tree as XML
            // (a form feed becomes a space, `--` becomes `- -`): we write none.
            continue;
        };
        for test in tests {
            for state in states(test) {
                match run(test, &state) {
                    Some(Ok(())) => passed += 1,
                    Some(Err(difference)) => failed.push(difference),
                    None => not_run.push(test["description"].as_str().unwrap().to_owned()),
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
    not_run.sort();
    assert_eq!(not_run, NOT_RUN);
    assert!(passed > 6000, "only {passed} tests ran");
}

fn states(test: &Value) -> Vec<String> {
    match test["initialStates"].as_array() {
        Some(states) => states
            .iter()
            .map(|state| state.as_str().unwrap().to_owned())
            .collect(),
        None => vec!["Data state".to_owned()],
    }
}

/// Runs one test; `None` for what cannot be asked of us.
fn run(test: &Value, state: &str) -> Option<Result<(), String>> {
    let raw = match (state, test["lastStartTag"].as_str()) {
        ("Data state" | "CDATA section state", _) => None,
        // Without a start tag no end tag can close the text.
        ("PLAINTEXT state", _) | ("RCDATA state" | "RAWTEXT state", None) => Some(RawKind::Rest),
        ("Script data state", Some("script") | None) => Some(RawKind::Script),
        (_, Some("xmp")) => Some(RawKind::Until(b"xmp")),
        (_, Some("title")) => Some(RawKind::Until(b"title")),
        (_, Some("textarea")) => Some(RawKind::Until(b"textarea")),
        (state, tag) => panic!("a state the tests did not have before: {state} in {tag:?}"),
    };
    let unescape = test["doubleEscaped"] == Value::Bool(true);
    let input = text_of(&test["input"], unescape)?;
    // Line ends are made one before tokenizing, which our caller may leave out.
    let input = input.replace("\r\n", "\n").replace('\r', "\n");
    let input = ["<h a=", "<h a ", "<h/a="]
        .iter()
        .fold(input, |input, tag| {
            input.replace(tag, &tag.replace('a', "href"))
        });
    let input = match state {
        "CDATA section state" => format!("<![CDATA[{input}"),
        _ => input,
    };
    let found = found(&input, raw, state);
    let expected = expected(&test["output"], unescape)?;
    Some(if found == expected {
        Ok(())
    } else {
        Err(format!(
            "{input:?} in {state}: found {found:?}, expected {expected:?}"
        ))
    })
}

fn found(input: &str, raw: Option<RawKind>, state: &str) -> Vec<Piece> {
    let mut tokenizer = Tokenizer::new(input);
    tokenizer.set_foreign(state == "CDATA section state");
    let references_in_raw = state == "RCDATA state";
    let mut pieces = Vec::new();
    if let Some(kind) = raw {
        let text = tokenizer.raw_text(kind);
        if references_in_raw {
            push_text(&mut pieces, &decode(text, Place::Text));
        } else {
            push_text(&mut pieces, text);
        }
    }
    while let Some(token) = tokenizer.next() {
        match token {
            Token::Text(text) => push_text(&mut pieces, &decode(text, Place::Text)),
            Token::Verbatim(text) => push_text(&mut pieces, text),
            Token::End(tag) => pieces.push(Piece::End(tag.element)),
            Token::Conditional(_) | Token::Instruction(_) => {}
            Token::Start(tag) => {
                let href = tokenizer.attributes().get(Attribute::Href);
                let href = href.map(|href| clean(&decode(href, Place::Attribute)));
                pieces.push(Piece::Start(tag.element, href, tag.self_closing));
            }
        }
    }
    pieces
}

fn expected(output: &Value, unescape: bool) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    for token in output.as_array()? {
        let word = text_of(&token[1], unescape).unwrap_or_default();
        match token[0].as_str()? {
            "Character" => push_text(&mut pieces, &word),
            "EndTag" => pieces.push(Piece::End(Element::named(word.as_bytes()))),
            "StartTag" => {
                let attributes = &token[2];
                let href = attributes.get("href").or(attributes.get("a"));
                // An `a` our renaming did not reach is none of ours.
                let renamed = word == "h" || attributes.get("href").is_some();
                let href = href
                    .filter(|_| renamed)
                    .and_then(|href| text_of(href, unescape));
                let self_closing = token[3] == Value::Bool(true);
                pieces.push(Piece::Start(
                    Element::named(word.as_bytes()),
                    href.map(|href| clean(&href)),
                    self_closing,
                ));
            }
            _ => {}
        }
    }
    Some(pieces)
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    let text = clean(text);
    if text.is_empty() {
        return;
    }
    if let Some(Piece::Text(before)) = pieces.last_mut() {
        before.push_str(&text);
    } else {
        pieces.push(Piece::Text(text));
    }
}

/// A NUL stays a NUL with us; some states of the standard replace it.
fn clean(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// A string of a test; `None` if it holds half a surrogate pair.
fn text_of(value: &Value, unescape: bool) -> Option<String> {
    let text = value.as_str()?;
    if !unescape {
        return Some(text.to_owned());
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\u") {
        out.push_str(&rest[..at]);
        let code = u32::from_str_radix(rest.get(at + 2..at + 6)?, 16).ok()?;
        out.push(char::from_u32(code)?);
        rest = &rest[at + 6..];
    }
    out.push_str(rest);
    Some(out)
}
