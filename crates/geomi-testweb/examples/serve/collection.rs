//! Every finite site and every trap of the collection in one web.

use std::error::Error;
use std::fmt::Write as _;

use geomi_testweb::{
    Endless, FiniteSite, ServerHandle, SiteBehaviour, Trap, TrapText, Web, WebSpec,
};

/// A site of the collection.
enum Site {
    Finite(FiniteSite),
    Trap(Trap),
}

/// The finite sites, then the traps; with `new_text` also those whose text is
/// always new.
fn sites(new_text: bool) -> Vec<Site> {
    let bare = Trap::ALL.into_iter().filter(|trap| *trap != Trap::Hosts);
    let traps = Endless::ALL.into_iter().map(Trap::Beside).chain(bare);
    let traps = traps.filter(|trap| new_text || trap.text() != TrapText::New);
    let finite = FiniteSite::collection().into_iter().map(Site::Finite);
    finite.chain(traps.map(Site::Trap)).collect()
}

/// The web to serve, at a port or at any.
pub(crate) fn web(new_text: bool, port: u16) -> Web {
    let sites = sites(new_text);
    let mut spec = WebSpec::plain(sites.len() as u32, 1);
    spec.port = port;
    let overrides = sites.into_iter().enumerate().map(|(number, site)| {
        let mut own = SiteBehaviour::default();
        match site {
            Site::Finite(finite) => own.finite = Some(finite),
            Site::Trap(trap) => own.trap = Some(trap),
        }
        (number as u32, own)
    });
    spec.site_overrides = overrides.collect();
    Web::new(spec)
}

/// One line of JSON a site: its seed, its kind, its class, the URLs that must be
/// fetched, and how to compare: what to take out of a URL (a session), whether
/// capital letters count, or words each of which must stand in one.
pub(crate) fn truth(server: &ServerHandle, new_text: bool) -> Result<String, Box<dyn Error>> {
    let mut lines = String::new();
    for (number, site) in sites(new_text).into_iter().enumerate() {
        let number = number as u32;
        let (kind, class, session, must, words) = match &site {
            Site::Finite(site) => (site.kind().to_owned(), "finite", None, site.pages(), vec![]),
            Site::Trap(trap) => {
                let class = match trap.text() {
                    TrapText::Repeats => "repeats",
                    TrapText::Recombines => "recombines",
                    TrapText::New => "new",
                };
                if let Trap::Beside(endless) = trap {
                    let good = endless.good_pages();
                    (
                        format!("{endless:?}"),
                        class,
                        endless.session(),
                        good,
                        vec![],
                    )
                } else {
                    let words = trap.good_words().collect();
                    (format!("{trap:?} (bare)"), class, None, vec![], words)
                }
            }
        };
        let ignores_case =
            matches!(&site, Site::Trap(Trap::Beside(endless)) if endless.ignores_case());
        let url = |target: &String| server.web().url(number, target).to_string();
        let must: Vec<String> = must.iter().map(url).collect();
        // Everything is ASCII, which is written alike in Rust and in JSON.
        writeln!(
            lines,
            "{{\"site\": {number}, \"seed\": {:?}, \"kind\": {kind:?}, \"class\": {class:?}, \
             \"session\": {}, \"ignores_case\": {ignores_case}, \"must\": {must:?}, \"words\": {words:?}}}",
            url(&"/".to_owned()),
            session.map_or("null".to_owned(), |pattern| format!("{pattern:?}")),
        )?;
    }
    Ok(lines)
}

/// One line of JSON a request, in the order of the answers.
pub(crate) fn log(server: &ServerHandle) -> Result<String, Box<dyn Error>> {
    let mut lines = String::new();
    let port = server.port();
    for entry in server.log().entries() {
        let url = format!("http://{}:{port}{}", entry.host, entry.target);
        writeln!(lines, "{{\"url\": {url:?}, \"status\": {}}}", entry.status)?;
    }
    Ok(lines)
}
