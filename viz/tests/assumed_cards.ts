// SPDX-License-Identifier: Apache-2.0
// What the program under test writes of the assumed cards into each page, for the tests that have no page.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { takeAssumed } from "../src/data/assumed";

const program = process.env["DIFFBENCH_PROGRAM"];
if (!program) throw new Error("DIFFBENCH_PROGRAM does not name the program; run this by ctest");
const recorded = new URL("../../bench/results/epyc-2core-640.json", import.meta.url);
const directory = mkdtempSync(join(tmpdir(), "diffbench-cards-"));
const page = join(directory, "report.html");
execFileSync(program, ["report", fileURLToPath(recorded), "-o", page]);
const [, ways] = /class="assumed">(.*?)<\/script>/.exec(readFileSync(page, "utf8"))!;
takeAssumed(JSON.parse(ways!));
rmSync(directory, { recursive: true });
