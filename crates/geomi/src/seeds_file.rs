//! Where to begin: seeds from arguments, a file or standard input.
//!
//! A file has one URL a line, an optional topic after a tab, `#` comments, and
//! may be compressed with gzip. It is read as a stream; a line that cannot be
//! used is reported with its number, all such lines at once.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use geomi_crawler::SeedInput;
use geomi_url::CrawlUrl;

use crate::config::{Locality, Place, Problems};

/// A line longer than this is no URL.
const LINE_BYTES_MAX: u64 = 64 << 10;
/// Bad lines told one by one; a file of another kind would have millions.
const BAD_LINES_MAX: usize = 20;

/// Reads a seed as a person types it: a host without scheme is asked by https,
/// or by http on this machine.
pub(crate) fn typed(text: &str) -> Result<SeedInput, String> {
    let parsed = if has_scheme(text) {
        CrawlUrl::parse(text)
    } else {
        guess_scheme(text)
    };
    match parsed {
        Ok(url) => Ok(SeedInput { url, topic: None }),
        Err(error) => Err(format!("{error}; write a seed like https://example.com/")),
    }
}

/// Whether a colon ends a scheme; before digits it comes before a port. An
/// address for mail is sent on to be refused.
fn has_scheme(text: &str) -> bool {
    let authority = text.split('/').next().unwrap_or(text);
    let is_scheme = |(name, rest): (&str, &str)| {
        !name.starts_with('[') && !rest.starts_with(|c: char| c.is_ascii_digit())
    };
    authority.contains('@') || authority.split_once(':').is_some_and(is_scheme)
}

fn guess_scheme(text: &str) -> Result<CrawlUrl, geomi_url::UrlError> {
    let secure = CrawlUrl::parse(&format!("https://{text}"))?;
    if Locality::new(&[]).is_local(secure.host()) {
        return CrawlUrl::parse(&format!("http://{text}"));
    }
    Ok(secure)
}

/// Reads a file of seeds; `-` is standard input.
pub(crate) fn read(path: &Path, problems: &mut Problems) -> Vec<SeedInput> {
    read_for("--seeds", path, problems)
}

/// Reads a file of URLs in the form of seeds that another flag names.
pub(crate) fn read_for(flag: &str, path: &Path, problems: &mut Problems) -> Vec<SeedInput> {
    let opened = if path == Path::new("-") {
        Ok(Box::new(io::stdin().lock()) as Box<dyn Read>)
    } else {
        File::open(path).map(|file| Box::new(file) as Box<dyn Read>)
    };
    let outcome = opened.and_then(|file| {
        let lines = decompress(file)?;
        read_lines(path, lines, problems)
    });
    outcome.unwrap_or_else(|error| {
        problems.add(
            &Place::Flag(flag.to_owned()),
            format!(
                "cannot read {}: {error}; check the path and its permissions",
                path.display()
            ),
        );
        Vec::new()
    })
}

/// Looks at the first bytes instead of the name: standard input has none.
fn decompress(file: Box<dyn Read>) -> io::Result<Box<dyn BufRead>> {
    let mut file = BufReader::new(file);
    let is_gzip = file.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    if is_gzip {
        return Ok(Box::new(BufReader::new(MultiGzDecoder::new(file))));
    }
    Ok(Box::new(file))
}

fn read_lines(
    path: &Path,
    mut lines: Box<dyn BufRead>,
    problems: &mut Problems,
) -> io::Result<Vec<SeedInput>> {
    let mut seeds = Vec::new();
    let mut line = Vec::new();
    let mut bad_lines = 0;
    for number in 1.. {
        line.clear();
        // One line at a time and never more than the longest: a compressed
        // file cannot fill the memory.
        let mut capped = (&mut lines).take(LINE_BYTES_MAX);
        if capped.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let is_cut = line.len() as u64 == LINE_BYTES_MAX && !line.ends_with(b"\n");
        if is_cut {
            skip_line(&mut lines)?;
        }
        let read = if is_cut {
            Err("the line is too long".to_owned())
        } else {
            read_line(&line)
        };
        match read {
            Ok(seed) => seeds.extend(seed),
            Err(what) => {
                bad_lines += 1;
                if bad_lines <= BAD_LINES_MAX {
                    problems.add(&Place::File(path.to_owned(), number), what);
                }
            }
        }
    }
    if bad_lines > BAD_LINES_MAX {
        let more = bad_lines - BAD_LINES_MAX;
        problems.add_general(format!(
            "{}: {more} more lines cannot be used",
            path.display()
        ));
    }
    Ok(seeds)
}

