//! Serves a web from another process, for benchmarks and acceptance tests.
//!
//! `serve [--lively] [SITES [PAGES [MEAN_BYTES [PORT]]]]`: prints the port on
//! the first line, serves until standard input closes, then prints the request
//! counts and what they cost. Defaults: 20 sites, 1,000 pages, 18,000 bytes, a
//! free port.
//!
//! `serve --collection [--new-text] [--truth FILE] [--log FILE] [PORT]`: the
//! same with every finite site and every trap whose content repeats or is
//! recombined, and with `--new-text` also those that print new text without an
//! end. The truth of each site is written before the port is printed, the
//! requests at the end; both are lines of JSON.

#![expect(
    clippy::print_stdout,
    reason = "its output is read by whoever started it"
)]

mod collection;

use std::error::Error;
use std::io::{Read as _, stdin};

use geomi_testweb::{PageBytes, ServerHandle, ServerOptions, ServerThread, Web, WebSpec};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if taken(&mut arguments, "--collection") {
        return serve_collection(arguments);
    }
    let lively = taken(&mut arguments, "--lively");
    let number = |at: usize, usual: u32| arguments.get(at).map_or(Ok(usual), |text| text.parse());
    let (sites, pages) = (number(0, 20)?, number(1, 1000)?);
    let mut spec = if lively {
        WebSpec::lively(sites, pages)
    } else {
        WebSpec::plain(sites, pages)
    };
    spec.page_bytes = PageBytes::of_mean(number(2, 18_000)?);
    spec.port = u16::try_from(number(3, 0)?)?;

    let server = ServerThread::start(Web::new(spec), ServerOptions::default())?;
    until_input_ends(server.port())?;
    report(&server)?;
    server.stop();
    Ok(())
}

fn serve_collection(mut arguments: Vec<String>) -> Result<(), Box<dyn Error>> {
    let new_text = taken(&mut arguments, "--new-text");
    let truth = value_of(&mut arguments, "--truth")?;
    let log = value_of(&mut arguments, "--log")?;
    let port = arguments.first().map_or(Ok(0), |text| text.parse())?;
    let web = collection::web(new_text, port);
    let server = ServerThread::start(web, ServerOptions::default())?;
    if let Some(file) = truth {
        std::fs::write(file, collection::truth(&server, new_text)?)?;
    }
    until_input_ends(server.port())?;
    if let Some(file) = log {
        std::fs::write(file, collection::log(&server)?)?;
    }
    report(&server)?;
    server.stop();
    Ok(())
}

/// Says where it listens and waits for the one who started it to go.
fn until_input_ends(port: u16) -> Result<(), Box<dyn Error>> {
    println!("{port}");
    let mut ignored = [0; 4096];
    while stdin().read(&mut ignored)? > 0 {}
    Ok(())
}

/// Whether a word is among the arguments; it is taken out.
fn taken(arguments: &mut Vec<String>, word: &str) -> bool {
    let at = arguments.iter().position(|own| own == word);
    at.map(|at| arguments.remove(at)).is_some()
}

/// The argument after a word; both are taken out.
fn value_of(arguments: &mut Vec<String>, word: &str) -> Result<Option<String>, Box<dyn Error>> {
    let Some(at) = arguments.iter().position(|own| own == word) else {
        return Ok(None);
    };
    if at + 1 == arguments.len() {
        return Err(format!("{word} needs a value").into());
    }
    arguments.remove(at);
    Ok(Some(arguments.remove(at)))
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
