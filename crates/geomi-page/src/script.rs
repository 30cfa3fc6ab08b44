//! Addresses in script code.
//!
//! A script is scanned and never run: one pass over its strings that knows
//! comments, regular expressions and string literals, and nothing else of the
//! language. Strings that are joined with `+` are one string; a string joined with
//! anything else is a part of an address and left out.
//!
//! What stands before a string says how much it must look like an address:
//!
//! | before the string | taken if it is |
//! |---|---|
//! | `location =`, `location.href =`, `location.replace(`, `window.open(` | any reference |
//! | `fetch(`, `import`, `.open("GET",`, `.href =`, `.src =`, `url:` and the like | a reference with a `/`, `.` or `?` |
//! | anything else | an address with `http:` or `https:` and a host, a path of two or more segments or with a known extension, a page's file name |
//!
//! Namespaces (`http://www.w3.org/2000/svg`), route patterns (`/item/:id`),
//! placeholders (`{{url}}`, `${id}`, `%s`) and other schemes are no addresses.
//! Code in a string that is run or parsed later (`setTimeout("…")`, `JSON.parse("…")`)
//! is handed back as such. Markup that is written into the page (`document.write(`, `innerHTML =`, `.html(`) is
//! handed back as such; markup in any other string is not looked at.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memchr3, memmem};

use crate::tokenizer::is_space;

/// What kind of code it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    /// A script of a page: relative addresses are relative to the page.
    Inline,
    /// A script file: nobody knows which page runs it.
    File,
    /// Data: strings in double quotes, no comments.
    Json,
}

/// What a string holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Found<'a> {
    Address(Cow<'a, str>),
    Markup(Cow<'a, str>),
    /// Code or data that is run or parsed later.
    Code(Cow<'a, str>, Code),
}

/// Longest string that is looked at as an address.
const ADDRESS_BYTES_MAX: usize = 2_048;
/// How far back the words before a string are looked at.
const BEFORE_BYTES: usize = 64;

/// Hosts that names of vocabularies begin with: nothing is to be fetched there.
const NAMESPACES: [&str; 7] = [
    "www.w3.org",
    "schema.org",
    "www.schema.org",
    "ns.adobe.com",
    "purl.org",
    "ogp.me",
    "json-schema.org",
];

/// Extensions of pages, which are taken without a directory before them.
const PAGES: [&str; 8] = ["html", "htm", "xhtml", "php", "asp", "aspx", "jsp", "do"];
/// Extensions of other files that a path may end in.
const FILES: [&str; 30] = [
    "pdf", "json", "xml", "txt", "csv", "rss", "atom", "zip", "png", "jpg", "jpeg", "gif", "webp",
    "avif", "svg", "ico", "css", "js", "mjs", "woff", "woff2", "ttf", "otf", "mp3", "mp4", "webm",
    "m3u8", "wasm", "doc", "hwp",
];

/// Calls `take` with each address, and each piece of markup, in a script.
pub(crate) fn each_address<'a>(code: &'a str, sort: Code, take: impl FnMut(Found<'a>)) {
    let bytes = code.as_bytes();
    let mut scan = Scan {
        code,
        sort,
        take,
        key: "",
        after_method: false,
    };
    let mut at = 0;
    let mut slash = next_slash(bytes, 0, sort);
    // Up to here a `/` is known to begin no regular expression.
    let mut divides_until = 0;
    while let Some(quote) = next_quote(bytes, at, sort) {
        // Comments and regular expressions may hold quotes.
        if slash < quote {
            at = past_slash(bytes, slash, &mut divides_until);
            slash = next_slash(bytes, at, sort);
            continue;
        }
        at = scan.literals(quote);
        if slash < at {
            slash = next_slash(bytes, at, sort);
        }
    }
}

fn next_quote(bytes: &[u8], from: usize, sort: Code) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let found = match sort {
        Code::Json => memchr(b'"', rest),
        _ => memchr3(b'"', b'\'', b'`', rest),
    };
    found.map(|found| from + found)
}

/// Where the next `/` is; past the end if there is none that counts.
fn next_slash(bytes: &[u8], from: usize, sort: Code) -> usize {
    if sort == Code::Json {
        return usize::MAX;
    }
    let found = bytes.get(from..).and_then(|rest| memchr(b'/', rest));
    found.map_or(usize::MAX, |found| from + found)
}

/// Where to go on after the `/` there: behind a comment, a regular expression, or
/// the sign of a division.
fn past_slash(bytes: &[u8], slash: usize, divides_until: &mut usize) -> usize {
    let after = slash + 1;
    match bytes.get(after) {
        Some(b'/') => {
            memchr(b'\n', &bytes[after..]).map_or(bytes.len(), |length| after + length + 1)
        }
        Some(b'*') => memmem::find(&bytes[after + 1..], b"*/")
            .map_or(bytes.len(), |length| after + 1 + length + 2),
        _ if slash >= *divides_until && begins_regex(bytes, slash) => regex_end(bytes, after)
            .unwrap_or_else(|line_end| {
                *divides_until = line_end;
                after
            }),
        _ => after,
    }
}

/// Whether a `/` begins a regular expression: an operand cannot stand before it.
fn begins_regex(bytes: &[u8], slash: usize) -> bool {
    let before = trim_end(&bytes[slash.saturating_sub(BEFORE_BYTES)..slash]);
    let Some(&last) = before.last() else {
        return true;
    };
    b"(,=:[!&|?{};+-*%<>~^".contains(&last)
        || ["return", "typeof", "case", "in", "of"]
            .iter()
            .any(|word| ends_with_word(before, word))
}

/// Where the regular expression ends that begins at `start`. It cannot go past its
/// line: then it was none, and where the line ends is told.
fn regex_end(bytes: &[u8], start: usize) -> Result<usize, usize> {
    let mut at = start;
    let mut in_class = false;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'\n' => return Err(at),
            b'/' if !in_class => return Ok(at + 1),
            _ => {}
        }
        at += 1;
    }
    Err(bytes.len())
}

