//! Serves a plain web from another process, for benchmarks.
//!
//! `serve [--lively] [SITES [PAGES [MEAN_BYTES [PORT]]]]`: prints the port on
//! the first line, serves until standard input closes, then prints the request
//! counts and what they cost. Defaults: 20 sites, 1,000 pages, 18,000 bytes, a
//! free port.

#![expect(
    clippy::print_stdout,
    reason = "its output is read by whoever started it"
)]

use std::error::Error;
use std::io::{Read as _, stdin};

use geomi_testweb::{PageBytes, ServerHandle, ServerOptions, ServerThread, Web, WebSpec};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let lively = arguments.iter().position(|word| word == "--lively");
    if let Some(at) = lively {
        arguments.remove(at);
    }
    let number = |at: usize, usual: u32| arguments.get(at).map_or(Ok(usual), |text| text.parse());
    let (sites, pages) = (number(0, 20)?, number(1, 1000)?);
    let mut spec = match lively {
        Some(_) => WebSpec::lively(sites, pages),
        None => WebSpec::plain(sites, pages),
    };
    spec.page_bytes = PageBytes::of_mean(number(2, 18_000)?);
    spec.port = u16::try_from(number(3, 0)?)?;

    let server = ServerThread::start(Web::new(spec), ServerOptions::default())?;
    println!("{}", server.port());
    let mut ignored = [0; 4096];
    while stdin().read(&mut ignored)? > 0 {}
    report(&server)?;
    server.stop();
    Ok(())
}

fn report(server: &ServerHandle) -> Result<(), Box<dyn Error>> {
    let log = server.log();
    let requests = log.len() as u64 + log.left_out();
    println!("requests {requests}");
    for (status, count) in log.count_by_status() {
        println!("status {status}: {count}");
    }
    println!("connections {}", server.connections());
    println!("sites with overlapping requests {}", log.overlaps().len());
    if let Some(gap) = log.shortest_gap() {
        println!("shortest gap {gap:?}");
    }
    let (user_ms, system_ms) = cpu_ms()?;
    println!(
        "cpu {user_ms} ms user, {system_ms} ms system: {} us a request",
        (user_ms + system_ms) * 1000 / requests.max(1)
    );
    Ok(())
}

/// User and system time of this process, from the fields after the command in
/// `/proc/self/stat`, in ticks of 10 ms.
fn cpu_ms() -> Result<(u64, u64), Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat
        .rsplit_once(") ")
        .ok_or("no command in /proc/self/stat")?
        .1
        .split(' ')
        .collect();
    let ticks = |at: usize| fields[at].parse::<u64>();
    Ok((ticks(11)? * 10, ticks(12)? * 10))
}
