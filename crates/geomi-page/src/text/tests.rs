use super::*;

fn measured(text: &str) -> Measured {
    let mut visible = VisibleText::new();
    visible.push(text);
    visible.finish()
}

fn measure(text: &str) -> (u64, Option<Fingerprint>) {
    let measured = measured(text);
    (measured.text_bytes, measured.fingerprint)
}

fn same(one: &str, other: &str) {
    assert_eq!(measure(one).1, measure(other).1, "{one:?} and {other:?}");
}

fn differ(one: &str, other: &str) {
    assert_ne!(measure(one).1, measure(other).1, "{one:?} and {other:?}");
}

#[test]
fn the_size_is_that_of_folded_text() {
    assert_eq!(measure("  a \n b\u{a0}\u{3000}c ").0, 5);
    assert_eq!(measure("가 나.").0, 8);
    assert_eq!(measure(" \n").0, 0);
}

#[test]
fn dates_and_times_are_no_change() {
    for (one, other) in [
        ("on 2026-11-15 here", "on 2026-11-16 here"),
        ("on 2026.11.15. here", "on 2025.1.2. here"),
        ("on 2026. 11. 15. here", "on 2026. 11. 16. here"),
        ("on 15/11/2026 here", "on 6/1/2027 here"),
        ("on 15/11/26 here", "on 16/11/26 here"),
        ("on 2026-11 here", "on 2026-12 here"),
        ("at 15:52 here", "at 9:07:31 here"),
        ("at 2024-01-02T10:20:30Z", "at 1999-12-31T00:00:00Z"),
        ("at 10:30-12:00 here", "at 9:15-10:45 here"),
        ("at 20261115T155207Z", "at 20261116T010000Z"),
        ("[2026-11-15 15:52:07.123] x", "[2026-11-16 01:00:00.456] x"),
        (
            "Now 12:30:05 PM, Tue 3 March 2024",
            "now 1:02 AM Wednesday, 14th Apr 2025",
        ),
        ("on Nov 15, 2026, here", "on December 1, 2027, here"),
        ("15 November 2026 here", "1 Dec 2026 here"),
        (
            "오늘 2024년 1월 2일 오전 10시 3분",
            "오늘 2025년12월31일 오후 9시 59분",
        ),
        ("2026년 11월 15일 (일) 소식", "2026년 11월 16일 (월) 소식"),
        ("2026-11-15(일) 소식", "2026-11-16(월) 소식"),
        ("오전 10:30 소식", "오후 3:05 소식"),
        ("Generated 1763321536", "Generated 1763407936"),
        ("Generated 1763321536.12", "Generated 1763407936.2"),
        ("v=1763321536123 end", "v=1763407936456 end"),
    ] {
        same(one, other);
    }
}

#[test]
fn ages_are_no_change() {
    for (one, other) in [
        ("posted 3 hours ago", "posted 1 hour ago"),
        ("posted 3 hours ago", "posted 2 days ago"),
        ("posted 5m ago", "posted 3h ago"),
        ("posted 1.5 hours ago", "posted 2 hours ago"),
        ("3분 전 작성", "2시간 전 작성"),
        ("3분전 작성", "12분전 작성"),
        ("3일째 비", "4일째 비"),
    ] {
        same(one, other);
    }
}

#[test]
fn counters_are_no_change() {
    for (one, other) in [
        ("3,141 visitors", "2 visitors"),
        ("1 view", "2 views"),
        ("1.2k views", "980 views"),
        ("views: 12 today", "views: 13 today"),
        ("12 views 3 likes 1 comment", "13 views 4 likes 2 comments"),
        ("Views 12 Likes 3 Replies 4", "Views 13 Likes 5 Replies 6"),
        ("12 online", "7 online"),
        ("12 users online", "7 users online"),
        ("You are visitor number 17.", "You are visitor number 18."),
        ("Visitor No. 17", "Visitor No. 18"),
        ("visitor count: 17", "visitor count: 18"),
        ("Comments (5)", "Comments (6)"),
        ("Today 12 Yesterday 345", "Today 13 Yesterday 400"),
        ("hits 12 | downloads 34", "hits 13 | downloads 35"),
        ("조회수: 1,234회", "조회수: 99회"),
        ("조회 12 추천 3 댓글 4", "조회 13 추천 5 댓글 6"),
        ("조회12", "조회13"),
        ("조회수 1.2만회", "조회수 1.3만회"),
        ("오늘 12명 전체 34,567명", "오늘 13명 전체 34,568명"),
        ("방문자 12명이 있다", "방문자 7명이 있다"),
        ("접속자 : 12", "접속자 : 130"),
        ("글 [3] 댓글[12]", "글 [3] 댓글[13]"),
    ] {
        same(one, other);
    }
}

