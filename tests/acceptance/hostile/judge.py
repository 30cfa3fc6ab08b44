"""Checks a site's judge is made of.

A judge is called with the site's log (the server's view) and the crawl's visits
of the site, and returns what is wrong, in words; nothing where all is well.
"""

GAVE_UP = ("hErr", "hNpr", "hSht", "dErr")


def check(*checks):
    """A judge that wants all of these."""
    return lambda log, visits: [said for each in checks for said in each(log, visits)]


def last_visits(visits, path):
    """The last visit of each URL with this path."""
    latest = {}
    for visit in visits:
        if visit["path"] == path and not visit["is_robots"]:
            latest[visit["url"]] = visit
    return list(latest.values())


def column(name, path, allowed):
    """The last visit of the path has one of these values in a column."""

    def judged(_, visits):
        found = [visit[name] for visit in last_visits(visits, path)]
        if not found:
            yield f"{path} was not visited"
        yield from (
            f"{path}: {name} is {got!r}, not {allowed}" for got in found if got not in allowed
        )

    return judged


def state(path, *states):
    """The path's visit ended in one of these network states."""
    return column("state", path, states)


def code(path, *codes):
    """The path was answered with one of these codes."""
    return column("code", path, codes)


def title(path, *titles):
    """The page was decoded so that its title reads like this."""
    return column("title", path, titles)


def charset(path, *names):
    """The page was decoded by this encoding."""
    return column("charset", path, names)


def asked(*paths):
    """Each path was requested."""
    return lambda log, _: [f"{path} was not asked for" for path in paths if path not in log.paths]


def never(*beginnings):
    """Nothing that begins like this was requested."""
    return lambda log, _: [
        f"{path} was asked for" for path in log.paths if path.startswith(beginnings)
    ]


def only(*paths):
    """These paths were requested and, robots.txt aside, nothing else."""

    def judged(log, _):
        got = set(log.paths) - {"/robots.txt"}
        if got != set(paths):
            yield f"asked for {sorted(got)}, not {sorted(paths)}"

    return judged


def at_most(path, times):
    """The path was requested no oftener."""

    def judged(log, _):
        got = log.paths.count(path)
        if got > times:
            yield f"{path} was asked for {got} times, more than {times}"

    return judged


def requests_at_most(times):
    """The site was not asked oftener in all."""

    def judged(log, _):
        if len(log.requests) > times:
            yield f"{len(log.requests)} requests, more than {times}"

    return judged


def afresh(doubtful, after):
    """The other path was asked for, and nothing over a connection after the doubtful one."""

    def judged(log, _):
        if after not in log.paths:
            yield f"{after} was not asked for"
        doubted = set()
        for request in log.requests:
            if request.connection in doubted:
                yield f"{request.path} was asked for over the connection of {doubtful}"
            if request.path == doubtful:
                doubted.add(request.connection)

    return judged


def pause(before, after, seconds):
    """So long it rested between the answer to one path and asking for another."""

    def judged(log, _):
        ended = [r.ended for r in log.requests if r.path == before]
        began = [r.arrived for r in log.requests if r.path == after]
        if not ended or not began:
            yield f"{before} or {after} was not asked for"
        elif before == after:
            yield from short(ended[0], began[1] if len(began) > 1 else float("inf"))
        else:
            yield from short(ended[0], began[0])

    def short(end, start):
        if start - end < seconds:
            yield f"rested {start - end:.2f} s, not {seconds} s"

    return judged


def other(name, *checks):
    """The same for a further host of the story."""

    def judged(log, _):
        aside = log.other(name)
        return [f"{name}: {said}" for each in checks for said in each(aside, aside.visits)]

    return judged


def cut(path, most=17 << 20):
    """The body kept is within the limit."""

    def judged(_, visits):
        for visit in last_visits(visits, path):
            if (visit["body_bytes"] or 0) > most:
                yield f"{path}: {visit['body_bytes']} bytes were kept"

    return judged
