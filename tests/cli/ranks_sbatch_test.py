# SPDX-License-Identifier: Apache-2.0
"""`run --sbatch`: the job's file, handed to a stand-in of sbatch, which starts as many ranks as the file asks for."""
import os
import pathlib
import re
import unittest

from program import PROGRAM
from ranks_program import MPIRUN, RanksTest

# Reads the job as sbatch does: options at its head, then a script. mpirun starts ntasks ranks.
SBATCH = r"""#!/bin/sh
ranks=$(sed -n 's/^#SBATCH --ntasks=//p' "$1")
[ -n "$ranks" ] || exit 2
sed "s|^mpirun |%s -n $ranks |" "$1" >started.sh
exec sh started.sh
"""


class Job(RanksTest):
    def job(self, *arguments):
        done = self.run_program("run", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_it_is_run_by_a_stand_in_with_the_bits_of_one_process(self):
        run = "--grid 64x48 --iters 30 --threads 1".split()
        text = self.job(*run, "--sbatch", "nodes=1,ntasks=3,time=00:10:00")
        self.assertRegex(text, r"\A#!/bin/sh\n#SBATCH --nodes=1\n#SBATCH --ntasks=3\n#SBATCH --time=00:10:00\n# cluster predict: ")
        self.assertNotIn("--sbatch", text.splitlines()[-1])
        (self.directory / "job.sbatch").write_text(text)
        stand_in = self.directory / "sbatch"
        stand_in.write_text(SBATCH % " ".join(MPIRUN))
        stand_in.chmod(0o755)
        programs = f"{pathlib.Path(PROGRAM).parent}:{os.environ['PATH']}"
        done = self.run_program("job.sbatch", program=str(stand_in), env={**self.folder_of_its_own(), "PATH": programs})
        self.assertEqual(done.returncode, 0, done.stderr)
        digest = re.search(r"digest \S+", self.job(*run))[0]
        self.assertIn(digest, done.stdout)
        self.assertRegex(done.stdout, r"simd +3 ")

    def test_what_is_no_job_is_refused(self):
        for words in ("nodes=2", "ntasks=0", "ntasks=8,", "ntasks=8,time=1 2", "ntasks=8\n#x", "8", "ntasks=2,name=$(id)"):
            done = self.run_program("run", "--sbatch", words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("--sbatch", done.stderr)


if __name__ == "__main__":
    unittest.main()