#[test]
fn nonces_are_no_change() {
    for (one, other) in [
        ("id a3f9c0d1e2b4a596 end", "id b7e1d2c3f4a5b697 end"),
        ("id 3f9c0d1e2b4a596a end", "id 77e1d2c3f4a5b69f end"),
        (
            "id 5f4dcc3b5aa765d61d8327deb882cf99 end",
            "id e99a18c428cb38d5f260853678922e03 end",
        ),
        ("k dGhpcyBpcyBhIHRlc3Q5 end", "k QW5vdGhlciB0b2tlbjEy end"),
        (
            "ref 3f2504e0-4f89-41d3-9a0c-0305e82c3301 end",
            "ref a8098c1a-f86e-11da-bd1a-00112444be1e end",
        ),
        (
            "ref 12345678-1234-4234-8234-123456789012 end",
            "ref abcdef12-abcd-4bcd-abcd-abcdefabcde1 end",
        ),
        (
            "ref 87654321-dead-4eef-9a0c-0305e82c3301.",
            "ref 8765432f-dead-4eef-9a0c-0305e82c3302.",
        ),
        ("가a3f9c0d1e2b4a596나", "가b7e1d2c3f4a5b697나"),
        ("costs 5 a3f9c0d1e2b4a596", "costs 5 b7e1d2c3f4a5b697"),
    ] {
        same(one, other);
    }
    let long = |letter: &str| format!("id a1{} end", letter.repeat(20_000));
    same(&long("b"), &long("c"));
    same(&long("1"), "id a3f9c0d1e2b4a596 end");
}

#[test]
fn other_numbers_are_a_change() {
    for (one, other) in [
        ("가격 999원", "가격 499원"),
        ("오늘 999원", "오늘 499원"),
        ("오늘만 999 원", "오늘만 499 원"),
        ("3만 원", "4만 원"),
        ("now $999", "now $499"),
        ("now $1500000000", "now $1600000000"),
        ("시가총액 1500000000원", "시가총액 1600000000원"),
        ("$999 views: 12", "$499 views: 12"),
        ("now €999 only", "now €499 only"),
        ("price 1,299,000", "price 1,199,000"),
        ("price 1,299.00", "price 1,199.00"),
        ("Sale in May: 999 won", "Sale in May: 499 won"),
        ("오늘 50% 할인", "오늘 30% 할인"),
        ("12 items in stock", "3 items in stock"),
        ("a club of 12 members", "a club of 13 members"),
        ("lot number 17", "lot number 18"),
        ("code 8801234567893", "code 8801234567894"),
        ("재고 5개", "재고 4개"),
        ("score 3-1", "score 3-2"),
        ("score 2:1", "score 2:2"),
        ("version 1.2.3", "version 1.2.4"),
        ("Download 7.2", "Download 7.3"),
        ("downloads 7.2.1", "downloads 7.2.2"),
        ("call 02-123-4567", "call 02-123-4568"),
        ("since 2019", "since 2020"),
        ("12 views, 999", "12 views, 499"),
        ("999, views 12", "499, views 12"),
        ("15:52 999원", "15:52 499원"),
        ("15:52 999 items", "15:52 499 items"),
        ("Nov 15 999 items", "Nov 15 499 items"),
        ("one 5 two six", "one two 5 six"),
        ("5", "6"),
        ("12 34", "123 4"),
    ] {
        differ(one, other);
    }
}

