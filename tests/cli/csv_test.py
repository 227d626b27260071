"""--csv of every verb: a header, and lines with as many cells; and of `report`, which has from each
verb's JSON the lines that the verb itself has."""
import csv
import io
import os
import shutil
import unittest

from every_verb import BARE, MEASURED, RESULTS
from program import CommandLineTest

# With a column that says something in at least one line. calibrate writes what advise reads.
VERBS = {
    "comparison": "seconds_per_iteration", "residency": "times_resident", "scaling": "efficiency",
    "sweep": "seconds_per_iteration", "transfer": "bytes_per_second",
    "calibrate": "seconds_per_step", "advise": "warm_seconds", "selftest": "slower",
    "selftest-engine": "slower", "pitfalls": "mistaken_seconds", "compare": "verdict",
    "mlp-train": None, "mlp-depth": None, "mlp-width": None, "mlp-scaling": None,
    "mlp-throughput": None, "mlp-latency": None, "list": "reason", "doctor": "value",
}

# Columns that are no keys of the verb's JSON, so that the lines of `report` lack them.
OWN_COLUMNS = {"sweep": {"grid", "iters", "wrong", "failure", "cold_seconds", "warm_seconds"},
               "calibrate": {"seconds_per_step"}, "mlp-throughput": {"verified"}}


class Csv(CommandLineTest):
    def test_every_verb(self):
        shutil.copy(RESULTS / "epyc-2core-640.json", self.path("old.json"))
        runs = {**MEASURED, "compare": "compare old.json old.json", "list": "list",
                "doctor": "doctor"}
        if len(os.sched_getaffinity(0)) < 2:
            runs["scaling"] = runs["scaling"].replace("1,2", "1")
        for verb, column in VERBS.items():
            arguments = runs[verb].replace(" --peer numpy", "").replace(" --csv comparison.csv", "")
            with self.subTest(verb):
                done = self.run_ok(*arguments.split(), "--csv", "-", "--json", f"{verb}.json",
                                   env={**BARE, "XDG_CACHE_HOME": str(self.directory)})
                header, lines = self.read(done.stdout)
                if column:
                    self.assertTrue(any(line[header.index(column)] for line in lines), done.stdout)
                self.check_report(verb, header, lines)

    def read(self, text):
        """Header and lines, checked."""
        header, *lines = csv.reader(io.StringIO(text), strict=True)
        self.assertTrue(lines, text)
        self.assertEqual({len(line) for line in lines}, {len(header)}, text)
        self.assertEqual(len(set(header)), len(header), header)
        self.assertTrue(all(any(line) for line in lines), text)
        return header, lines

    def check_report(self, verb, header, lines):
        done = self.run_program("report", f"{verb}.json", "-o", "page.html", "--csv", "-")
        if done.returncode == 4:  # a build without the page
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        columns, reported = self.read(done.stdout)
        self.assertEqual(columns[:3], ["file", "experiment", "command"])
        shared = [name for name in header if name in columns]
        if verb != "comparison":  # whose CSV has short names
            self.assertEqual(set(header) - set(shared), OWN_COLUMNS.get(verb, set()))

        def of_shared(names, rows):
            return [[row[names.index(name)] for name in shared] for row in rows]

        self.assertEqual(of_shared(columns, reported), of_shared(header, lines))


if __name__ == "__main__":
    unittest.main()
