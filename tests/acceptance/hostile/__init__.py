"""A hostile web: some 360 sites, one misbehaviour each, on loopback.

Written from the standards (RFC 9110, 9112 and 9309, WHATWG's URL, HTML and
Encoding), not from what the crawler does. A theme is a module with `sites(at)`,
where `at` gives each host its address; a site is what it serves, the rule it is
about, and a judge.
"""

from hostile import (
    charsets,
    coding,
    content,
    framing,
    headers,
    manners,
    redirects,
    robots,
    rules,
    sitemaps,
    transport,
)

THEMES = (
    *(transport, framing, headers, redirects, robots, rules),
    *(charsets, content, coding, sitemaps, manners),
)


def sites(at):
    """Every site, its address given by `at`."""
    return [site for theme in THEMES for site in theme.sites(at)]
