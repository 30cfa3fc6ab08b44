//! `geomi fetch`: one URL through the whole journey, every decision shown.
//!
//! The decisions are geomi-crawler's ([`probe`]), made by the same stages as in
//! a crawl; here they are only asked for and told, as a sheet for people
//! ([`human`]) or as one object ([`json`]). No directory is written.

mod human;
mod json;

use std::sync::Arc;

use geomi_crawler::{CrawlConfig, HopEnd, Probe, Question, SystemClock, probe};

use crate::Exit;
use crate::args::{FetchArgs, Format, Global};
use crate::config::{self, Place, Problems, Sources};
use crate::crawl::settings;
use crate::seeds_file;
use crate::terminal::{Styled, print, print_bytes, print_err_styled, print_styled, stderr_line};
use crate::words;

/// Everything there is to tell.
struct Told<'a> {
    /// The URL as typed.
    typed: &'a str,
    question: &'a Question,
    config: &'a CrawlConfig,
    probe: &'a Probe,
    /// Whether each link is shown.
    links: bool,
}

/// Runs the command.
pub(crate) fn run(args: &FetchArgs, global: &Global) -> anyhow::Result<Exit> {
    let mut problems = Problems::default();
    let question = question(args, global, &mut problems);
    let config = configure(args, global, question.as_ref(), &mut problems);
    problems.into_result()?;
    let question = question.expect("a question that cannot be asked is a problem");
    let quiet = global.quiet;
    let mut resting = |url: &geomi_url::CrawlUrl, wait| {
        if !quiet {
            stderr_line!("{} rests for {}", url.site(), words::span(wait));
        }
    };
    let clock = Arc::new(SystemClock::default());
    let probe = probe(&config, &question, clock, &mut resting)?;
    let told = Told {
        typed: &args.url,
        question: &question,
        config: &config,
        probe: &probe,
        links: args.links,
    };
    tell(&told, args, global)?;
    Ok(exit(&probe))
}

fn exit(probe: &Probe) -> Exit {
    match probe.last().end {
        HopEnd::Answered | HopEnd::Redirected => Exit::Done,
        HopEnd::Refused { .. } | HopEnd::Failed { .. } => Exit::Failed,
    }
}

/// Reads what was typed.
fn question(args: &FetchArgs, global: &Global, problems: &mut Problems) -> Option<Question> {
    let mut read = |text: &str, place: String| match seeds_file::typed(text) {
        Ok(seed) => Some(seed.url),
        Err(what) => {
            problems.add(&Place::Flag(place), what);
            None
        }
    };
    let url = read(&args.url, format!("URL {:?}", args.url));
    let seed = args
        .seed
        .as_deref()
        .map(|text| read(text, "--seed".to_owned()));
    if (args.body || args.headers) && global.format != Format::Human {
        problems.add_general(
            "--body and --headers write to standard output, and so does --format: leave one of them out",
        );
    }
    if let Some(dir) = &args.out
        && !dir.is_dir()
    {
        problems.add_general(format!(
            "{} is no directory: give that of a crawl, or leave -o out",
            dir.display()
        ));
    }
    match seed {
        None => Some(Question {
            url: url?,
            seed: None,
        }),
        Some(seed) => Some(Question {
            url: url?,
            seed: Some(seed?),
        }),
    }
}

/// The configuration of a crawl whose seed the URL is, or the one it is linked
/// from. An internal host that was typed may be at a private address.
fn configure(
    args: &FetchArgs,
    global: &Global,
    question: Option<&Question>,
    problems: &mut Problems,
) -> CrawlConfig {
    let settings = settings(&args.settings, global, problems);
    let mut written = config::load(
        &Sources {
            config: global.config.as_deref(),
            dir: args.out.as_deref(),
            settings: &settings,
        },
        problems,
    );
    let seed = question.map(|question| question.seed.clone().unwrap_or(question.url.clone()));
    let typed = seed.iter().map(geomi_fetch::NamedHost::of);
    let internal = typed.filter(geomi_fetch::NamedHost::is_internal);
    written.extend("fetch.allow_hosts", internal.map(|host| host.to_string()));
    let seeds = seed.map(|url| geomi_engine::SeedInput { url, topic: None });
    config::resolve(&written, seeds.into_iter().collect(), problems)
}

/// Data goes to standard output; where that is the answer itself, words go to
/// standard error.
fn tell(told: &Told<'_>, args: &FetchArgs, global: &Global) -> anyhow::Result<()> {
    if global.format == Format::Json {
        return print(&serde_json::to_string_pretty(&json::all(told))?);
    }
    if global.format == Format::Jsonl {
        return print(&json::all(told).to_string());
    }
    let to_stderr = args.body || args.headers;
    let sheet = if global.quiet {
        Styled::from(human::last_line(told.probe).as_str())
    } else {
        human::sheet(told, human::has_colours(global, to_stderr))
    };
    if !to_stderr {
        return print_styled(&sheet);
    }
    write_answer(told.probe, args)?;
    print_err_styled(&sheet);
    Ok(())
}

/// Writes the last answer as bytes, for other programs.
fn write_answer(probe: &Probe, args: &FetchArgs) -> anyhow::Result<()> {
    let Some(exchange) = &probe.last().exchange else {
        return Ok(());
    };
    let outcome = &exchange.outcome;
    let parts = [
        (args.headers, &outcome.head),
        (args.body, &outcome.body.bytes),
    ];
    for (_, bytes) in parts.iter().filter(|(wanted, _)| *wanted) {
        if !print_bytes(bytes)? {
            stderr_line!(
                "the body is no text and would garble the terminal: send it to a file with > FILE"
            );
        }
    }
    Ok(())
}
