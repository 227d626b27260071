// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { assumedCards } from "../../src/data/assumed";
import { readResultFile, type ResultFile } from "../../src/data/results";
import { assumedBars, sentenceOf, storyOf } from "../../src/data/story";
import { light } from "../../src/pictures/palette";
import { notDrawnOf, readingOf } from "../../src/pictures/picture";
import { storyPicture } from "../../src/pictures/story";

const phasesOf = (wall: number) => ({
  context: null,
  h2d: 0.25 * wall,
  compute: 0.5 * wall,
  d2h: 0.125 * wall,
  unexplained: 0.125 * wall,
  wall,
});
const row = (backend: string, device: string, warm: number, more: object = {}) => ({
  backend,
  device,
  verified: { bitwise: true },
  seconds_per_iteration: warm / 100,
  phases: phasesOf(warm),
  end_to_end: { cold_phases: phasesOf(10 * warm) },
  ...more,
});
const trips = (backend: string, warm: number, more: object = {}) =>
  row(`${backend}, round trip every 1`, "cuda", warm, {
    kernel: backend,
    roundtrip_every: 1,
    ...more,
  });
const standIn = row("simd, round trip every 1", "cpu", 9, {
  roundtrip_every: 1,
  place: "stand_in",
});
const cpus = [row("scalar", "cpu", 8), row("simd", "cpu", 4), row("fused", "cpu", 6)];
const problem = { nx: 640, ny: 640, iterations: 100, dtype: "float32", boundary: "periodic" };

const residency = (rows: object[], more: object = {}): ResultFile =>
  readResultFile({
    diffbench: {
      experiment: "residency",
      residency: { problem: { ...problem, ...more }, results: rows },
    },
  });
const comparison = (rows: object[]): ResultFile =>
  readResultFile({ diffbench: { problem, results: rows } });
const told = (...files: ResultFile[]) =>
  storyOf(files)!.measured.map(({ role, name, seconds }) => [role, name, seconds]);

describe("the story", () => {
  const gpus = [
    row("cuda_blocked", "cuda", 0.1),
    row("cuda_stream", "cuda", 0.3),
    trips("cuda_stream", 20),
    trips("cuda_stream", 30, { backend: "cuda_stream, round trip every 1, pageable" }),
    trips("cuda_stream", 5, { roundtrip_every: 10 }),
    trips("thrust", 90),
    row("thrust", "cuda", 60),
    row("cuda_stream, snapshot every 10", "cuda", 0.2, { snapshot_every: 10 }),
  ];

  it("takes the steps of a GPU's row that has no warm run, as where the budget was short", () => {
    const short = row("cuda", "cuda", 2, { phases: null, end_to_end: null });
    const file = comparison([...cpus, short]);
    expect(told(file)).toEqual([
      ["best on the CPU", "simd", 4],
      ["field stays on the card", "cuda", 2],
    ]);
    expect(sentenceOf(storyOf([file])!, null)).toContain(
      "on the GPU (cuda) 2.00 s where the field stays",
    );
  });

  it("is of the best on the CPU, and of one backend that copies, stays, and is begun cold", () => {
    expect(told(residency([...cpus, ...gpus]))).toEqual([
      ["best on the CPU", "simd", 4],
      ["naive port, copies every step", "cuda_stream, round trip every 1, pageable", 30],
      ["field stays on the card", "cuda_stream", 0.3],
      ["cold run, with everything", "cuda_stream", 3],
    ]);
    const { measured } = storyOf([residency([...cpus, ...gpus])])!;
    expect(measured[1]!.parts).toEqual({ h2d: 7.5, compute: 15, d2h: 3.75, unexplained: 3.75 });
  });

  it("takes verified rows with a time only", () => {
    const wrong = row("wrong", "cpu", 1, { verified: { bitwise: false } });
    const emulated = trips("cuda_naive", 1, { device: "emulated" });
    expect(told(comparison([wrong, emulated, ...cpus]))).toEqual([["best on the CPU", "simd", 4]]);
    expect(storyOf([comparison([wrong, emulated])])).toBeNull();
    expect(storyPicture([comparison([])])).toBeNull();
  });

  it("is that of the file which tells the most, a GPU first", () => {
    const files = [comparison(cpus), residency([...cpus, standIn]), comparison([...cpus, ...gpus])];
    expect(storyOf(files)!.file).toBe(files[2]);
    expect(storyOf(files.slice(0, 2))!.file).toBe(files[1]);
    expect(storyOf(files.slice(0, 1))!.file).toBe(files[0]);
  });

  it("says what its file lacks", () => {
    const { picture } = storyPicture([comparison([...cpus, gpus[0]!])])!;
    expect(notDrawnOf(picture, 0).map(([name]) => name)).toEqual([
      "a naive port, whose field travels every step",
    ]);
    const { seconds, parts } = storyOf([comparison([{ ...cpus[1]!, phases: null }])])!.measured[0]!;
    expect([seconds, parts]).toEqual([4, { "not divided": 4 }]);
  });

  it("has an order only where the runs are further apart than their steps spread", () => {
    const quartiles = (q1: number, q3: number) => ({
      seconds_per_iteration_quartiles: { min: q1, q1, q3, max: q3 },
    });
    const sentence = (more: object) =>
      sentenceOf(storyOf([residency([...cpus, trips("cuda_stream", 5, more)])])!, null);
    expect(sentence(quartiles(0.05, 0.051))).toContain("5.00 s with copies every step (1.25 times");
    expect(sentence(quartiles(0.04, 0.06))).toContain("with copies every step (about as long)");
  });
});

