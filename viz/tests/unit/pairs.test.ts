// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { machineOf } from "../../src/data/results";
import { beforeAfter } from "../../src/pictures/before_after";
import { history } from "../../src/pictures/history";
import { light } from "../../src/pictures/palette";
import { chains } from "../paired_runs";

describe("pairs of files", () => {
  it("are chains in time on one machine, and stand alone on two", () => {
    const namesOf = chains.map((chain) =>
      chain.map(({ before, after }) => before.name + after.name),
    );
    expect(namesOf).toEqual([["ab", "bc"], ["cd"]]);
  });

  it("have a context of both files", () => {
    const { verdicts } = chains[1]![0]!;
    expect(machineOf(verdicts)).toBe("A → B, 2 CPUs; GPU: GPU of c → none");
    expect(verdicts.name).toBe("c → d");
    expect(verdicts.context).not.toHaveProperty("git_sha");
  });
});

interface Option {
  grid: unknown[];
  series: {
    name: string;
    data: { value: number[]; told: { lines: string[][] } }[];
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
    for (const { data } of series(0))
      expect(data[0]!.told.lines).toEqual([
        ["before", "2.00 s"],
        ["after", "3.00 s"],
        ["after / before", "1.50"],
        ["interval from", "1.35"],
        ["to", "1.65"],
        ["verdict", "SLOWER"],
      ]);
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
    const days = [1, 2, 3].map((day) => Date.UTC(2026, 0, day, 10));
    expect(line.data.map(({ value }) => value)).toEqual([
      [days[0], 1],
      [days[1], 1],
      [days[2], 1.5],
    ]);
    expect(line.markLine!.data).toEqual([{ xAxis: days[2] }]);
    expect(line.data[2]!.told.lines).toEqual([
      ["date", "2026-01-03T10:00:00+0000"],
      ["file", "c"],
      ["build", "cccccccccc"],
      ["median", "3.00 s"],
      ["over the first run", "150 %"],
      ["interval from", "1.00 s"],
      ["to", "3.00 s"],
      ["over the run before", "1.50"],
      ["verdict", "SLOWER"],
    ]);
    expect(strip.reading).toBe(
      "3 runs of this machine from 2026-01-01 to 2026-01-03: simd SLOWER in c (1.50x).",
    );
  });

  it("is not there for two runs", () => {
    expect(history(chains[1]!)).toBeNull();
  });
});
