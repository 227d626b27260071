// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readResultFile } from "../../src/data/results";
import type { Table } from "../../src/data/table";
import { usualRun, whenOf } from "../../src/data/when";
import { crossover } from "../../src/pictures/crossover";
import { light } from "../../src/pictures/palette";
import { isMissing, type Picture, readingOf } from "../../src/pictures/picture";

/** A file that `diffbench sweep` wrote, without its context and with three samples a row. */
const written = JSON.parse(readFileSync(new URL("sweep.json", import.meta.url), "utf8"));

/** `change` is what its crossings have otherwise. */
function pictureOf(change: object = {}): Picture {
  const { diffbench } = structuredClone(written);
  const { sweep } = diffbench;
  sweep.crossovers = sweep.crossovers.map((crossing: object) => ({ ...crossing, ...change }));
  const picture = crossover(readResultFile({ diffbench }));
  if (picture === null || isMissing(picture)) throw new Error("there is no picture");
  return picture;
}

interface Option {
  xAxis: { min: number; max: number };
  series: {
    markLine?: { label: { formatter: string }; data: [{ xAxis: number }] };
    markArea?: { data: [[{ xAxis: number }, { xAxis: number }]] };
  }[];
}

/** What is drawn of the crossing and said of it, in the view of that name. */
function shown(view: string, picture = pictureOf()) {
  const variant = picture.variants!.findIndex((name) => name.startsWith(view));
  const { xAxis, series } = picture.option(light, false, variant) as unknown as Option;
  const { markLine, markArea } = series[0]!;
  return {
    reading: readingOf(picture, variant),
    line: markLine?.data[0].xAxis,
    label: markLine?.label.formatter,
    area: markArea?.data[0].map((end) => end.xAxis),
    axis: xAxis,
  };
}

it("shows axes with characters that turn text as escapes", () => {
  const { diffbench } = structuredClone(written);
  diffbench.sweep.axes["a\u202eb"] = ["c\u202ed"];
  for (const point of diffbench.sweep.points) point.values.push("c\u202ed");
  const picture = crossover(readResultFile({ diffbench }));
  const told = JSON.stringify(picture);
  expect(told).not.toContain("\u202e");
  for (const seen of ["a\\\\u202eb", "c\\\\u202ed"]) expect(told).toContain(seen);
});

describe("a sweep that names no rows", () => {
  /** As `diffbench sweep` writes it on a machine with a GPU, where fused stands for a kernel there. */
  const { diffbench } = structuredClone(written);
  const { sweep } = diffbench;
  for (const { result } of sweep.points)
    for (const row of result.results) row.device = row.backend === "fused" ? "cuda" : "cpu";
  for (const crossing of sweep.crossovers)
    Object.assign(crossing, { champion: "best CPU", challenger: "best GPU", devices: true });
  const file = readResultFile({ diffbench });

  it("is of the best rows of CPU and GPU, which are drawn as those of the crossing", () => {
    const picture = crossover(file);
    if (picture === null || isMissing(picture)) throw new Error("there is no picture");
    const { series } = picture.option(light, false, 0) as unknown as {
      series: { name: string; lineStyle: { type: string } }[];
    };
    expect(series.map(({ lineStyle }) => lineStyle.type)).toEqual(["solid", "solid"]);
    const others = pictureOf({ champion: "best CPU", challenger: "best GPU" });
    const { series: dashed } = others.option(light, false, 0) as unknown as typeof picture & {
      series: { lineStyle: { type: string } }[];
    };
    expect(dashed.map(({ lineStyle }) => lineStyle.type)).toEqual(["dashed", "dashed"]);
  });

  it("says when a GPU pays", () => {
    const [said] = whenOf([file], null, usualRun);
    expect(said).toMatch(/^Measured: the best row of the GPU beats the best of the CPU /);
  });
});

it("says nothing of a GPU where two rows of the CPU cross", () => {
  expect(whenOf([readResultFile(structuredClone(written))], null, usualRun)).toEqual([]);
});

