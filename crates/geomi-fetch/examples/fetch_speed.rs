//! What a fetch costs: CPU time of the fetching threads for each request.
//!
//! A thread of its own serves one fixed answer over loopback as cheaply as it
//! can; only the time of the other threads is counted. Arguments: requests
//! (100,000), connections (64), body bytes (18,000), and `chunked` or `gzip`
//! for another kind of answer.
//!
//! ```text
//! cargo run --release -p geomi-fetch --example fetch_speed -- 100000 64 18000
//! ```

use std::error::Error;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use geomi_fetch::{FetchConfig, FetchRequest, Fetcher};
use geomi_model::NetworkState;
use geomi_url::CrawlUrl;
use tokio::time::Instant;

/// The unit of CPU times in `/proc`, fixed by the Linux ABI for all programs.
const TICKS_PER_SECOND: u64 = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| match arguments.next() {
        Some(text) => text.parse(),
        None => Ok(default),
    };
    let requests = number(100_000)?;
    let connections = number(64)?.max(1);
    let body_bytes = number(18_000)?;
    let kind = arguments.next().unwrap_or_default();
    let addr = serve(answer(&kind, body_bytes)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(measure(addr, requests, connections))
}

async fn measure(
    addr: SocketAddr,
    requests: usize,
    connections: usize,
) -> Result<(), Box<dyn Error>> {
    let mut config = FetchConfig::default();
    config.address_policy.allow_all = true;
    config.idle_connections_per_origin_max = connections;
    let fetcher = Fetcher::new(config)?;
    let url = CrawlUrl::parse(&format!("http://{addr}/page"))?;
    let started = Instant::now();
    let cpu_before = cpu_of_this_thread()?;
    let workers: Vec<_> = (0..connections)
        .map(|_| {
            let (fetcher, url) = (fetcher.clone(), url.clone());
            let count = requests / connections;
            tokio::spawn(async move { fetch_all(&fetcher, &url, addr, count).await })
        })
        .collect();
    let mut done = Counts::default();
    for worker in workers {
        let counts = worker.await?;
        done.fetched += counts.fetched;
        done.reused += counts.reused;
        done.body_bytes += counts.body_bytes;
    }
    let cpu = cpu_of_this_thread()?.saturating_sub(cpu_before);
    let wall = started.elapsed();
    let each = cpu.as_secs_f64() * 1e6 / done.fetched.max(1) as f64;
    let rate = done.fetched as f64 / wall.as_secs_f64();
    #[expect(clippy::disallowed_methods, reason = "all it prints is its own")]
    writeln!(
        io::stdout(),
        "{} fetched ({} on a reused connection), {} bytes of body, {:.2} s: \
         {rate:.0} a second, {each:.1} us CPU each, peak memory {}",
        done.fetched,
        done.reused,
        done.body_bytes,
        wall.as_secs_f64(),
        peak_memory()?
    )?;
    Ok(())
}

#[derive(Default)]
struct Counts {
    fetched: usize,
    reused: usize,
    body_bytes: usize,
}

async fn fetch_all(fetcher: &Fetcher, url: &CrawlUrl, addr: SocketAddr, count: usize) -> Counts {
    let mut counts = Counts::default();
    for _ in 0..count {
        let request = FetchRequest::new(url.clone(), addr.ip());
        let outcome = fetcher.fetch(request).await;
        assert_eq!(outcome.state, NetworkState::Ok, "{:?}", outcome.error);
        counts.fetched += 1;
        counts.reused += usize::from(outcome.reused_connection);
        counts.body_bytes += outcome.body.len();
    }
    counts
}

fn answer(kind: &str, body_bytes: usize) -> io::Result<Vec<u8>> {
    let line = b"<p>A line of <a href=\"/page\">text</a> like many.</p>\n";
    let body: Vec<u8> = line.iter().copied().cycle().take(body_bytes).collect();
    let (fields, body) = match kind {
        "chunked" => {
            let mut wire = Vec::new();
            for chunk in body.chunks(4096) {
                write!(wire, "{:x}\r\n", chunk.len())?;
                wire.extend_from_slice(chunk);
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"0\r\n\r\n");
            ("Transfer-Encoding: chunked".to_owned(), wire)
        }
        "gzip" => {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(&body)?;
            let body = gzip.finish()?;
            let len = body.len();
            (
                format!("Content-Encoding: gzip\r\nContent-Length: {len}"),
                body,
            )
        }
        _ => (format!("Content-Length: {body_bytes}"), body),
    };
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nServer: example\r\n\
         Content-Type: text/html; charset=utf-8\r\nCache-Control: no-cache\r\n{fields}\r\n\r\n"
    )
    .into_bytes();
    answer.extend_from_slice(&body);
    Ok(answer)
}

/// A thread for each connection, blocking, with one read and one write for
/// each request: the requests of this program fit into one packet.
fn serve(answer: Vec<u8>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let addr = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            thread::spawn(move || serve_one(stream, &answer));
        }
    });
    Ok(addr)
}

fn serve_one(mut stream: TcpStream, answer: &[u8]) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = [0; 4096];
    while stream.read(&mut request)? > 0 {
        stream.write_all(answer)?;
    }
    Ok(())
}

/// User and system time of the calling thread, on which everything is fetched.
fn cpu_of_this_thread() -> Result<Duration, Box<dyn Error>> {
    // schedstat counts nanoseconds on the CPU, where the kernel keeps it.
    if let Ok(text) = fs::read_to_string("/proc/thread-self/schedstat") {
        let nanos = text.split(' ').next().unwrap_or_default().parse()?;
        return Ok(Duration::from_nanos(nanos));
    }
    let stat = fs::read_to_string("/proc/thread-self/stat")?;
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.map(str::parse::<u64>).sum::<Result<_, _>>()?;
    Ok(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

fn peak_memory() -> io::Result<String> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line.unwrap_or("unknown").trim().to_owned())
}
