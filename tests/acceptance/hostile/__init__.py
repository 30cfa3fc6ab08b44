"""A hostile web: some 250 sites, one misbehaviour each, on loopback."""

from hostile import coding, content, headers, manners, redirects, robots, sitemaps, transport

THEMES = (transport, headers, redirects, robots, content, coding, sitemaps, manners)


def sites(at):
    """Every site, its address given by `at`."""
    return [site for theme in THEMES for site in theme.sites(at)]
