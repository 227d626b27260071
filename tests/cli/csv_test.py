# SPDX-License-Identifier: Apache-2.0
"""--csv of every verb: a header, and lines with as many cells; and of `report`, which has from each
verb's JSON the lines that the verb itself has."""
import csv
import io
import unittest

from every_verb import RUNS, EveryVerb

# A column that says something in at least one line.
SAYING = {
    "comparison": "seconds_per_iteration", "residency": "times_resident", "scaling": "efficiency",
    "sweep": "seconds_per_iteration", "transfer": "bytes_per_second",
    "advise": "warm_seconds", "selftest": "slower",
    "pitfalls": "mistaken_seconds", "compare": "verdict",
    "list": "reason", "doctor": "value",
}

# Columns that are no keys of the verb's JSON, so that the lines of `report` lack them.
OWN_COLUMNS = {"sweep": {"grid", "iters"},
               "mlp-throughput": {"verified"},
               "grade": {"times_numpy", "times_best", "marks"},
               "mlp-throughput-train": {"verified"}}


class Csv(EveryVerb):
    def test_every_verb(self):
        for name, arguments in RUNS.items():
            if name == "report" or "--csv" not in arguments:
                continue
            with self.subTest(name):
                self.run_verb(arguments)
                text = self.path(f"{name}.csv").read_text()
                header, lines = self.read(text)
                column = SAYING.get(name)
                self.assertTrue(not column or any(line[header.index(column)] for line in lines), text)
                self.check_report(name, header, lines)
                if name == "comparison-assumed":  # marked, and with no measured time
                    [mark, seconds] = [header.index(column) for column in ("assumed", "seconds_per_iteration")]
                    self.assertEqual([bool(line[mark]) for line in lines], [not line[seconds] for line in lines])
                    self.assertGreater(sum(line[mark] == "t4" for line in lines), 2)

    def read(self, text):
        """Header and lines, checked."""
        header, *lines = csv.reader(io.StringIO(text), strict=True)
        self.assertTrue(lines, text)
        self.assertEqual({len(line) for line in lines}, {len(header)}, text)
        self.assertEqual(len(set(header)), len(header), header)
        self.assertTrue(all(any(line) for line in lines), text)
        return header, lines

    def check_report(self, name, header, lines):
        done = self.run_program("report", f"{name}.json", "-o", "page.html", "--csv", "-")
        if done.returncode == 4:  # a build without the page
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        columns, reported = self.read(done.stdout)
        self.assertEqual(columns[:3], ["file", "experiment", "command"])
        shared = [column for column in header if column in columns]
        if name.startswith("comparison"):  # whose CSV has short names; `report` adds to assumed rows what is of all
            reported, lines = ([row for row in rows if "assumed" not in names or not row[names.index("assumed")]]
                               for names, rows in ((columns, reported), (header, lines)))
        else:
            self.assertEqual(set(header) - set(shared), OWN_COLUMNS.get(name, set()))

        def of_shared(names, rows):
            return [[row[names.index(column)] for column in shared] for row in rows]

        self.assertEqual(of_shared(columns, reported), of_shared(header, lines))


if __name__ == "__main__":
    unittest.main()
