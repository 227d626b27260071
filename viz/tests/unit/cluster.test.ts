// SPDX-License-Identifier: Apache-2.0
import type { LineSeriesOption } from "echarts";
import { describe, expect, it } from "vitest";
import { readRankPrediction, readRankRuns } from "../../src/data/cluster";
import { readResultFile } from "../../src/data/results";
import { picturesOf } from "../../src/pictures/catalogue";
import { dark, light } from "../../src/pictures/palette";
import { isMissing, type Picture } from "../../src/pictures/picture";

/** Rows as `diffbench cluster` writes them, less what these pictures do not read. */
const row = (ranks: number, more: object = {}) => ({
  backend: ranks === 0 ? "simd, no ranks" : `simd, ${ranks} rank${ranks === 1 ? "" : "s"}`,
  device: "cpu",
  status: "ok",
  reason: null,
  verified: { bitwise: true, steps: 100, max_abs_error: 0, nonfinite: 0 },
  threads: ranks < 2 ? 2 : 1,
  seconds_per_iteration: 1e-4,
  seconds_per_iteration_interval: { low: 0.9e-4, high: 1.2e-4, confidence: 0.95 },
  cells_per_second: 1e10,
  ranks,
  halo_depth: ranks < 2 ? null : 16,
  nx: 1000,
  ny: 1000,
  oversubscribed: false,
  seconds_per_step: 1e-4,
  modelled_seconds: null,
  model_error: null,
  efficiency: 1,
  ...(ranks === 0
    ? { compute_seconds: null, copy_seconds: null, wait_seconds: null, imbalance: null }
    : { compute_seconds: 6e-5, copy_seconds: 1e-6, wait_seconds: 2e-5, imbalance: 0.1 }),
  ...more,
});
const base = row(0);
const two = row(2, {
  cells_per_second: 1.6e10,
  seconds_per_step: 0.625e-4,
  efficiency: 0.8,
  wait_seconds: 3.9e-5,
});
/** It has samples, a rate and a profile, and none of them says anything. */
const three = row(3, {
  oversubscribed: true,
  seconds_per_step: null,
  efficiency: null,
  cells_per_second: 4.77e9,
  seconds_per_iteration: 1.64887745e-4,
  compute_seconds: 4.585e-5,
});
const deep = (depth: number, seconds: number, modelled: number) =>
  row(2, {
    backend: `simd, 2 ranks, depth ${depth}`,
    halo_depth: depth,
    seconds_per_step: seconds,
    seconds_per_iteration_interval: { low: 0.9 * seconds, high: 1.1 * seconds },
    modelled_seconds: modelled,
  });
const predicted = (ranks: number, efficiency: number, everyStep: number | null, more = {}) => ({
  ranks,
  nx: 16384,
  ny: 16384,
  halo_depth: ranks === 1 ? null : 32,
  seconds_per_step: 16384 ** 2 / (2.5e12 * ranks * efficiency),
  cells_per_second: 2.5e12 * ranks * efficiency,
  efficiency,
  efficiency_exchanging_every_step: everyStep,
  measured_seconds: null,
  error: null,
  ...more,
});

const file = (question: unknown, results: unknown, more: object = {}) =>
  readResultFile({
    file: "cluster.json",
    context: { cpu_model: "a CPU", usable_cpus: "2" },
    diffbench: {
      schema: 1,
      command: "diffbench cluster",
      experiment: "cluster",
      cluster: { question, transport: "threads", results, ...more },
    },
  });
const strong = file("strong", [base, row(1), two, three]);
const depths = file("depth", [
  base,
  deep(1, 4e-4, 5e-4),
  deep(2, 2e-4, 2.2e-4),
  deep(4, 1e-4, 0.8e-4),
  deep(8, 1.1e-4, 0.7e-4),
]);
const assumed = { assumed: true, source: "assumed: 2500 GCell/s a rank, network 6us,150GB/s" };
const prediction = file(
  "predict",
  [predicted(16, 0.8, 0.34), predicted(1, 1, null), predicted(4, 0.94, 0.68)],
  assumed,
);

function pictureOf(of: ReturnType<typeof file>, id: string): Picture {
  const picture = picturesOf(of).find((each) => each.id === id);
  if (picture === undefined || isMissing(picture)) throw new Error(`no ${id}: ${picture?.missing}`);
  return picture;
}
const seriesOf = (picture: Picture, variant = 0) => picture.option(light, false, variant).series;
/** What is drawn. */
const named = (picture: Picture, name: string, variant = 0) =>
  seriesOf(picture, variant)
    .find((series) => series.name === name)
    ?.data.map((each) => ("told" in each ? each.value : each));