/// The state of a scan.
struct Scan<'a, F> {
    code: &'a str,
    sort: Code,
    take: F,
    /// The key before a value, in JSON.
    key: &'a str,
    /// Whether the string before was the method of a request.
    after_method: bool,
}

/// One string literal.
struct Literal {
    /// Where its content begins and ends.
    start: usize,
    end: usize,
    /// Where to go on.
    next: usize,
    /// It has `${…}` in it.
    has_holes: bool,
}

impl<'a, F: FnMut(Found<'a>)> Scan<'a, F> {
    /// Reads the literal whose quote is at `open` and those joined to it; gives where to
    /// go on.
    fn literals(&mut self, open: usize) -> usize {
        let bytes = self.code.as_bytes();
        let before = trim_end(&bytes[open.saturating_sub(BEFORE_BYTES)..open]);
        let first = self.literal(open);
        let mut is_part = before.last() == Some(&b'+') || first.has_holes;
        let mut text = unescape(&self.code[first.start..first.end]);
        let mut at = first.next;
        loop {
            let plus = skip_spaces(bytes, at);
            if self.sort == Code::Json || bytes.get(plus) != Some(&b'+') {
                break;
            }
            let operand = skip_spaces(bytes, plus + 1);
            let Some(b'"' | b'\'' | b'`') = bytes.get(operand) else {
                is_part = true;
                break;
            };
            let more = self.literal(operand);
            is_part |= more.has_holes;
            if text.len() <= ADDRESS_BYTES_MAX {
                text += unescape(&self.code[more.start..more.end]);
            }
            at = more.next;
        }
        self.judge(text, before, is_part, at);
        at
    }

    fn literal(&self, open: usize) -> Literal {
        let bytes = self.code.as_bytes();
        let quote = bytes[open];
        let start = open + 1;
        let mut at = start;
        loop {
            let Some(found) = bytes.get(at..).and_then(|rest| memchr2(quote, b'\\', rest)) else {
                return self.unclosed(start);
            };
            at += found;
            if bytes[at] == quote {
                break;
            }
            at += 2;
        }
        let content = &bytes[start..at];
        if quote != b'`' && self.sort != Code::Json && memchr(b'\n', content).is_some() {
            // An apostrophe in running text, or a string that was never closed.
            return self.unclosed(start);
        }
        Literal {
            start,
            end: at,
            next: at + 1,
            has_holes: quote == b'`' && memmem::find(content, b"${").is_some(),
        }
    }

    /// A quote that begins nothing: the scan goes on with the next line.
    fn unclosed(&self, start: usize) -> Literal {
        let bytes = self.code.as_bytes();
        let line = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        Literal {
            start,
            end: start,
            next: line,
            has_holes: false,
        }
    }

    fn judge(&mut self, text: Cow<'a, str>, before: &[u8], is_part: bool, next: usize) {
        let was_method = std::mem::replace(&mut self.after_method, is_method(&text));
        if self.sort == Code::Json {
            let bytes = self.code.as_bytes();
            if bytes.get(skip_spaces(bytes, next)) == Some(&b':') {
                let end = next.saturating_sub(1);
                let start = end.saturating_sub(text.len());
                self.key = self.code.get(start..end).unwrap_or_default();
                return;
            }
            if matches!(self.key, "@context" | "@type" | "@vocab") {
                return;
            }
        }
        if let Some(sort) = code_in(&text, before).filter(|_| !is_part) {
            (self.take)(Found::Code(text, sort));
            return;
        }
        if memchr(b'<', text.as_bytes()).is_some() {
            let has_link = ["href", "src"].iter().any(|name| text.contains(name));
            if has_link && writes_markup(before) {
                (self.take)(Found::Markup(text));
            }
            return;
        }
        if is_part || text.len() > ADDRESS_BYTES_MAX {
            return;
        }
        let context = if was_method && before.last() == Some(&b',') {
            Context::Request
        } else {
            Context::of(before)
        };
        if self.is_address(&text, context) {
            (self.take)(Found::Address(text));
        }
    }

    fn is_address(&self, text: &str, context: Context) -> bool {
        if !is_reference(text) {
            return false;
        }
        let is_absolute = is_absolute(text);
        let is_rooted = text.starts_with('/') && !text.starts_with("//");
        if self.sort == Code::File && !is_absolute && !is_rooted {
            // Relative to a page that is not known; modules are relative to the file.
            return context == Context::Import
                && (text.starts_with("./") || text.starts_with("../"));
        }
        match context {
            Context::Navigation => true,
            Context::Request | Context::Import => text.contains(['/', '.', '?']) && text.len() > 1,
            Context::None => looks_like_address(text),
        }
    }
}

