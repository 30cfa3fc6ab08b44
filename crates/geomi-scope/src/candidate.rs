//! A URL that asks to be let in.

use geomi_url::CrawlUrl;

/// A URL found, and how it was found.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The URL in question.
    pub url: &'a CrawlUrl,
    /// The seed whose party found it; where that seed redirected, the target of
    /// the redirect (see the crate's documentation).
    pub seed: &'a CrawlUrl,
    /// Links followed from the seed to here. A redirect adds none.
    pub depth: u16,
    /// It is a seed itself.
    pub is_seed: bool,
    /// It is where another URL redirected to, not a link on a page.
    pub is_redirect: bool,
}

impl Candidate<'_> {
    /// Whether this is where a seed redirected to.
    pub(crate) const fn is_seed_redirect(&self) -> bool {
        self.is_redirect && self.depth == 0
    }
}

/// The seed that an external link proposes: the root of its site.
///
/// Kim and Lee (2003) call every external URL a candidate seed, and say that a
/// robot generally takes a site's home page as its seed. Their table of seed
/// shapes shows what that came to: all but 12 of 128,446 seeds are a bare host.
/// Taking the link itself would open a party for every external link of the
/// web, nearly all of them the same pages seen from elsewhere. Further seeds
/// of a site come from the list of seeds, where the operator can give any.
pub fn candidate_seed(url: &CrawlUrl) -> CrawlUrl {
    CrawlUrl::parse(&format!("{}/", url.origin())).expect("the origin of a URL is a URL")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_external_link_proposes_its_sites_root() {
        let check = |link: &str, root: &str| {
            let link = CrawlUrl::parse(link).unwrap();
            assert_eq!(candidate_seed(&link).as_str(), root);
        };
        check("https://a.example/x/y?z=1", "https://a.example/");
        check("http://a.example:8080/", "http://a.example:8080/");
        check("http://[::1]:81/x", "http://[::1]:81/");
    }
}
