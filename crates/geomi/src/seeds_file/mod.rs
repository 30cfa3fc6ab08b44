//! Where to begin: seeds from arguments, a file or standard input.
//!
//! A file has one URL a line, an optional topic after a tab, `#` comments, and
//! may be compressed with gzip ([`lines`]). A crawl does not hold it in memory:
//! what can be read twice is looked through first, so that every line that
//! cannot be used is reported with its number before anything begins
//! ([`List::survey`]), and then read as a stream while the crawl goes on
//! ([`stream()`]). A pipe is only streamed: what cannot be used is reported when
//! it comes, passed over, and told by the exit code.

mod hosts;
mod lines;
mod list;
mod stream;

use std::path::Path;

use geomi_engine::SeedInput;
use geomi_url::CrawlUrl;

use crate::config::{Locality, Place, Problems};

use list::BadLines;
pub(crate) use list::{List, Survey};
pub(crate) use stream::{Outcome, Vetting, stream};

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

/// Reads a file of URLs in the form of seeds that another flag names: all of it
/// at once.
pub(crate) fn read_for(flag: &str, path: &Path, problems: &mut Problems) -> Vec<SeedInput> {
    let mut seeds = Vec::new();
    let mut bad = BadLines::new(path);
    let outcome = List::open(path).and_then(|list| {
        let mut lines = list.lines()?;
        while let Some((number, line)) = lines.next_seed()? {
            match line {
                Ok(seed) => seeds.push(seed),
                Err(what) => bad.add(number, &what, problems),
            }
        }
        Ok(())
    });
    bad.tell_rest(problems);
    if let Err(error) = outcome {
        cannot_read(flag, path, &error, problems);
    }
    seeds
}

/// Notes that a list cannot be read.
pub(crate) fn cannot_read(
    flag: &str,
    path: &Path,
    error: &std::io::Error,
    problems: &mut Problems,
) {
    problems.add(
        &Place::Flag(flag.to_owned()),
        format!(
            "cannot read {}: {error}; check the path and its permissions",
            path.display()
        ),
    );
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