/// What kind of code a string holds, if it is an argument that is run
/// (`setTimeout`) or parsed (`JSON.parse`).
fn code_in(text: &str, before: &[u8]) -> Option<Code> {
    let callee = before.strip_suffix(b"(")?;
    memchr2(b'"', b'\'', text.as_bytes())?;
    let callee = trim_end(callee);
    match word_before(callee) {
        b"setTimeout" | b"setInterval" | b"eval" | b"execScript" => Some(Code::Inline),
        b"parse" if callee.ends_with(b"JSON.parse") => Some(Code::Json),
        b"parseJSON" => Some(Code::Json),
        _ => None,
    }
}

/// Whether a handler opens the value of its element: `location = this.value`.
pub(crate) fn opens_value(code: &str) -> bool {
    let opens = ["location", "open("].iter().any(|it| code.contains(it));
    opens && (code.contains("value") || code.contains("selectedIndex"))
}

/// What a string is for, by what stands before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Context {
    Navigation,
    Request,
    Import,
    None,
}

impl Context {
    fn of(before: &[u8]) -> Self {
        let Some((&last, rest)) = before.split_last() else {
            return Self::None;
        };
        let rest = trim_end(rest);
        match last {
            b'(' => Self::of_call(rest),
            b'=' => Self::of_target(rest),
            b':' => {
                let key = word_before(rest.strip_suffix(b"\"").unwrap_or(rest));
                if ["url", "href", "src", "uri"]
                    .iter()
                    .any(|it| key == it.as_bytes())
                {
                    Self::Request
                } else {
                    Self::None
                }
            }
            _ if ends_with_word(before, "import") || ends_with_word(before, "from") => Self::Import,
            _ => Self::None,
        }
    }