describe("scaling over ranks", () => {
  const picture = pictureOf(strong, "cluster-scaling");

  it("has bars of the rate, and the run without ranks as a line", () => {
    expect(named(picture, "on ranks")).toEqual([10, 16, null]);
    expect((seriesOf(picture)[0] as LineSeriesOption).markLine?.data).toEqual([{ xAxis: 10 }]);
    const [, interval] = named(picture, "interval") as number[][];
    expect(interval).toEqual([1, expect.closeTo(1e6 / 1.2e5), expect.closeTo(1e6 / 0.9e5)]);
    expect(picture.reading).toBe(
      "2 ranks are the fastest, 16.0 GCell/s, 80.0 % of the rate of as many threads without ranks; 3 ranks are more than the CPUs, and have no time. Ranks communicate by threads.",
    );
    expect(picture.verification).toContain("4 of 4 timed rows");
  });

  it("tells no figure of oversubscribed ranks, whatever the file has", () => {
    expect(named(picture, "oversubscribed")).toEqual([[0, 2]]);
    expect(picture.table.rows[3]).toEqual([
      ...[3, 1, 16, 1000, 1000],
      ...[null, null, null, null, null],
      "oversubscribed: correctness only",
      "bit for bit the reference's field after 100 steps",
    ]);
    expect(picture.notDrawn).toEqual([["simd, 3 ranks", "oversubscribed: correctness only"]]);
    const steps = pictureOf(strong, "cluster-step");
    expect(steps.table.rows.map((cells) => cells[0])).toEqual([1, 2]);
    expect(steps.notDrawn).toEqual(picture.notDrawn);
  });

  it("divides the step of the slowest rank", () => {
    const steps = pictureOf(strong, "cluster-step");
    expect(named(steps, "compute")).toEqual([6e-5, 6e-5]);
    expect(named(steps, "wait")).toEqual([2e-5, 3.9e-5]);
    expect(named(steps, "wait", 1)).toEqual([
      expect.closeTo(20 / 81, 12),
      expect.closeTo(0.39, 12),
    ]);
    expect(steps.reading).toContain("With 2 ranks x 1 thread the slowest rank");
    expect(steps.reading).toContain("39.0 % of its step, the most of all");
  });

  it("says that nothing beats the run without ranks", () => {
    const slow = row(2, { cells_per_second: 1e9, seconds_per_step: 1e-3 });
    const weak = pictureOf(file("weak", [base, slow]), "cluster-scaling");
    expect(weak.title).toContain("Weak scaling");
    expect(weak.reading).toContain(
      "No number of ranks is faster than the run without ranks, 10.0 GCell/s",
    );
  });
});

describe("the depth of halos", () => {
  const picture = pictureOf(depths, "cluster-depth");

  it("has the best, what one exchange a step costs, and how far off the model is", () => {
    expect(picture.reading).toBe(
      "Halos of 4 rows are the best, 100 us a step; one exchange a step takes 4.00 times as long; the model says 8 rows, and is off by 22.5 % in the median. Ranks communicate by threads.",
    );
    expect(named(picture, "best")).toEqual([[4, 1e-4]]);
    expect(named(picture, "model's best")).toEqual([[8, 0.7e-4]]);
    expect(named(picture, "model")).toHaveLength(4);
    expect(named(picture, "interval")?.[0]).toEqual([1, 3.6e-4, expect.closeTo(4.4e-4, 12)]);
  });

  it("does without a model, and without times", () => {
    const only = pictureOf(file("depth", [row(2, { halo_depth: 1 })]), "cluster-depth");
    expect(only.reading).toContain("Halos of 1 row are the best, 100 us a step. Ranks");
    const over = { ...deep(2, 1e-4, 2e-4), oversubscribed: true };
    const modelled = pictureOf(file("depth", [over]), "cluster-depth");
    expect(modelled.reading).toContain("No depth has both a verified result and a time; the model");
    expect(seriesOf(modelled).map((series) => series.name)).toEqual(["model", "model's best"]);
  });
});