fn skip_line(lines: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let buffer = lines.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let newline = buffer.iter().position(|byte| *byte == b'\n');
        let used = newline.map_or(buffer.len(), |at| at + 1);
        lines.consume(used);
        if newline.is_some() {
            return Ok(());
        }
    }
}

/// A seed, or nothing where the line is blank or a comment.
fn read_line(line: &[u8]) -> Result<Option<SeedInput>, String> {
    let line = str::from_utf8(line).map_err(|_| "the line is not UTF-8".to_owned())?;
    let line = line.trim_start_matches('\u{feff}').trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (url, topic) = match line.split_once('\t') {
        Some((url, topic)) => (
            url.trim(),
            Some(topic.trim()).filter(|topic| !topic.is_empty()),
        ),
        None => (line, None),
    };
    let seed = typed(url).map_err(|what| format!("{url:?}: {what}"))?;
    Ok(Some(SeedInput {
        topic: topic.map(str::to_owned),
        ..seed
    }))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn read_bytes(bytes: &[u8]) -> (Vec<(String, Option<String>)>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seeds");
        std::fs::write(&path, bytes).unwrap();
        let mut problems = Problems::default();
        let seeds = read(&path, &mut problems);
        let seeds = seeds
            .into_iter()
            .map(|seed| (seed.url.to_string(), seed.topic));
        (
            seeds.collect(),
            problems.iter().map(str::to_owned).collect(),
        )
    }

    const FILE: &str =
        "# news\nhttp://a.example/\tpolitics\r\n\n  https://b.example/x  \nc.example\n";

    #[test]
    fn lines_topics_and_comments() {
        let (seeds, problems) = read_bytes(FILE.as_bytes());
        assert_eq!(problems, Vec::<String>::new());
        let expected = [
            ("http://a.example/", Some("politics")),
            ("https://b.example/x", None),
            ("https://c.example/", None),
        ];
        let expected = expected.map(|(url, topic)| (url.to_owned(), topic.map(str::to_owned)));
        assert_eq!(seeds, expected);
    }

    #[test]
    fn compressed_files_are_known_by_their_content() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(FILE.as_bytes()).unwrap();
        assert_eq!(
            read_bytes(&packed.finish().unwrap()),
            read_bytes(FILE.as_bytes())
        );
    }

    #[test]
    fn bad_lines_are_told_by_number_and_the_others_read() {
        let mut file = b"http://a.example/\nmailto:x@y.example\n".to_vec();
        file.extend(vec![b'x'; 200_000]);
        file.extend(b"\nhttp://b.example/\n\xff\xfe\n");
        let (seeds, problems) = read_bytes(&file);
        assert_eq!(seeds.len(), 2);
        assert_eq!(problems.len(), 3, "{problems:?}");
        for (problem, line) in problems.iter().zip([":2:", ":3:", ":5:"]) {
            assert!(problem.contains(line), "{problem}");
        }
    }

    #[test]
    fn typed_seeds_get_a_scheme() {
        let url = |text| typed(text).unwrap().url.to_string();
        assert_eq!(url("example.com"), "https://example.com/");
        assert_eq!(url("example.com:8080/a"), "https://example.com:8080/a");
        assert_eq!(url("localhost:3000"), "http://localhost:3000/");
        assert_eq!(url("127.0.0.1"), "http://127.0.0.1/");
        assert_eq!(url("[::1]:8080"), "http://[::1]:8080/");
        assert_eq!(url("http://example.com"), "http://example.com/");
        for wrong in [
            "",
            "ftp://example.com",
            "http://",
            "mailto:a@b.example",
            "a@b.example",
        ] {
            assert!(typed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_missing_file_is_a_problem() {
        let mut problems = Problems::default();
        assert!(read(Path::new("/nonexistent/seeds.txt"), &mut problems).is_empty());
        assert!(
            problems
                .to_string()
                .contains("cannot read /nonexistent/seeds.txt")
        );
    }
}