    /// The argument of a call.
    fn of_call(callee: &[u8]) -> Self {
        let name = word_before(callee);
        let object = object_before(callee, name);
        match name {
            b"replace" | b"assign" if object.is_some_and(|it| ends_with_word(it, "location")) => {
                Self::Navigation
            }
            b"open" if object.is_none_or(|it| ends_with_word(it, "window")) => Self::Navigation,
            b"fetch" | b"getJSON" | b"ajax" | b"importScripts" | b"sendBeacon" | b"Worker"
            | b"EventSource" | b"navigate" | b"pushState" => Self::Request,
            b"import" => Self::Import,
            _ => Self::None,
        }
    }

    /// The right side of an assignment.
    fn of_target(target: &[u8]) -> Self {
        if matches!(target.last(), Some(b'=' | b'!' | b'<' | b'>')) {
            return Self::None;
        }
        let name = word_before(target);
        let object = object_before(target, name);
        match name {
            b"location" => Self::Navigation,
            b"href" if object.is_some_and(|it| ends_with_word(it, "location")) => Self::Navigation,
            b"href" | b"src" | b"action" if object.is_some() => Self::Request,
            _ => Self::None,
        }
    }
}

/// Whether a text has nothing in it that an address cannot have.
pub(crate) fn is_reference(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_url_byte) && !has_placeholder(text)
}

/// Whether a reference that nothing speaks for looks like an address.
pub(crate) fn looks_like_address(text: &str) -> bool {
    is_absolute(text) || looks_like_path(text)
}

fn is_method(text: &str) -> bool {
    ["GET", "POST", "PUT", "DELETE", "HEAD"]
        .iter()
        .any(|method| text.eq_ignore_ascii_case(method))
}

/// Whether a byte may stand in an address as scripts write them.
const fn is_url_byte(byte: u8) -> bool {
    byte > b' '
        && !matches!(
            byte,
            b'"' | b'\''
                | b'<'
                | b'>'
                | b'\\'
                | b'^'
                | b'`'
                | b'{'
                | b'|'
                | b'}'
                | b'*'
                | b'$'
                | 0x7F
        )
}

/// Whether something is to be filled in: `/item/:id`, `%s`, `/a/[id]`.
fn has_placeholder(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_hex = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
    memchr::memchr_iter(b'%', bytes).any(|at| !is_hex(at + 1) || !is_hex(at + 2))
        || text.contains("/:")
        || text.contains("/[")
        || text.contains("/@@")
}

fn is_absolute(text: &str) -> bool {
    let rest = text
        .strip_prefix("http://")
        .or_else(|| text.strip_prefix("https://"))
        .or_else(|| text.strip_prefix("//"));
    let Some(rest) = rest else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let name = host.split(':').next().unwrap_or(host);
    let is_host =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-') || byte >= 0x80;
    let is_named = !name.is_empty() && name.bytes().all(is_host) && !name.starts_with('.');
    let is_whole = name.contains('.') || name == "localhost";
    is_named
        && is_whole
        && !name.ends_with('.')
        && !NAMESPACES
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
        && !text.ends_with(['=', '&'])
}

/// Whether a string that nothing speaks for looks like a path.
fn looks_like_path(text: &str) -> bool {
    let path = text.split(['?', '#']).next().unwrap_or(text);
    if text.ends_with(['=', '&', '?']) || path.contains([',', ';', '(', ')', ':', '!', '[', ']']) {
        return false;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_one_of = |known: &[&str]| known.iter().any(|it| extension.eq_ignore_ascii_case(it));
    let inner = path
        .strip_prefix("../")
        .or_else(|| path.strip_prefix("./"))
        .or_else(|| path.strip_prefix('/'));
    let Some(inner) = inner else {
        // A page's own name, as in a list of pages.
        return is_one_of(&PAGES) && name.len() > extension.len() + 1 && !path.contains("//");
    };
    let starts_well = inner
        .bytes()
        .next()
        .is_some_and(|b| b.is_ascii_alphanumeric() || b >= 0x80);
    let segments = inner.split('/').filter(|part| !part.is_empty()).count();
    let has_letter = inner.bytes().any(|b| b.is_ascii_alphabetic() || b >= 0x80);
    starts_well
        && has_letter
        && !inner.contains("//")
        && (segments > 1 || is_one_of(&PAGES) || is_one_of(&FILES) || text.contains('?'))
}

fn skip_spaces(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|&byte| is_space(byte)) {
        at += 1;
    }
    at
}