describe("predicted ranks", () => {
  it("are called assumed in title, legend and axis, unless the file says that they are not", () => {
    for (const more of [assumed, {}, { assumed: "no" }]) {
      const picture = pictureOf(file("predict", [predicted(4, 0.9, 0.5)], more), "cluster-predict");
      expect(picture.title).toContain("assumed");
      expect(seriesOf(picture).map((series) => series.name)).toEqual([
        "ideal",
        "best depth, assumed",
        "one exchange a step, assumed",
      ]);
    }
    const fitted = file("predict", [predicted(4, 0.9, 0.5)], { assumed: false });
    const picture = pictureOf(fitted, "cluster-predict");
    expect(JSON.stringify([picture, seriesOf(picture)])).not.toContain("assumed");
  });

  it("go by ranks, in rates and in efficiencies", () => {
    const picture = pictureOf(prediction, "cluster-predict");
    expect(picture.reading).toContain("on 16 ranks");
    expect(picture.reading).toContain("80.0 % of ideal with halos of 32 rows, 34.0 % with one");
    expect(named(picture, "one exchange a step, assumed")).toEqual([
      [4, expect.closeTo(6800)],
      [16, expect.closeTo(13600)],
    ]);
    expect(named(picture, "best depth, assumed", 1)).toEqual([
      [1, 1],
      [4, expect.closeTo(0.94)],
      [16, expect.closeTo(0.8)],
    ]);
  });

  it("have measured points beside them", () => {
    const run = predicted(4, 0.8, 0.5);
    const measured = { ...run, measured_seconds: 2 * run.seconds_per_step };
    const picture = pictureOf(file("predict", [measured]), "cluster-predict");
    expect(named(picture, "measured")).toEqual([[4, expect.closeTo(4000)]]);
    expect(picture.table.rows[0]?.slice(-1)).toEqual([-0.5]);
    expect(picture.verification).toContain("Measured beside it: 1 of 1");
  });
});

describe("what is no good file", () => {
  const hostile = [null, 0, -1, 1e308, 0.5, "1", "<script>", [], {}, true, NaN];
  const questions = ["strong", "weak", "depth", "predict"];
  const drawAll = (of: ReturnType<typeof file>) => {
    const empty: string[] = [];
    for (const picture of picturesOf(of))
      if (!isMissing(picture))
        (picture.variants ?? [""]).forEach((_name, variant) => {
          picture.option(dark, true, variant);
          if (seriesOf(picture, variant).some(({ data }) => data.length === 0))
            empty.push(picture.id);
        });
    expect(empty).toEqual([]);
  };

  it("has no picture without rows, and says so", () => {
    for (const results of [[], null, 3, "x", [null, 1, "x", [], {}]])
      for (const question of questions) {
        const pictures = picturesOf(file(question, results));
        expect(pictures.length).toBe(question === "predict" ? 1 : 2);
        expect(pictures.every(isMissing)).toBe(true);
      }
    for (const question of [undefined, null, 3, "other", {}]) {
      expect(readRankRuns(file(question, [two]))).toBeNull();
      expect(readRankPrediction(file(question, [two]))).toBeNull();
      expect(picturesOf(file(question, [two]))).toEqual([]);
    }
  });

  it("is drawn as far as it is good", () => {
    for (const question of questions) {
      const good: object[] =
        question === "predict" ? [predicted(4, 0.9, 0.5)] : [base, row(1), deep(2, 1e-4, 2e-4)];
      for (const name of [...new Set(good.flatMap((each) => Object.keys(each)))])
        for (const value of [undefined, ...hostile]) {
          const bad = good.map((each) => ({ ...each, [name]: value }));
          drawAll(file(question, bad));
          drawAll(file(question, [...good, ...bad]));
        }
    }
  });

  it("has a time only of what ran, was verified and was not oversubscribed", () => {
    const lies = [
      { status: "failed" },
      { device: "emulated" },
      { verified: { bitwise: false } },
      { verified: null },
      { oversubscribed: true },
      { oversubscribed: null },
      { seconds_per_step: null },
      { seconds_per_step: Infinity },
    ];
    for (const lie of lies) {
      const [run] = readRankRuns(file("strong", [{ ...two, ...lie }]))!.runs;
      const { seconds, interval, cellsPerSecond, efficiency, slowest, imbalance } = run!;
      expect([seconds, interval, cellsPerSecond, efficiency, slowest, imbalance]).toEqual(
        Array(6).fill(null),
      );
    }
    const ranks = [null, -1, 1.5, "2", 0, 2].map((value) => ({ ...two, ranks: value }));
    expect(readRankRuns(file("weak", ranks))!.runs.map((run) => run.ranks)).toEqual([0, 2]);
  });
});
