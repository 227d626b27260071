"""--csv of every verb that measures or compares: a header, and lines with as many cells."""
import csv
import io
import os
import shutil
import unittest

from golden_test import BARE, MEASURED, RESULTS
from program import CommandLineTest

# With a column that says something in at least one line. calibrate writes what advise reads.
VERBS = {
    "comparison": "seconds_per_iteration", "residency": "times_resident", "scaling": "efficiency",
    "sweep": "seconds_per_iteration", "transfer": "bytes_per_second",
    "calibrate": "seconds_per_step", "advise": "warm_seconds", "selftest": "slower",
    "selftest-engine": "slower", "pitfalls": "mistaken_seconds", "compare": "verdict",
    "mlp-train": None, "mlp-depth": None, "mlp-width": None, "mlp-scaling": None,
    "mlp-throughput": None, "mlp-latency": None,
}


class Csv(CommandLineTest):
    def test_every_verb(self):
        shutil.copy(RESULTS / "epyc-2core-640.json", self.path("old.json"))
        runs = {**MEASURED, "compare": "compare old.json old.json"}
        if len(os.sched_getaffinity(0)) < 2:
            runs["scaling"] = runs["scaling"].replace("1,2", "1")
        for verb, column in VERBS.items():
            arguments = runs[verb].replace(" --peer numpy", "").replace(" --csv comparison.csv", "")
            with self.subTest(verb):
                done = self.run_ok(*arguments.split(), "--csv", "-",
                                   env={**BARE, "XDG_CACHE_HOME": str(self.directory)})
                header, *lines = csv.reader(io.StringIO(done.stdout), strict=True)
                self.assertTrue(lines, done.stdout)
                self.assertEqual({len(line) for line in lines}, {len(header)}, done.stdout)
                self.assertEqual(len(set(header)), len(header), header)
                self.assertTrue(all(any(line) for line in lines), done.stdout)
                if column:
                    self.assertTrue(any(line[header.index(column)] for line in lines), done.stdout)


if __name__ == "__main__":
    unittest.main()