it("names an open interval by the end that it has", () => {
  const { diffbench } = structuredClone(written);
  for (const crossing of diffbench.sweep.crossovers)
    Object.assign(crossing, { devices: true, wins: "from", from: 69.4, low: 64.7, high: null });
  const [said] = whenOf([readResultFile({ diffbench })], null, usualRun);
  expect(said).toContain("69.4");
  expect(said).toContain("(at least 64.7)");
  expect(said).not.toContain("nowhere");
});

describe("the crossings of a sweep", () => {
  it("are all in a table", () => {
    const [[title, table]] = pictureOf().more as [[string, Table]];
    expect(title).toBe("All crossings");
    expect(table.rows).toHaveLength(written.diffbench.sweep.crossovers.length);
    expect(table.rows.at(-1)!.slice(0, 7)).toEqual([
      ...["cold run", "iters", "grid 64", "fused", "scalar", "111", "89.0"],
    ]);
  });

  it("are drawn for warm and cold runs, and are what is shown first", () => {
    const { variants, answers } = pictureOf();
    expect(variants!.slice(0, 3)).toEqual([
      "a warm run, by iterations, at grid 64",
      "a cold run, by iterations, at grid 64",
      "a step, all in place, by grid, at iters 128",
    ]);
    // Three times of both axes, at each value of the other one.
    expect(variants).toHaveLength(3 * 4 + 3 * 3);
    expect(answers!.questions).toEqual(["Time of", "Axis", "At"]);
    const warm = shown("a warm run, by iterations");
    expect(warm.line).toBeCloseTo(4.3625, 4);
    expect(warm.area).toEqual([3.212260381351754, 5.933210279206606]);
    expect(warm.label).toBe("fused wins from 4.36");
  });

  it("have an interval that may be open: it is shaded to the end of the axis", () => {
    const cold = shown("a cold run, by iterations");
    expect(cold.line).toBeCloseTo(110.812, 3);
    expect(cold.area).toEqual([88.9596004712223, cold.axis.max]);
    const byGrid = shown("a warm run, by grid");
    expect(byGrid.line).toBeUndefined();
    expect(byGrid.area).toEqual([byGrid.axis.min, 34.436710503174076]);
    expect(shown("a step, all in place, by grid").area).toBeUndefined();
  });

  it("are told for the chosen view", () => {
    const reading = (view: string) => shown(view).reading;
    expect(reading("a warm run, by iterations")).toBe(
      "For a warm run at grid 64, fused starts to beat scalar at 4.36 iterations (interval 3.21 to 5.93).",
    );
    expect(reading("a cold run, by iterations")).toBe(
      "For a cold run at grid 64, fused starts to beat scalar at 111 iterations (interval at least 89.0).",
    );
    expect(reading("a step, all in place, by grid")).toBe(
      "For a step, all in place at iters 128, fused beats scalar everywhere in the sweep.",
    );
    expect(reading("a cold run, by grid")).toBe(
      "For a cold run at iters 128, fused beats scalar everywhere in the sweep (interval not settled).",
    );
    expect(reading("a step, all in place, by iterations")).toBe(
      "For a step, all in place at grid 64, the file has no crossing.",
    );
  });

  it("may be several, of which the last is meant", () => {
    const lost = pictureOf({ wins: "nowhere", from: null, low: null, high: null, single: false });
    expect(shown("a warm run, by grid", lost).reading).toBe(
      "For a warm run at iters 128, fused does not beat scalar at the largest grid of the sweep; they change places more than once.",
    );
    const warm = shown("a warm run, by iterations", pictureOf({ single: false }));
    expect(warm.label).toBe("fused wins from 4.36, the last crossing");
    expect(warm.reading).toContain("(interval 3.21 to 5.93); they change places more than once.");
  });

  it("are left out where their words are not the schema's", () => {
    for (const change of [{ measure: "warm" }, { along: "x" }, { wins: "toString" }]) {
      const warm = shown("a warm run, by iterations", pictureOf(change));
      expect(warm.line).toBeUndefined();
      expect(warm.area).toBeUndefined();
    }
  });
});