describe("the story without a GPU", () => {
  const story = storyOf([residency([...cpus, standIn])])!;

  it("has the row that stands in for one, and says so", () => {
    expect(told(story.file)).toEqual([
      ["best on the CPU", "simd", 4],
      ["no GPU: copies in the host every step", "simd, round trip every 1", 9],
    ]);
    expect(sentenceOf(story, null)).toContain("9.00 s with copies in the host every step");
    expect(sentenceOf(story, null)).toContain("No GPU was measured.");
  });

  it("marks what is assumed in every bar, line and sentence", () => {
    const { picture } = storyPicture([story.file])!;
    expect(picture.variants).toEqual(assumedCards.map(({ key }) => `assumed ${key}`));
    const assumed = picture.table.rows.filter((each) => each[2] !== "measured");
    expect(assumed).toHaveLength(3 * assumedCards.length);
    for (const [role, name, kind] of assumed) {
      expect(role).toMatch(/^assumed: /);
      expect(name).toMatch(/\(assumed \w+\)$/);
      expect(kind).toBe("assumed");
    }
    assumedCards.forEach((card, variant) => {
      expect(readingOf(picture, variant)).toContain(`assumed, the ${card.short} takes`);
      const { series } = picture.option(light, false, variant) as {
        series: { type: string; data: { itemStyle?: { borderType?: string } }[] }[];
      };
      for (const { data } of series.filter(({ type }) => type === "bar"))
        expect(data.map(({ itemStyle }) => itemStyle?.borderType === "dashed")).toEqual([
          false,
          false,
          true,
          true,
          true,
        ]);
    });
  });

  it("has assumed bars whose parts add up, between what is assumed best and worst", () => {
    for (const card of assumedCards) {
      const [naive, staying, cold] = assumedBars(story, card);
      for (const { seconds, parts, ends } of [naive!, staying!, cold!]) {
        const lengths = Object.values(parts);
        expect(Math.min(...lengths)).toBeGreaterThan(0);
        expect(lengths.reduce((sum, each) => sum + each) / seconds).toBeCloseTo(1, 9);
        expect(ends![0]).toBeLessThan(seconds);
        expect(ends![1]).toBeGreaterThan(seconds);
      }
      // 100 round trips, and the copies at both ends.
      expect(naive!.parts.h2d! / 101).toBeGreaterThan(0.9 * staying!.parts.h2d!);
      expect(cold!.parts.context).toBeGreaterThan(0.1);
    }
  });

  it("has no bars of a card that may not hold the run, and says so", () => {
    const { picture } = storyPicture([residency(cpus, { nx: 40_000, ny: 40_000 })])!;
    const laptop = assumedCards.findIndex(({ key }) => key === "laptop");
    expect(readingOf(picture, laptop)).toContain("the assumed laptop may not hold this run");
    expect(notDrawnOf(picture, laptop).map(([name]) => name)).toContain(assumedCards[laptop]!.name);
    expect(readingOf(picture, 0)).toContain("assumed, the H200 takes");
  });
});
