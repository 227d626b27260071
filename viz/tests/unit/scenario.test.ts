// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { assumedCards } from "../../src/data/assumed";
import type { Profile, Way } from "../../src/data/model";
import { readResultFile } from "../../src/data/results";
import { columnsOf, comparable, measuredRuns, predictAll, sentence } from "../../src/data/scenario";
import { tableOf } from "../../src/data/table";
import { light } from "../../src/pictures/palette";
import { bars } from "../../src/pictures/whatif";

const way = (backend: string, step: number, device: Way["device"] = "cpu"): Way => ({
  backend,
  device,
  dtype: "float32",
  grids: [64, 128].map((side) => ({
    side,
    threads: 1,
    setup: 1e-3,
    copyIn: 1e-6,
    copyOut: 2e-6,
    calls: [1, 100].map((steps) => ({ steps, seconds: steps * step * side * side })),
  })),
});
const profile = (...ways: Way[]): Profile => ({
  machine: "a CPU, 2 usable CPUs; CUDA: none",
  date: "",
  transfer: "pageable",
  disturbed: false,
  source: "profile.json",
  ways,
});
const setting = {
  card: null,
  dtype: "float32",
  side: 128,
  iterations: 100,
  every: 0,
  roundTrips: false,
};
const twoWays = profile(way("slow", 1e-9), way("fast", 1e-11));

describe("what is imagined", () => {
  it("is told with the fastest first, as predicted, with what was never recorded", () => {
    const asked = { ...setting, profile: twoWays };
    const all = predictAll(asked);
    expect(all.map((each) => each.way.backend)).toEqual(["fast", "slow"]);
    expect(sentence(asked, all)).toContain("Predicted, not measured: fast is the fastest");
    expect(sentence(asked, all)).toContain("No GPU was recorded");
    expect(sentence(asked, all)).not.toContain("EXTRAPOLATED");
    const beyond = { ...asked, side: 256, iterations: 200 };
    expect(sentence(beyond, predictAll(beyond))).toContain("EXTRAPOLATED: the largest recorded");
    expect(sentence(beyond, predictAll(beyond))).toContain("longest recorded call is of 100");
    expect(comparable(all).map((each) => each.way.backend)).toEqual(["fast"]);
  });

  it("has round trips on a GPU only, and says so", () => {
    const asked = {
      ...setting,
      every: 1,
      roundTrips: true,
      profile: profile(...twoWays.ways, way("cuda_1", 1e-12, "cuda")),
    };
    const all = predictAll(asked);
    expect(all.map(({ way: { backend }, run }) => [backend, run.visits])).toEqual([
      ["fast", 0],
      ["cuda_1", 100 * 3e-6],
      ["slow", 0],
    ]);
    expect(sentence(asked, all)).toContain("on a GPU a round trip of the field every step");
    expect(sentence(asked, all)).toContain("The best on the GPU, cuda_1");
  });

  it("marks a card that is assumed in every line, with the span of what is assumed", () => {
    const card = assumedCards.find(({ key }) => key === "t4")!;
    const asked = { ...setting, card, profile: twoWays };
    const all = predictAll(asked);
    const assumed = all.filter(({ ends }) => ends !== null);
    expect(assumed).toHaveLength(4);
    for (const { way: each, run, ends } of assumed) {
      expect(each.backend).toContain("(assumed t4)");
      expect(ends!.best.warm).toBeLessThan(run.warm);
      expect(ends!.worst.warm).toBeGreaterThan(run.warm);
    }
    const marked = tableOf(columnsOf(all), all).rows.filter((row) => String(row[1]) !== "cpu");
    expect(marked.map((row) => row[1])).toEqual(Array(4).fill("cuda, assumed"));
    expect(sentence(asked, all)).toContain("The T4 was not measured; assumed, it takes ");
    expect(sentence(asked, all)).toContain("No GPU was recorded in this profile.");
    const { series, yAxis } = bars(all, light, false) as {
      series: { name: string; data: number[][] }[];
      yAxis: { data: string[] };
    };
    const spans = series.find(({ name }) => name === "assumed, best to worst")!.data;
    for (const [row, low, high] of spans) {
      const { ends } = assumed.find(({ way: each }) => each.backend === yAxis.data[row!])!;
      expect([low, high]).toEqual([ends!.best.warm, ends!.worst.warm]);
    }
    expect(spans.length).toBeGreaterThan(0);
  });

  it("leaves open what the assumed figures leave open", () => {
    const card = assumedCards.find(({ key }) => key === "laptop")!;
    const openOf = (step: number) => {
      const asked = { ...setting, card, profile: profile(way("fast", step)) };
      return sentence(asked, predictAll(asked)).includes("leave open");
    };
    expect([1e-12, 6e-11, 1e-8].map(openOf)).toEqual([false, true, false]);
  });

  it("has measured runs beside it only of the same machine, type and iterations", () => {
    const file = (cpu_model: string, iterations: number, row: object = {}) =>
      readResultFile({
        context: { cpu_model, usable_cpus: "2", cuda: "none" },
        diffbench: {
          problem: { nx: 64, ny: 64, iterations, dtype: "float32", boundary: "periodic" },
          results: [{ backend: "fast", device: "cpu", phases: { wall: 1e-3 }, ...row }],
        },
      });
    const asked = { ...setting, profile: twoWays };
    const runs = measuredRuns(
      [
        file("a CPU", 100),
        file("another CPU", 100),
        file("a CPU", 10),
        file("a CPU", 100, { roundtrip_every: 10 }),
        file("a CPU", 100, { device: "emulated" }),
      ],
      asked,
    );
    expect(runs.map(({ side, row }) => [side, row.warm?.wall])).toEqual([[64, 1e-3]]);
    expect(measuredRuns([file("a CPU", 100)], { ...asked, every: 10 })).toEqual([]);
  });
});
