// SPDX-License-Identifier: Apache-2.0
// Files of runs that came before and after one another, by hand: a, b and c on one machine, d on another.
import { chainsOf, readPair } from "../src/data/pairs";
import { filesOfPage } from "../src/data/results";

const fileOf = (name: string, context: object) => ({
  file: name,
  context: { cpu_model: "A", usable_cpus: "2", git_sha: name.repeat(20), ...context },
  diffbench: {
    results: [{ backend: "simd", seconds_per_iteration_interval: { low: 1, high: 3 } }],
  },
});
const files = filesOfPage([
  fileOf("c", { date: "2026-01-03T10:00:00+0000", gpu_name: "GPU of c" }),
  fileOf("a", { date: "2026-01-01T10:00:00+0000" }),
  fileOf("b", { date: "2026-01-02T10:00:00+0000" }),
  fileOf("d", { date: "2026-01-04T10:00:00+0000", cpu_model: "B" }),
]);
const pairPart = (before: number, after: number, ratio: number, verdict: string, same = true) => ({
  old: before,
  new: after,
  same_machine: same,
  diffbench: {
    experiment: "compare",
    compare: {
      differences: [{ what: "git_sha", old: "x", new: "y" }],
      rows: [
        {
          ...{ row: "simd", reason: null, verdict, ratio, old_seconds: 2, new_seconds: 2 * ratio },
          interval: { low: 0.9 * ratio, high: 1.1 * ratio, confidence: 0.99 },
        },
        { row: "cuda", reason: "only in the new run", verdict: null, ratio: null, interval: null },
      ],
    },
  },
});
const pairs = [
  pairPart(1, 2, 1, "UNCLEAR"),
  pairPart(2, 0, 1.5, "SLOWER"),
  pairPart(0, 3, 0.5, "FASTER", false),
  pairPart(0, 9, 1, "UNCLEAR"), // of no file
].flatMap((part) => readPair(part, files) ?? []);
export const chains = chainsOf(pairs);
