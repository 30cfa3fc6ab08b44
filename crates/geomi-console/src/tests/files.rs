//! Files, pages of lists, and what is known already.

use super::*;

#[tokio::test]
async fn files_come_whole_and_in_parts() {
    let console = Console::new();
    let token = console.token(Role::Viewer);
    let text: String = ('a'..='z').collect();
    std::fs::write(console.dir().warc().join("x.warc.gz"), &text).unwrap();
    let path = "/api/v1/crawls/news/files/warc/x.warc.gz";
    let whole = console.get(path, Some(&token)).await.is(200);
    assert_eq!(whole.body, text);
    assert_eq!(
        whole.headers[header::CONTENT_TYPE],
        "application/octet-stream"
    );
    let part = |range: &'static str| {
        let mut request = request(Method::GET, path, Some(&token), ELSEWHERE, Body::empty());
        request
            .headers_mut()
            .insert(header::RANGE, range.parse().unwrap());
        console.ask(request)
    };
    let some = part("bytes=2-4").await.is(206);
    assert_eq!(
        (some.body.as_str(), &some.headers[header::CONTENT_RANGE]),
        ("cde", &"bytes 2-4/26".parse().unwrap())
    );
    assert_eq!(part("bytes=-3").await.is(206).body, "xyz");
    assert_eq!(
        part("bytes=26-").await.is(416).headers[header::CONTENT_RANGE],
        "bytes */26"
    );
    let mut known = request(Method::GET, path, Some(&token), ELSEWHERE, Body::empty());
    known
        .headers_mut()
        .insert(header::IF_NONE_MATCH, whole.headers[header::ETAG].clone());
    console.ask(known).await.is(304);
    for hidden in [
        "lock",
        "../console/accounts.json",
        "..%2f..%2fconsole%2faccounts.json",
        "frontier",
        "%2e%2e/news/status.json",
    ] {
        console
            .get(&format!("/api/v1/crawls/news/files/{hidden}"), Some(&token))
            .await
            .is(404);
    }
    let listed = console
        .get("/api/v1/crawls/news/files", Some(&token))
        .await
        .is(200)
        .json();
    let paths: Vec<&str> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["status.json", "warc/x.warc.gz"]);
}

#[tokio::test]
async fn lists_are_paged_by_key_and_not_sent_twice() {
    let console = Console::new();
    let token = console.token(Role::Viewer);
    for name in ["a", "b", "c"] {
        CrawlDir::create(console.folder.path().join(name)).unwrap();
    }
    let mut seen = Vec::new();
    let mut path = "/api/v1/crawls?limit=2".to_owned();
    loop {
        let page = console.get(&path, Some(&token)).await.is(200).json();
        seen.extend(
            page["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row["id"].as_str().unwrap().to_owned()),
        );
        match page["next"].as_str() {
            Some(next) => path = format!("/api/v1/crawls?limit=2&after={next}"),
            None => break,
        }
    }
    assert_eq!(seen, ["a", "b", "c", "news"]);
    let first = console
        .get("/api/v1/crawls/news", Some(&token))
        .await
        .is(200);
    let mut again = request(
        Method::GET,
        "/api/v1/crawls/news",
        Some(&token),
        ELSEWHERE,
        Body::empty(),
    );
    again
        .headers_mut()
        .insert(header::IF_NONE_MATCH, first.headers[header::ETAG].clone());
    assert_eq!(console.ask(again).await.is(304).body, "");
}

#[tokio::test]
async fn pipes_and_links_are_not_given_and_hold_nobody_up() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::symlink;
    let console = Console::new();
    let token = console.token(Role::Admin);
    let dir = console.dir();
    let pipe = |name: &str| {
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, dir.root().join(name), FileType::Fifo, mode, 0).unwrap();
    };
    let secret = console.folder.path().join("console/accounts.json");
    for name in [
        "warc/pipe.warc.gz",
        "index/index.cdxj",
        "stats.jsonl",
        "lock",
    ] {
        // Opened for reading, a pipe without a writer would wait for ever.
        let _was_there = std::fs::remove_file(dir.root().join(name));
        pipe(name);
    }
    symlink(&secret, dir.root().join("warc/link.warc.gz")).unwrap();
    symlink(&secret, dir.config()).unwrap();
    std::fs::remove_dir(dir.visits()).unwrap();
    symlink(console.folder.path().join("console"), dir.visits()).unwrap();
    for path in [
        "warc/pipe.warc.gz",
        "warc/link.warc.gz",
        "visits/accounts.json",
        "geomi.toml",
    ] {
        let path = format!("/api/v1/crawls/news/files/{path}");
        console.get(&path, Some(&token)).await.is(404);
    }
    let listed = console.get("/api/v1/crawls/news/files", Some(&token)).await;
    let listed = listed.is(200);
    assert!(!listed.body.contains("accounts") && !listed.body.contains("pipe"));
    let config = "/api/v1/crawls/news/config";
    let config = console.get(config, Some(&token)).await.is(200);
    assert!(!config.body.contains("argon2"), "{}", config.body);
    // None of these waits; what they say of such files is another matter.
    for path in [
        "/api/v1/crawls/news",
        "/api/v1/crawls/news/stats",
        "/api/v1/crawls/news/captures?url=a.test",
        "/crawls/news",
    ] {
        console.get(path, Some(&token)).await;
    }
}
