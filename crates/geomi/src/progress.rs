//! What a person sees while a crawl runs.
//!
//! On a terminal a few lines are redrawn with every status, twice a second;
//! elsewhere one line goes to standard error every ten seconds. Standard output
//! is never touched: it is for data.

use std::fmt::Write as _;
use std::time::Duration;

use geomi_engine::{Phase, Status};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Global;
use crate::terminal::{self, one_line, stderr_line};
use crate::words;

/// Seconds between two lines where nothing is redrawn.
const LINE_EVERY_S: f64 = 10.0;

/// Progress in whichever form suits the place it is shown at.
#[derive(Debug)]
pub(crate) enum Progress {
    /// Nothing is shown.
    None,
    /// Lines that are redrawn.
    Screen(Screen),
    /// A line now and then.
    Lines {
        /// When the next line is due, in seconds since the start.
        next_s: f64,
        /// Whether it was told that the crawl is stopping.
        told_stopping: bool,
    },
}

impl Progress {
    /// Chooses the form. Diagnostics would tear lines that are redrawn, so
    /// with `-v` there are none.
    pub(crate) fn new(global: &Global) -> Self {
        if global.no_progress || global.quiet {
            Self::None
        } else if terminal::is_stderr_terminal() && global.verbose == 0 {
            Self::Screen(Screen::new())
        } else {
            Self::Lines {
                next_s: LINE_EVERY_S,
                told_stopping: false,
            }
        }
    }

    /// Shows a status.
    pub(crate) fn show(&mut self, status: &Status) {
        match self {
            Self::None => {}
            Self::Screen(screen) => screen.show(status),
            Self::Lines {
                next_s,
                told_stopping,
            } => {
                if status.state == Phase::Stopping && !*told_stopping {
                    *told_stopping = true;
                    stderr_line!("{}", stopping(status));
                }
                if status.elapsed_s >= *next_s {
                    *next_s = status.elapsed_s + LINE_EVERY_S;
                    stderr_line!("{}", line(status));
                }
            }
        }
    }

    /// Takes redrawn lines off the screen.
    pub(crate) fn clear(&mut self) {
        if let Self::Screen(screen) = self {
            screen.clear();
        }
    }
}

/// The redrawn lines.
#[derive(Debug)]
pub(crate) struct Screen {
    all: MultiProgress,
    lines: Vec<ProgressBar>,
}

impl Screen {
    fn new() -> Self {
        // Every line of every status is drawn: eight a second, so that no line
        // is older than its neighbours.
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(20));
        let style = ProgressStyle::with_template("{wide_msg}").expect("the template is right");
        let lines = (0..4)
            .map(|_| all.add(ProgressBar::new_spinner().with_style(style.clone())))
            .collect();
        Self { all, lines }
    }

    fn show(&mut self, status: &Status) {
        for (bar, text) in self.lines.iter().zip(screen(status)) {
            bar.set_message(one_line(&text).into_owned());
        }
    }

    fn clear(&mut self) {
        self.lines.iter().for_each(ProgressBar::finish_and_clear);
        // A terminal that went away has nothing left to clear.
        drop(self.all.clear());
    }
}

fn screen(status: &Status) -> [String; 4] {
    let counters = &status.counters;
    let elapsed = words::span(Duration::from_secs_f64(status.elapsed_s));
    let first = match status.state {
        Phase::Stopping => stopping(status),
        Phase::Paused => format!("paused after {elapsed}"),
        _ => match &status.refresh {
            Some(refresh) => format!(
                "refreshing for {elapsed}{}: {}",
                expectation(status),
                refresh.in_words()
            ),
            None => format!("crawling for {elapsed}{}", expectation(status)),
        },
    };
    // A page that is visited again is not saved again.
    let visits = if counters.visits_saved > counters.saved {
        format!(" in {} visits", words::count(counters.visits_saved))
    } else {
        String::new()
    };
    let pages = format!(
        "{} saved{visits}, {} queued, {} in progress, {} failed",
        words::count(counters.saved),
        words::count(status.queued),
        words::count(status.in_flight),
        words::count(counters.failed),
    );
    let rates = format!(
        "{:.1} pages/s, {}/s",
        status.pages_per_s,
        words::bytes(status.bytes_per_s)
    );
    let mut sites = format!(
        "sites: {} ready, {} waiting, {} backing off",
        words::count(status.sites_ready),
        words::count(status.sites_waiting),
        words::count(status.sites_backing_off),
    );
    if let Some((site, rtt_ms)) = &status.slowest_site {
        write!(sites, "; slowest {site} ({rtt_ms:.0} ms)").expect("a string takes everything");
    }
    [first, pages, rates, sites]
}

fn line(status: &Status) -> String {
    let [first, pages, rates, sites] = screen(status);
    format!("{first}: {pages}; {rates}; {sites}")
}

fn expectation(status: &Status) -> String {
    match status.expectation() {
        Some((share, left)) => format!(
            ", {:.0} % of what is known, {} to go",
            share * 100.0,
            words::span(left)
        ),
        None => String::new(),
    }
}

fn stopping(status: &Status) -> String {
    format!(
        "stopping: {} under way; Ctrl-C stops now",
        words::plural(status.in_flight, "request")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status() -> Status {
        let mut status = Status {
            state: Phase::Running,
            elapsed_s: 65.0,
            queued: 1_500,
            in_flight: 16,
            pages_per_s: 25.0,
            bytes_per_s: 450_000.0,
            sites_ready: 3,
            sites_waiting: 17,
            slowest_site: Some(("slow.test".to_owned(), 812.4)),
            ..Status::default()
        };
        status.counters.saved = 1_484;
        status.counters.visits_saved = 1_484;
        status.counters.visits_done = 1_484;
        status
    }

    #[test]
    fn the_line_tells_everything_of_the_contract() {
        assert_eq!(
            line(&status()),
            "crawling for 1m 05s, 49 % of what is known, 1m 00s to go: 1,484 saved, 1,500 queued, \
             16 in progress, 0 failed; 25.0 pages/s, 450.0 kB/s; \
             sites: 3 ready, 17 waiting, 0 backing off; slowest slow.test (812 ms)"
        );
    }

    #[test]
    fn pages_and_visits_are_two_counts() {
        let mut status = status();
        status.counters.saved = 317;
        status.counters.visits_saved = 2_319;
        assert!(line(&status).contains("317 saved in 2,319 visits, 1,500 queued"));
    }

    #[test]
    fn stopping_says_how_to_stop_now() {
        let status = Status {
            state: Phase::Stopping,
            ..status()
        };
        assert!(line(&status).starts_with("stopping: 16 requests under way; Ctrl-C stops now"));
    }

    #[test]
    fn lines_come_every_ten_seconds() {
        let mut progress = Progress::Lines {
            next_s: LINE_EVERY_S,
            told_stopping: false,
        };
        progress.show(&status());
        let Progress::Lines { next_s, .. } = progress else {
            unreachable!("the form does not change")
        };
        assert!((next_s - 75.0).abs() < 1e-9);
    }
}
