use super::*;

#[test]
fn a_parameter_that_matters_is_never_ignored() {
    // Nine of ten ids show the same page; the tenth does not.
    let config = NoveltyConfig::default();
    let mut site = SiteNovelty::default();
    for id in 0..200_u64 {
        let url = CrawlUrl::parse(&format!("http://e.com/p?id={id}")).unwrap();
        let template = Template::of(&url);
        let exact = u64::from(id % 5 == 4);
        site.observe(
            &config,
            &Sight {
                url: &url,
                template: &template,
                via: None,
                via_url: None,
                content: Content {
                    exact,
                    words: Some(1),
                    numbers: None,
                },
                images: &[],
                fresh_links: 0,
                fresh_queued: 0,
                fresh_abroad: 0,
                fresh_pairs: 0,
                fresh_words: 0,
                own_text_bytes: 100,
                is_last_call: false,
                fresh_below: 0,
                ties: None,
            },
        );
        assert_eq!(site.stripped(&config, &url, &template), None);
    }
}

#[test]
fn memory_stays_bounded() {
    let config = NoveltyConfig::default();
    let mut site = SiteNovelty::default();
    for n in 0..5_000_u64 {
        let name: String = n
            .to_string()
            .bytes()
            .map(|b| (b'a' + b - b'0') as char)
            .collect();
        let url = CrawlUrl::parse(&format!("http://e.com/{name}/{name}?{name}=1")).unwrap();
        let template = Template::of(&url);
        let sight = Sight {
            url: &url,
            template: &template,
            via: None,
            via_url: None,
            content: Content {
                exact: n,
                words: Some(n),
                numbers: Some(n),
            },
            images: &[n],
            fresh_links: 0,
            fresh_queued: 0,
            fresh_abroad: 0,
            fresh_pairs: 0,
            fresh_words: 0,
            own_text_bytes: 100,
            is_last_call: false,
            fresh_below: 0,
            ties: None,
        };
        site.observe(&config, &sight);
    }
    assert_eq!(site.kinds.len(), TEMPLATES_MAX);
    assert_eq!(site.sections.len(), SECTIONS_MAX + 1);
}
