//! `geomi cat`: a capture read back, by URL and time.
//!
//! Finding and reading is [`geomi_store::readback`], taking codings off is
//! geomi-fetch, the text of a page is geomi-page; here the parts are chosen and
//! printed. Standard output gets the bytes that were asked for and nothing else;
//! what there is to say about them goes to standard error.
//!
//! It reads only: nothing in the crawl directory changes, and a crawl that is
//! running does not notice.

mod args;
mod list;

use anyhow::Context as _;
use data_encoding::BASE64;
use geomi_fetch::StoredAnswer;
use geomi_model::Timestamp;
use geomi_page::{PageInput, ReadLimits, charset_parameter, plain_text};
use geomi_store::CrawlDir;
use geomi_store::cdxj::Entry;
use geomi_store::readback::{Archive, ArchiveLimits, Readback, ReadbackError, Spelling, nearest};
use geomi_url::CrawlUrl;
use serde_json::{Value, json};

use crate::Exit;
use crate::args::{Format, Global};
use crate::config::{Place, Problems};
use crate::seeds_file;
use crate::terminal::{print, print_bytes, print_csv, stderr_line};
pub(crate) use args::{AFTER_HELP, CatArgs};

/// Runs the command.
pub(crate) fn run(args: &CatArgs, global: &Global) -> anyhow::Result<Exit> {
    let (url, moment) = question(args, global)?;
    let limits = ArchiveLimits::default();
    let archive = match Archive::open(CrawlDir::new(&args.dir), limits) {
        Err(error @ ReadbackError::NoIndex(_)) => {
            return Err(Problems::one(error.to_string()).into());
        }
        opened => opened?,
    };
    let entries = find(&archive, &url, args, global)?;
    if args.list {
        let listed = list::listed(&entries, global.format);
        match global.format {
            Format::Csv => print_csv(&listed)?,
            _ => print(&listed)?,
        }
        return Ok(Exit::Done);
    }
    let at = match moment {
        Some(moment) => nearest(&entries, moment),
        None => entries.len().checked_sub(1),
    };
    let at = at.expect("a URL that was not captured was refused");
    let entry = &entries[at];
    let read = archive.read(entry).with_context(|| {
        format!(
            "cannot read the capture of {} at {}",
            entry.fields.url,
            list::time(entry)
        )
    })?;
    if !global.quiet {
        note(before(&entries, at), entry, &read);
    }
    match global.format {
        Format::Human => show(&part(args, entry, &read)?)?,
        Format::Json => print(&format!("{:#}", object(entry, &read)?))?,
        Format::Jsonl => print(&object(entry, &read)?.to_string())?,
        Format::Csv => unreachable!("csv without --list was refused before"),
    }
    Ok(Exit::Done)
}

/// What was typed, or everything that is wrong with it.
fn question(args: &CatArgs, global: &Global) -> Result<(CrawlUrl, Option<Timestamp>), Problems> {
    let mut problems = Problems::default();
    let url = seeds_file::typed(&args.url)
        .map_err(|what| problems.add(&Place::Flag(format!("URL {:?}", args.url)), what));
    let moment = args.at.as_deref().map(moment).transpose();
    let moment = moment.map_err(|what| problems.add(&Place::Flag("--at".to_owned()), what));
    if global.format == Format::Csv && !args.list {
        problems.add_general("--format csv prints the list of captures: add --list");
    }
    let is_part = args.body || args.raw || args.headers || args.text;
    if matches!(global.format, Format::Json | Format::Jsonl) && is_part {
        problems.add_general(
            "--format json prints the whole capture: leave out --body, --raw, --headers and --text",
        );
    }
    problems.into_result()?;
    let (Ok(url), Ok(moment)) = (url, moment) else {
        unreachable!("without problems there is a URL");
    };
    Ok((url.url, moment))
}

fn moment(text: &str) -> Result<Timestamp, String> {
    let digits = Timestamp::parse_compact(text);
    digits
        .or_else(|| Timestamp::parse_published(text))
        .ok_or_else(|| {
            format!("{text:?} is no time: write 2026-11-15, 2026-11-15T09:42:00Z or 20261115094200")
        })
}

/// The captures of the URL; of another spelling of it, if there are none.
fn find(
    archive: &Archive,
    url: &CrawlUrl,
    args: &CatArgs,
    global: &Global,
) -> anyhow::Result<Vec<Entry>> {
    let exact = archive.captures(url, Spelling::Exact)?;
    if !exact.is_empty() {
        return Ok(exact);
    }
    let others = archive.captures(url, Spelling::SameKey)?;
    if let Some(first) = others.first() {
        if !global.quiet {
            stderr_line!("note: {url} was not captured, {} was", first.fields.url);
        }
        return Ok(others);
    }
    let near = archive.neighbours(url)?;
    let dir = args.dir.display();
    let advice = if near.is_empty() {
        format!("nothing of {} was", url.site())
    } else {
        format!("of its site these were, for example: {}", near.join(" "))
    };
    let what = format!(
        "{url} was never captured; {advice}. `geomi explain {dir} {url}` says what became of it"
    );
    Err(Problems::one(what).into())
}

/// The capture of the same URL before that one.
fn before(entries: &[Entry], at: usize) -> Option<&Entry> {
    let mut earlier = entries[..at].iter().rev();
    earlier.find(|earlier| earlier.fields.url == entries[at].fields.url)
}

/// How a capture whose content is stored elsewhere compares with the one `before` it.
fn compared(before: Option<&Entry>, entry: &Entry) -> String {
    match before {
        Some(before) if before.fields.digest == entry.fields.digest => "as unchanged".to_owned(),
        Some(before) => format!(
            "as changed since the capture at {}, with content that was stored before",
            list::time(before)
        ),
        None => "for the first time, with content that was stored before".to_owned(),
    }
}

