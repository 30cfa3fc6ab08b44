"""`geomi demo`: a web, a crawl and a report, without a network."""

from geomi import Case, geomi


class Demo(Case):
    def test_it_ends_by_itself_and_leaves_a_sound_directory(self):
        run = geomi("demo", cwd=self.folder, seconds=120)
        self.assertEqual(run.code, 0, run)
        self.assertRegex(run.out + run.err, r"(?m)^done: \d+ saved, ")
        found = [path.parent for path in self.folder.rglob("seeds-out.txt")]
        self.assertEqual(len(found), 1, run)
        self.verify(found[0])
        self.measured("the demo took", f"{run.seconds:.1f} s")
