"""The laboratory's figures, computed again from the visits and changes it writes out.

Nothing here knows how a policy decides. Freshness is integrated page by page over
the counted days, and what a policy needs to match the static cycle is checked by
running it with that budget and integrating again.
"""

import bisect
import csv
import json
import math
from collections import defaultdict

from geomi import Case, geomi

DAYS, LEARNING_DAYS = 84.0, 28.0
TRIALS = 5

# Requests to match the static cycle, in percent, as another program found them with one to
# three draws of a web. How many trials here tell what one draw is worth: where a few fast
# pages decide, draws differ by much.
BASELINES = {
    "shop": (5, {
        "proportional": 147, "group16": 119, "group6": 122, "multiplicative": 91,
        "nutch": 135, "harmonic": 83, "optimal": 85, "greedy": 86,
    }),
    "web": (20, {
        "proportional": 293, "group16": 134, "group6": 136, "multiplicative": 92,
        "nutch": 89, "harmonic": 81, "optimal": 71, "greedy": 86,
    }),
}


def fresh_days(visits, changes):
    """Counted days in which the latest copy lacks no change."""
    total = 0.0
    for at, visit in enumerate(visits):
        until = visits[at + 1] if at + 1 < len(visits) else DAYS
        next_change = bisect.bisect_right(changes, visit)
        if next_change < len(changes):
            until = min(until, changes[next_change])
        total += max(0.0, until - max(visit, LEARNING_DAYS))
    return total


class Refresh(Case):
    def simulate(self, *args):
        """The rows printed, and by policy what the files written say."""
        visits_out, changes_out = self.folder / "visits.csv", self.folder / "changes.csv"
        run = geomi(
            "refresh", "simulate", "--trials", TRIALS, "--format", "json", "--no-progress",
            "--visits-out", visits_out, "--changes-out", changes_out, *args,
        )
        self.assertEqual(run.code, 0, run)
        changes = defaultdict(list)
        with open(changes_out, newline="") as file:
            for row in csv.DictReader(file):
                page = changes[row["trial"], row["url"]]
                if row["time"]:
                    page.append(float(row["time"]))
        visits = defaultdict(lambda: defaultdict(list))
        with open(visits_out, newline="") as file:
            for row in csv.DictReader(file):
                visits[row["policy"]][row["trial"], row["url"]].append(float(row["time"]))
        found = {}
        for policy, pages in visits.items():
            self.assertEqual(pages.keys(), changes.keys(), "every page is copied at the start")
            counted = DAYS - LEARNING_DAYS
            fresh = sum(fresh_days(times, changes[page]) for page, times in pages.items())
            made = sum(sum(time >= LEARNING_DAYS for time in times) for times in pages.values())
            found[policy] = (fresh / counted / len(pages), made / counted / len(pages))
        return {row["policy"]: row for row in json.loads(run.out)["rows"]}, found

    def check(self, web, policies, *more):
        rows, found = self.simulate("--web", web, "--policy", ",".join(policies), *more)
        self.assertEqual(list(rows), list(policies))
        for policy, row in rows.items():
            freshness, requests = found[policy]
            self.assertAlmostEqual(row["freshness"], freshness, places=6)
            self.assertAlmostEqual(row["requests_per_page_day"], requests, places=6)
        return rows, found

    def check_match(self, web, policy, limit, *more):
        """The policy is as fresh as the static cycle with this share of its requests."""
        rows, found = self.check(web, ["static", policy], *more)
        base_freshness, base_requests = found["static"]
        share = rows[policy]["match_static"]
        # A policy need not spend all it may: its budget is what it spent, scaled up.
        spent = rows[policy]["requests_per_page_day"] / rows[policy]["budget"]
        budget = base_requests * share / spent
        again_at = ("--budget", budget, "--no-match", *more)
        _, again = self.simulate("--web", web, "--policy", policy, *again_at)
        freshness, requests = again[policy]
        # 0.02 of the requests are worth about 0.004 of freshness.
        self.assertAlmostEqual(freshness, base_freshness, delta=0.01)
        self.assertAlmostEqual(requests / base_requests, share, delta=0.04)
        self.assertLessEqual(share, limit)

    def test_the_web(self):
        self.check_match("web", "clock", 0.82)

    def test_the_web_learned_at_twice_the_budget(self):
        self.check_match("web", "clock", 0.80, "--learn", "2")

    def test_the_shop(self):
        self.check_match("shop", "clock", 0.75)

    def test_the_shop_without_hours(self):
        self.check_match("shop", "greedy", 0.87)

    def test_hours_cost_nothing_where_there_are_none(self):
        _, found = self.check("flat", ["clock", "greedy"], "--no-match")
        (clock, _), (greedy, _) = found["clock"], found["greedy"]
        self.assertGreaterEqual(clock, greedy - 0.003)

    def test_pages_that_always_look_changed_cost_the_others_nothing(self):
        (shop, _), (noisy, _) = (
            self.check(web, ["clock"], "--no-match") for web in ("shop", "noisy")
        )
        others = noisy["clock"]["freshness_of_others"]
        self.assertGreater(others, shop["clock"]["freshness"] - 0.01)

    def test_the_baselines_are_what_others_found_them_to_be(self):
        for web, (trials, expected) in BASELINES.items():
            run = geomi(
                "refresh", "simulate", "--web", web, "--trials", trials, "--format", "json",
                "--no-progress", "--policy", ",".join(expected),
            )
            self.assertEqual(run.code, 0, run)
            for row in json.loads(run.out)["rows"]:
                policy, share = row["policy"], 100 * row["match_static"]
                deviation_of_a_draw = 100 * row["match_static_error"] * math.sqrt(trials)
                differs = max(1.5, 2 * deviation_of_a_draw)
                self.assertAlmostEqual(
                    share, expected[policy], delta=differs, msg=f"{policy} on {web}"
                )
