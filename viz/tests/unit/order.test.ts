// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { concluded, noConclusion } from "../../src/data/conclusion";
import { readResultFile } from "../../src/data/results";
import { picturesOf } from "../../src/pictures/catalogue";
import { isMissing, readingOf } from "../../src/pictures/picture";
import { row } from "../gpu_rows";

const interval = (low: number, high: number) => ({
  seconds_per_iteration_interval: { low, high, confidence: 0.95 },
});
const first = row("simd", "cpu", [1, 100, 100], interval(0.9, 1.1));

function scalingReading(recommended: number | null): string {
  const on = (threads: number, speedup: number) => ({
    ...row("simd", "cpu", [1 / speedup, 100, 100]),
    threads_asked: threads,
    speedup,
  });
  const file = readResultFile({
    diffbench: {
      experiment: "scaling",
      scaling: {
        mode: "strong",
        backend: "simd",
        problem: {},
        results: [on(1, 1), on(2, 1.02)],
        fit: null,
        recommended_threads: recommended,
      },
    },
  });
  const picture = picturesOf(file).find(({ id }) => id === "scaling")!;
  return isMissing(picture) ? "missing" : readingOf(picture, 0);
}

describe("a sentence about numbers of threads", () => {
  it("names the best where the program does", () => {
    expect(scalingReading(2)).toMatch(/^2 threads are the fastest, 1\.02 times one thread; use 2/);
  });

  it("names none where the program leaves it open", () => {
    expect(scalingReading(null)).toBe("The samples leave open how many threads do most.");
  });
});

function readings(rows: object[], disturbed = false): Record<string, string> {
  const file = readResultFile({ diffbench: { baseline: "scalar", results: rows, disturbed } });
  return Object.fromEntries(
    picturesOf(file).flatMap((picture) =>
      isMissing(picture) ? [] : [[picture.id, readingOf(picture, 0)]],
    ),
  );
}

describe("a sentence about the fastest row", () => {
  it("is firm where its interval is apart from all others", () => {
    const told = readings([first, row("scalar", "cpu", [2, 200, 200], interval(1.9, 2.1))]);
    expect(told["ladder"]).toMatch(/^simd is the fastest .* 2\.00 times as fast as scalar/);
    expect(told["ledger"]).toMatch(/^The fastest warm run, by simd/);
  });

  it("says first that the order is not settled where the intervals overlap", () => {
    const told = readings([first, row("scalar", "cpu", [1.1, 110, 110], interval(1.05, 1.2))]);
    const why = "not settled (the interval of simd overlaps with that of scalar)";
    expect(told["ladder"]).toMatch(/^The fastest row is not settled/);
    for (const id of ["ladder", "ledger"]) expect(told[id]).toContain(why);
    expect(told["ladder"]).not.toContain("times as fast");
  });

  it("says so where a row has too few samples, and where other programs ran", () => {
    const other = row("scalar", "cpu", [2, 200, 200], { seconds_per_iteration_interval: null });
    expect(readings([first, other])["ladder"]).toContain(
      "not settled (too few samples for an interval of scalar)",
    );
    expect(readings([other, { ...first, ...interval(NaN, NaN) }])["ladder"]).toContain(
      "too few samples",
    );
    const apart = row("scalar", "cpu", [2, 200, 200], interval(1.9, 2.1));
    const told = Object.values(readings([first, apart], true));
    expect(told.length).toBeGreaterThan(2);
    for (const reading of told) expect(reading).toBe(noConclusion);
  });

  it("looks at all rows, drawn or not, and does not tell cold runs within a tenth apart", () => {
    const rows = Array.from({ length: 9 }, (_each, index) =>
      row(`copying ${index}`, "cuda", [3, 300 + index, 300], interval(2.9, 3.1)),
    );
    const rival = row("rival", "cpu", [1.05, 105, 105], interval(0.95, 1.15));
    const file = readResultFile({
      diffbench: { baseline: "simd", results: [first, rival, ...rows] },
    });
    for (const { backend } of rows) file.added.add(backend);
    const readingsOf = (id: string) => {
      const picture = picturesOf(file).find((each) => each.id === id);
      if (picture === undefined || isMissing(picture)) throw new Error(`there is no ${id}`);
      return picture.variants!.map((_name, variant) => readingOf(picture, variant));
    };
    const cold = readingsOf("ledger").filter((reading) => reading.includes("cold"));
    for (const reading of cold)
      expect(reading).toContain("cold runs have no interval, and that of rival is within a tenth");
    expect(cold.length).toBe(2);
  });

  it("is replaced where its figures were disturbed", () => {
    expect(concluded({ disturbed: true }, "simd is the fastest")).toBe(noConclusion);
    expect(concluded({ disturbed: false }, "simd is the fastest")).toBe("simd is the fastest");
  });
});
