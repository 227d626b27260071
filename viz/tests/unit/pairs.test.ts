import { describe, expect, it } from "vitest";
import { chainsOf, readPair } from "../../src/data/pairs";
import { filesOfPage, machineOf } from "../../src/data/results";
import { beforeAfter } from "../../src/pictures/before_after";
import { history } from "../../src/pictures/history";
import { light } from "../../src/pictures/palette";

const fileOf = (name: string, context: object) => ({
  file: name,
  context: { cpu_model: "A", usable_cpus: "2", git_sha: name.repeat(20), ...context },
  diffbench: {
    results: [{ backend: "simd", seconds_per_iteration_interval: { low: 1, high: 3 } }],
  },
});
const files = filesOfPage([
  fileOf("c", { date: "2026-01-03T10:00:00+0000" }),
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
const chains = chainsOf(pairs);

describe("pairs of files", () => {
  it("are chains in time on one machine, and stand alone on two", () => {
    const namesOf = chains.map((chain) =>
      chain.map(({ before, after }) => before.name + after.name),
    );
    expect(namesOf).toEqual([["ab", "bc"], ["cd"]]);
  });

  it("have a context of both files", () => {
    const { verdicts } = chains[1]![0]!;
    expect(machineOf(verdicts)).toBe("A → B, 2 CPUs");
    expect(verdicts.name).toBe("c → d");
    expect(verdicts.context).not.toHaveProperty("git_sha");
  });
});

interface Option {
  grid: unknown[];
  series: {
    name: string;
    data: { value: number[]; symbol: string }[];
    tooltip: { valueFormatter: (value: unknown, index: number) => string };
    markLine?: { data: { xAxis: number }[] };
  }[];
}

describe("before and after", () => {
  const picture = beforeAfter(chains[0]![1]!);
  const series = (view: number) =>
    (picture.option(light, false, view) as unknown as Option).series.slice(1);

  it("draws each row against the time before, or both times", () => {
    expect(series(0).map(({ data }) => data.map(({ value }) => value))).toEqual([
      [[1, 0]],
      [[1.5, 0]],
    ]);
    expect(series(1).map(({ data }) => data[0]!.value[0])).toEqual([2, 3]);
  });

  it("tells times, ratio, interval and verdict in its tooltips", () => {
    const told = series(0).map(({ tooltip, data }) => tooltip.valueFormatter(data[0]!.value[0], 0));
    expect(told).toEqual(["2.00 s", "3.00 s; after / before 1.50 (1.35 to 1.65), SLOWER"]);
  });

  it("lists what is not compared, and says where two machines are one ratio", () => {
    expect(picture.notDrawn).toEqual([["cuda", "only in the new run"]]);
    expect(picture.reading).toBe("SLOWER: simd.");
    expect(beforeAfter(chains[1]![0]!).reading).toContain("Two machines");
  });
});

describe("the strip of runs", () => {
  const strip = history(chains[0]!)!;

  it("has every run once, with its interval, and marks the changes", () => {
    const { series, grid } = strip.option(light, false, 0) as unknown as Option;
    expect(grid).toHaveLength(1); // cuda was never compared
    const line = series[1]!;
    expect(line.data.map(({ value }) => value)).toEqual([2, 2, 3]);
    expect(line.markLine!.data).toEqual([{ xAxis: 2 }]);
    expect(line.tooltip.valueFormatter(3, 2)).toBe(
      "3.00 s (1.00 s to 3.00 s), 1.50x the run before, SLOWER; c",
    );
    expect(strip.reading).toBe(
      "3 runs of this machine from 2026-01-01 to 2026-01-03: simd SLOWER in c (1.50x).",
    );
  });

  it("is not there for two runs", () => {
    expect(history(chains[1]!)).toBeNull();
  });
});
