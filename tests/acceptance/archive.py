"""Reads a crawl directory with other people's tools."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import duckdb
from warcio.archiveiterator import ArchiveIterator

TOOLS = Path(sys.executable).parent


def tool(name, *args):
    """Runs a tool of the virtual environment."""
    return subprocess.run(
        [TOOLS / name, *map(str, args)], capture_output=True, text=True, check=False
    )


def warcs(folder):
    """The WARC files, by name."""
    return sorted(Path(folder, "warc").glob("*.warc.gz"))


def records(folder):
    """(type, URL) of every record."""
    for path in warcs(folder):
        with open(path, "rb") as file:
            for record in ArchiveIterator(file, no_record_parse=True):
                headers = record.rec_headers
                yield record.rec_type, headers.get_header("WARC-Target-URI")


def cdxj(folder):
    """The lines of the index as (key, time, fields)."""
    lines = []
    with open(Path(folder, "index", "index.cdxj"), encoding="utf-8") as file:
        for line in file:
            key, time, fields = line.rstrip("\n").split(" ", 2)
            lines.append((key, time, json.loads(fields)))
    return lines


def query(sql, folder):
    """Rows of a query in which `visits` and `seeds` are the crawl's tables."""
    with duckdb.connect() as db:
        for name, files in [("visits", "visits/*.parquet"), ("seeds", "seeds.parquet")]:
            path = str(Path(folder, files)).replace("'", "''")
            db.execute(f"create view {name} as select * from read_parquet('{path}')")
        return db.execute(sql).fetchall()


def status(folder):
    """status.json."""
    return json.loads(Path(folder, "status.json").read_text())


def log(folder):
    """The lines of log.jsonl and what was rotated."""
    files = sorted(Path(folder).glob("log-*.jsonl")) + [Path(folder, "log.jsonl")]
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def check_tools(case, folder):
    """warcio finds no problem, and cdxj-indexer makes the same index."""
    checked = tool("warcio", "check", *warcs(folder))
    case.assertEqual((checked.returncode, checked.stdout), (0, ""), checked.stderr)
    made = tool("cdxj-indexer", "--sort", *warcs(folder))
    case.assertEqual(made.returncode, 0, made.stderr)
    ours = Path(folder, "index", "index.cdxj").read_text().splitlines()
    theirs = made.stdout.splitlines()
    case.assertEqual(len(ours), len(theirs))
    for our, their in zip(ours, theirs):
        case.assertEqual(our, their)


def check_counts(case, folder):
    """The counts that must agree; returns how many captures there are of each URL."""
    kinds, urls = Counter(), Counter()
    for kind, url in records(folder):
        kinds[kind] += 1
        if kind in ("response", "revisit"):
            urls[url] += 1
    case.assertLessEqual(set(kinds), {"warcinfo", "request", "response", "revisit"})
    captured = kinds["response"] + kinds["revisit"]
    counters = status(folder)["counters"]
    case.assertEqual(counters["captured"], captured, "status.json against WARC")
    case.assertEqual(len(cdxj(folder)), captured, "CDXJ against WARC")
    rows, with_capture = query("select count(*), count(capture_file) from visits", folder)[0]
    case.assertEqual(with_capture, captured, "visits with a capture against WARC")
    case.assertEqual(counters["visits"], rows, "status.json against visits")
    case.assertEqual(len(log(folder)), rows, "log.jsonl against visits")
    case.assertEqual(list(Path(folder, "warc").glob("*.open")), [], "all files are closed")
    return urls
