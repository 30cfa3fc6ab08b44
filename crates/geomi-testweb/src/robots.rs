//! What sites answer to `/robots.txt`.

use std::fmt::Write as _;
use std::time::Duration;

use crate::site::SiteTrait;
use crate::{Answer, Robots, RobotsFault, Web};

const HOP: &str = "/robots-hop/";
const DISALLOW_PRIVATE: &str = "User-agent: *\nDisallow: /private/\n";
const HUGE_BYTES: usize = 2 << 20;

impl Web {
    /// The answer, if the target is robots.txt or one of its redirects.
    pub(crate) fn robots_answer(&self, site: u32, target: &str) -> Option<Answer> {
        let behaviour = self.behaviour(site);
        let robots = behaviour.and_then(|behaviour| behaviour.robots.as_ref());
        if let Some(hop) = target.strip_prefix(HOP) {
            let Some(Robots::Fault(RobotsFault::Redirects(hops))) = robots else {
                return None;
            };
            return Some(redirect_hop(hop.parse().ok()?, *hops));
        }
        if target != "/robots.txt" {
            return None;
        }
        Some(match robots {
            Some(Robots::Text(text)) => Answer::text(200, text.clone()),
            Some(Robots::Fault(fault)) => faulty(*fault),
            None => match self.robots_txt_of(site) {
                Some(text) => Answer::text(200, text),
                None => Answer::text(404, "no robots.txt here\n"),
            },
        })
    }

    /// The delay a site's robots.txt asks for.
    pub fn crawl_delay_of(&self, site: u32) -> Option<Duration> {
        let own = self.behaviour(site).and_then(|own| own.crawl_delay);
        own.or_else(|| {
            let traits = &self.spec().traits;
            self.site_has(site, SiteTrait::CrawlDelay, traits.crawl_delay_sites)
                .then_some(traits.crawl_delay)
        })
    }

    /// The robots.txt that the web's traits give a site; `None` if it has none.
    pub fn robots_txt_of(&self, site: u32) -> Option<String> {
        let delay = self.crawl_delay_of(site);
        if delay.is_none() && self.spec().traits.disallowed == 0.0 {
            return None;
        }
        let mut text = String::from(DISALLOW_PRIVATE);
        if let Some(delay) = delay {
            writeln!(text, "Crawl-delay: {}", delay.as_secs_f64()).expect("a String takes all");
        }
        Some(text)
    }
}

fn faulty(fault: RobotsFault) -> Answer {
    match fault {
        RobotsFault::Status(status) => Answer::text(status, "no robots.txt for you\n"),
        RobotsFault::Busy(seconds) => {
            Answer::text(503, "busy\n").with("Retry-After", seconds.to_string())
        }
        RobotsFault::Redirects(hops) => redirect_hop(0, hops),
        RobotsFault::Huge => Answer::text(200, huge()),
        RobotsFault::Socket(fault) => Answer::broken(fault),
    }
}

fn redirect_hop(hop: u32, hops: u32) -> Answer {
    if hop >= hops {
        return Answer::text(200, DISALLOW_PRIVATE);
    }
    Answer::redirect(302, format!("{HOP}{}", hop + 1))
}

fn huge() -> String {
    let mut text = String::with_capacity(HUGE_BYTES + 64);
    text.push_str(DISALLOW_PRIVATE);
    let mut number = 0u32;
    while text.len() < HUGE_BYTES {
        writeln!(text, "Disallow: /unused-{number}/").expect("a String takes all");
        number += 1;
    }
    text.push_str("Disallow: /late/\n");
    text
}