fn trim_end(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii_end()
}

/// The name that a piece of code ends in.
fn word_before(bytes: &[u8]) -> &[u8] {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    let length = bytes.iter().rev().take_while(|byte| is_name(byte)).count();
    &bytes[bytes.len() - length..]
}

/// What the name at the end of a piece of code is a part of.
fn object_before<'b>(bytes: &'b [u8], name: &[u8]) -> Option<&'b [u8]> {
    let before = trim_end(&bytes[..bytes.len() - name.len()]);
    before.strip_suffix(b".").map(trim_end)
}

fn ends_with_word(bytes: &[u8], word: &str) -> bool {
    word_before(bytes) == word.as_bytes()
}

/// A string with its escapes undone.
fn unescape(raw: &str) -> Cow<'_, str> {
    if memchr(b'\\', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        let digits = match chars.next() {
            Some('u') => 4,
            Some('x') => 2,
            Some('n' | 'r' | 't' | 'b' | 'f' | 'v') => {
                text.push(' ');
                continue;
            }
            // A line that goes on.
            Some('\n') | None => continue,
            Some(other) => {
                text.push(other);
                continue;
            }
        };
        let rest = chars.as_str();
        let code = rest
            .get(..digits)
            .and_then(|hex| u32::from_str_radix(hex, 16).ok());
        match code.and_then(char::from_u32) {
            Some(c) => {
                text.push(c);
                chars = rest[digits..].chars();
            }
            // Half of a pair, or none at all: no address has it.
            None => text.push(char::REPLACEMENT_CHARACTER),
        }
    }
    Cow::Owned(text)
}