/// Says what the bytes alone do not tell.
fn note(before: Option<&Entry>, entry: &Entry, read: &Readback) {
    if let Some((original, _)) = &read.original {
        stderr_line!(
            "note: captured at {} {}; its content is that of {} at {}",
            list::time(entry),
            compared(before, entry),
            original.fields.url,
            list::time(original)
        );
    }
    if read.content().truncated {
        stderr_line!("note: the answer is longer than what is read at once, and was cut");
    }
    if let Some(reason) = read.content().info.field("WARC-Truncated") {
        stderr_line!("note: the answer was cut when it was captured ({reason})");
    }
}

fn show(part: &[u8]) -> anyhow::Result<()> {
    if print_bytes(part)? {
        return Ok(());
    }
    let what = "this is no text and would garble the terminal: send it to a file with > FILE, or choose --headers";
    Err(Problems::one(what).into())
}

/// The part of a capture that was asked for.
fn part(args: &CatArgs, entry: &Entry, read: &Readback) -> anyhow::Result<Vec<u8>> {
    let content = read.content();
    if args.raw {
        return Ok(content.block.clone());
    }
    if args.headers {
        return Ok(head(&read.record.block).to_vec());
    }
    let answer = decoded(entry, read)?;
    if !args.text {
        return Ok(answer.body.bytes.to_vec());
    }
    let text = text(entry, &answer)?;
    Ok(text.into_bytes())
}

/// The header of an answer, with the empty line that ends it.
fn head(block: &[u8]) -> &[u8] {
    let end = block.windows(4).position(|window| window == b"\r\n\r\n");
    &block[..end.map_or(block.len(), |end| end + 4)]
}

fn decoded(entry: &Entry, read: &Readback) -> anyhow::Result<StoredAnswer> {
    let bytes_max = ArchiveLimits::default().block_bytes_max;
    let block = read.content().block.clone();
    StoredAnswer::parse(block, bytes_max).map_err(|reason| {
        anyhow::anyhow!(
            "the capture of {} at {} is no HTTP answer: {reason}; --raw shows what is stored",
            entry.fields.url,
            list::time(entry)
        )
    })
}

fn text(entry: &Entry, answer: &StoredAnswer) -> anyhow::Result<String> {
    let url = CrawlUrl::parse(&entry.fields.url).context("the index has a URL that is none")?;
    let content_type = answer.headers.get("content-type");
    let label = content_type.as_deref().and_then(charset_parameter);
    let input = PageInput {
        url: &url,
        mime: content_type.as_deref(),
        charset_label: label,
        body: &answer.body,
    };
    plain_text(&input, &ReadLimits::default()).ok_or_else(|| {
        let kind = content_type.as_deref().unwrap_or("of no stated type");
        let what = format!("{url} is {kind} and has no text to show; --body has its bytes");
        Problems::one(what).into()
    })
}

/// A capture as one object; a body that is no UTF-8 is in base64.
fn object(entry: &Entry, read: &Readback) -> anyhow::Result<Value> {
    let answer = decoded(entry, read)?;
    let (encoding, body) = match std::str::from_utf8(&answer.body) {
        Ok(text) => ("utf-8", text.to_owned()),
        Err(_) => ("base64", BASE64.encode(&answer.body)),
    };
    let mut value = list::object(entry);
    value["headers"] = String::from_utf8_lossy(head(&read.record.block)).into();
    value["content_type"] = json!(answer.headers.get("content-type").as_deref());
    value["content_of"] = json!(
        read.original
            .as_ref()
            .map(|(original, _)| list::object(original))
    );
    value["body_encoding"] = encoding.into();
    value["body"] = body.into();
    value["truncated"] = (read.content().truncated || answer.body.truncated).into();
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_archives_and_people_write_them() {
        for text in [
            "20261115094200",
            "2026-11-15T09:42:00Z",
            "2026-11-15T18:42:00+09:00",
        ] {
            assert_eq!(
                moment(text).unwrap().to_rfc3339_secs(),
                "2026-11-15T09:42:00Z",
                "{text}"
            );
        }
        assert_eq!(moment("2026-11-15").unwrap(), moment("20261115").unwrap());
        assert!(moment("noon").unwrap_err().contains("20261115094200"));
    }

    #[test]
    fn the_header_ends_with_its_empty_line() {
        assert_eq!(
            head(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody\r\n\r\n"),
            b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"
        );
        assert_eq!(head(b"HTTP/1.1 200 OK"), b"HTTP/1.1 200 OK");
    }

    fn entry(url: &str, second: u32, digest: &str) -> Entry {
        let fields = format!(
            "{{\"url\": \"http://a.test/{url}\", \"status\": \"200\", \"digest\": \"sha1:{digest}\", \
             \"length\": \"31\", \"offset\": \"400\", \"filename\": \"a.warc.gz\"}}"
        );
        Entry::parse(&format!("test,a)/{url} 202611150942{second:02} {fields}")).unwrap()
    }

    #[test]
    fn content_that_came_back_is_not_called_unchanged() {
        let all = [
            entry("a", 1, "X"),
            entry("a", 2, "Y"),
            entry("b", 3, "X"),
            entry("a", 4, "X"),
            entry("a", 5, "X"),
        ];
        let told = |at| compared(before(&all, at), &all[at]);
        assert!(told(2).starts_with("for the first time"), "{}", told(2));
        let back = told(3);
        assert!(
            back.starts_with("as changed since the capture at 2026-11-15T09:42:02Z"),
            "{back}"
        );
        assert_eq!(told(4), "as unchanged");
    }
}