#[test]
fn what_cannot_be_told_in_passing_is_a_change() {
    for (one, other) in [
        ("on 11/15", "on 11/16"),
        ("on 26.11.15", "on 26.11.16"),
        ("in 2026.11", "in 2026.12"),
        ("a 5m rope", "a 6m rope"),
        ("the 14th one", "the 15th one"),
        ("iphone 5s", "iphone 6s"),
        ("ref deadbeef-1234-x", "ref deadbeef-1235-x"),
    ] {
        differ(one, other);
    }
    let in_blocks = |number: &str| {
        let mut visible = VisibleText::new();
        visible.push(number);
        visible.space();
        visible.push("views 5");
        visible.finish().fingerprint
    };
    assert_ne!(in_blocks("999"), in_blocks("499"));
}

#[test]
fn a_heading_may_be_in_another_block() {
    let in_blocks = |heading: &str, number: &str| {
        let mut visible = VisibleText::new();
        visible.push(heading);
        visible.space();
        visible.push(number);
        visible.finish().fingerprint
    };
    assert_eq!(in_blocks("조회수", "12"), in_blocks("조회수", "13"));
    assert_ne!(in_blocks("가격", "12"), in_blocks("가격", "13"));
}

#[test]
fn numbers_are_hashed_apart() {
    let numbers = |text: &str| measured(text).numbers;
    for (one, other) in [
        ("12 views", "13 views"),
        ("views 12", "views"),
        ("at 15:52", "at 15:53"),
        ("3 May", "3 June"),
        ("views 1 likes 23", "views 12 likes 3"),
        ("id a3f9c0d1e2b4a596", "id a3f9c0d1e2b4a597"),
        ("id a3f9c0d1e2b4a5961", "id a3f9c0d1e2b4a5962"),
        (
            "id 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
            "id 3f2504e0-4f89-41d3-9a0c-0305e82c3302",
        ),
    ] {
        same(one, other);
        assert_ne!(numbers(one), numbers(other), "{one}");
    }
    assert_eq!(numbers("views 12"), numbers("hits 12"));
    assert_eq!(numbers("item 12"), numbers("thing 13"), "they are kept");
}

#[test]
fn the_wording_is_without_any_number() {
    let wording = |text: &str| measured(text).wording;
    assert_eq!(wording("item 12 at 15:52"), wording("item 999 at 1:02"));
    assert_ne!(wording("item 12"), wording("thing 12"));
    assert_eq!(wording("12"), None);
}

/// Text in turns: main text, text around it, and so on.
fn in_turns(turns: &[&str]) -> Measured {
    let mut visible = VisibleText::new();
    for (at, turn) in turns.iter().enumerate() {
        visible.set_main(at % 2 == 0);
        visible.push(turn);
    }
    visible.finish()
}

#[test]
fn the_fingerprint_is_that_of_the_main_text() {
    let one = in_turns(&["one 5 two ", "buy this", "three"]);
    let other = in_turns(&["one 5 two ", "sell that for 9", "three"]);
    assert_eq!(one.fingerprint, other.fingerprint);
    assert_eq!(one.fingerprint, measure("one 5 two three").1);
    assert_ne!(one.numbers, other.numbers, "told apart by these");
    assert_ne!(one.wording, other.wording);
    for changed in [
        in_turns(&["one 5 two ", "buy this", "four"]),
        in_turns(&["one 6 two ", "buy this", "three"]),
    ] {
        assert_ne!(one.fingerprint, changed.fingerprint);
    }
}

#[test]
fn text_around_counts_where_there_is_no_main_text() {
    let around = in_turns(&["", "only this 5", " 15:52 "]);
    assert_eq!(around.fingerprint, measure("only this 5").1);
    assert_eq!(in_turns(&["", ""]).fingerprint, None);
}

#[test]
fn words_around_are_beside_no_number_of_the_main_text() {
    let number = |number: &str| in_turns(&["a ", "views", number]).fingerprint;
    assert_ne!(number("12"), number("13"));
    let number = |number: &str| in_turns(&[number, "views"]).fingerprint;
    assert_ne!(number("12"), number("13"));
}