/// Whether the string behind this code is written into the page as markup.
fn writes_markup(before: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric();
    let end = before.iter().rposition(is_word).map_or(0, |at| at + 1);
    let before = &before[..end];
    [
        "write",
        "writeln",
        "innerHTML",
        "outerHTML",
        "html",
        "append",
        "prepend",
    ]
    .iter()
    .any(|name| {
        before
            .strip_suffix(name.as_bytes())
            .is_some_and(|object| object.ends_with(b"."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str, sort: Code) -> Vec<String> {
        let mut all = Vec::new();
        each_address(code, sort, |found| {
            all.push(match found {
                Found::Address(text) => text.into_owned(),
                Found::Markup(text) => format!("markup {text}"),
                Found::Code(text, sort) => format!("{sort:?} {text}"),
            });
        });
        all
    }

    #[track_caller]
    fn check(code: &str, expected: &[&str]) {
        assert_eq!(found(code, Code::Inline), expected, "in {code:?}");
    }

    #[test]
    fn what_stands_before_a_string_says_what_it_is_for() {
        check("location = 'next'", &["next"]);
        check("window.location.href=\"?page=2\"", &["?page=2"]);
        check("top.location . replace( 'a' )", &["a"]);
        check("document.location.assign(`b`)", &["b"]);
        check("window.open('pop.html','w','width=1')", &["pop.html"]);
        check("open('pop')", &["pop"]);
        check("db.open('name')", &[]);
        check("text.replace('a', 'b')", &[]);
        check("fetch('data.json').then(x)", &["data.json"]);
        check("xhr.open('GET', 'list?x=1', true)", &["list?x=1"]);
        check("$.ajax({ url: 'get.php', type: 'POST' })", &["get.php"]);
        check("img.src = 'a.gif'", &["a.gif"]);
        check("if (location == 'x') y = 'z'", &[]);
    }

    #[test]
    fn strings_that_look_like_addresses() {
        check("var a = '/dir/page'", &["/dir/page"]);
        check("x('./a/b.html')", &["./a/b.html"]);
        check("x = \"https:\\/\\/e.com\\/x\"", &["https://e.com/x"]);
        check("x = '\\x2fa\\u002fb'", &["/a/b"]);
        check("x = ['a.html', 'b.php?c=1', 'c']", &["a.html", "b.php?c=1"]);
        for none in [
            "'/'",
            "'/x'",
            "'//'",
            "'/ /'",
            "'text/html'",
            "'1/2'",
            "'/01/02'",
            "'/a/:id'",
            "'/a/%s'",
            "'/a/{id}'",
            "`/a/${id}/b`",
            "'/search?q='",
            "'http://www.w3.org/2000/svg'",
            "'http://'",
            "'https://*.e.com/x'",
            "'mailto:a@b.c'",
            "'data:image/png,x'",
            "'a b/c d'",
            "'image/png;a/b'",
            "'M0,0/1,1'",
            "'blob:http://e.com/x'",
        ] {
            check(&format!("x = {none}"), &[]);
        }
    }

    #[test]
    fn joined_strings_are_one_and_parts_are_none() {
        check("location = '/a/' + 'b' + \".html\"", &["/a/b.html"]);
        check("location = '/a/' + id", &[]);
        check("location = base + '/a/b'", &[]);
        check("location = '/a/' + id + '/b/c.html'", &[]);
    }

    #[test]
    fn comments_and_regular_expressions_hold_nothing() {
        check("// location = '/a/b'\nx = '/c/d'", &["/c/d"]);
        check("/* don't '/a/b' */ x = '/c/d'", &["/c/d"]);
        check("x = /'\\/a\\/b'/.test(y); z = '/c/d'", &["/c/d"]);
        check("x = y.match(/[/'\"]/g); z = '/c/d'", &["/c/d"]);
        check("x = a / b / c; z = '/c/d'", &["/c/d"]);
        check("it's\nz = '/c/d'", &["/c/d"]);
        check("url = 'http://e.com/a' // it's", &["http://e.com/a"]);
    }

    #[test]
    fn markup_is_handed_back() {
        check(
            "document.write('<a href=\"/x\">')",
            &["markup <a href=\"/x\">"],
        );
        check(
            "e.innerHTML += '<img src=\"/y\">'",
            &["markup <img src=\"/y\">"],
        );
        check("x = '<b>'; y = '<a href=/no>'", &[]);
    }

    #[test]
    fn code_in_strings_is_handed_back() {
        check(
            "setTimeout(\"location='/x'\", 9)",
            &["Inline location='/x'"],
        );
        check(
            r#"x = JSON.parse( '{"url":"/x"}' )"#,
            &[r#"Json {"url":"/x"}"#],
        );
        check("setTimeout('/a/b' + \"'\" + c)", &[]);
        check("x.parse(\"'/x'\")", &[]);
    }

    #[test]
    fn files_and_data() {
        let file = |code| found(code, Code::File);
        assert_eq!(file("location = 'a.html'"), Vec::<String>::new());
        assert_eq!(file("import x from './m.js'"), ["./m.js"]);
        assert_eq!(file("import('./m.js'); y = '/a/b'"), ["./m.js", "/a/b"]);
        let json = r#"{"@context":"https://schema.org/x","url":"https:\/\/e.com/a","n":"it's","image":["/i/a.png"]}"#;
        assert_eq!(found(json, Code::Json), ["https://e.com/a", "/i/a.png"]);
    }

    #[test]
    fn broken_code_does_not_panic() {
        for code in [
            "",
            "'",
            "\"\\",
            "`${",
            "/",
            "/*",
            "//",
            "'a'+",
            "=\n'",
            "/[",
            "'\\u12",
            "'\\u{41}'",
            "한'글/가'",
        ] {
            for sort in [Code::Inline, Code::File, Code::Json] {
                found(code, sort);
            }
        }
    }
}