#[test]
fn spelling_of_space_case_and_marks_is_no_change() {
    same("Hello,  World!", "hello world");
    same("a\u{3000}b\u{2003}c\u{1680}", "a b c");
    same("a\u{a0}b", "a b");
    same("5  views.", "5 views");
}

#[test]
fn words_are_a_change() {
    differ("hello world", "hello word");
    differ("a b", "ab");
    differ("가나다", "가나라");
    differ("mp3", "mp4");
    differ("a1b2c3d4e5f6g7h", "a1b2c3d4e5f6g7i");
    differ("we may march", "we may run");
    differ("", "a");
}

#[test]
fn text_without_words_has_no_fingerprint() {
    assert_eq!(measure("").1, None);
    assert_eq!(measure(" 12:30 -- ").1, None);
}

#[test]
fn pieces_and_the_whole_are_one() {
    let text = format!(
        "{} 가나 é x{} 12 end {} 3 views a1{}",
        "word ".repeat(3000),
        "y".repeat(20_000),
        "mon 3 hours 5 d ".repeat(2_000),
        "z".repeat(10_000),
    );
    let mut pieces = VisibleText::new();
    for c in text.chars() {
        pieces.push(c.encode_utf8(&mut [0; 4]));
    }
    assert_eq!(pieces.finish(), measured(&text));
}

/// What texts are made of that is not read in blocks.
const TOKENS: &str = "([a-zA-Z가-힣 .,0-9\u{a0}\u{3000}\t:/$%-]{1,12}|[0-9]{1,4}[-./:,]|\
     views|조회수|Mon|March|pm|hours|분|원|명|k|th|ago|T|Z| |€|\
     [0-9a-f]{8}-|[0-9a-f]{4}-|[0-9a-f]{12}|[a-z0-9]{14,20})";

proptest::proptest! {
    #[test]
    fn blocks_fold_as_single_characters_do(
        tokens in proptest::collection::vec(TOKENS, 0..40),
        before in 0_usize..4200,
    ) {
        // What is hashed before the end must make no difference either.
        let text = format!("{}{}", "d ".repeat(before / 2), tokens.concat());
        let mut single = VisibleText::new();
        for c in text.chars() {
            single.character(c);
        }
        proptest::prop_assert_eq!(measured(&text), single.finish());
    }

    #[test]
    fn cuts_make_no_difference(
        pieces in proptest::collection::vec((TOKENS, 0_u8..4), 0..60),
    ) {
        // Before each piece nothing happens, a block ends, or we go in or out of
        // the main text.
        let (mut whole, mut cut) = (VisibleText::new(), VisibleText::new());
        let mut run = String::new();
        for (piece, event) in &pieces {
            if *event > 1 {
                whole.push(&run);
                run.clear();
                for visible in [&mut whole, &mut cut] {
                    visible.space();
                    visible.set_main(*event == 2);
                }
            }
            run.push_str(piece);
            cut.push(piece);
        }
        whole.push(&run);
        proptest::prop_assert_eq!(whole.finish(), cut.finish());
    }

    #[test]
    fn what_is_left_out_takes_its_neighbours_along_only_by_rule(
        number in 2_000_000_u32..9_000_000,
        other in 2_000_000_u32..9_000_000,
    ) {
        proptest::prop_assume!(number != other);
        for (before, after) in [("", "원"), ("$", ""), ("", " items"), ("stock ", "")] {
            let text = |number: u32| format!("buy {before}{number}{after} now");
            let [one, two] = [number, other].map(|number| measure(&text(number)).1);
            proptest::prop_assert_ne!(one, two);
        }
        for (before, after) in [("", " views"), ("조회수 ", ""), ("", "분 전"), ("", " days")] {
            let text = |number: u32| format!("see {before}{number}{after} now");
            let [one, two] = [number, other].map(|number| measure(&text(number)).1);
            proptest::prop_assert_eq!(one, two);
        }
    }
}
