// SPDX-License-Identifier: Apache-2.0
// The crossings of a real sweep: what is drawn in every view is what the terminal prints.
import { expect, it } from "vitest";
import { readResultFile } from "../../src/data/results";
import { figure } from "../../src/data/units";
import { crossover } from "../../src/pictures/crossover";
import { light } from "../../src/pictures/palette";
import { isMissing, readingOf } from "../../src/pictures/picture";
import { directory } from "./browser";
import { diffbench, readJson, settle } from "./result_files";

/** The cells of a table of crossings by what they are at and by the heads: "64", "by step". */
function printed(text: string, title: string): Map<string, string> {
  const lines = text.split("\n");
  const from = lines.findIndex((line) => line.startsWith(title));
  const [head, , ...rows] = lines.slice(from + 1, lines.indexOf("", from));
  const [, ...columns] = head!.trim().split(/ {2,}/);
  return new Map(
    rows.flatMap((row) => {
      const [at, ...cells] = row.trim().split(/ {2,}/);
      return cells.map((cell, index): [string, string] => [`${at} ${columns[index]}`, cell]);
    }),
  );
}

const heads = {
  "a step, all in place": "by step",
  "a warm run": "by warm run",
  "a cold run": "by cold run",
};

/** In the words of the terminal, from the ends of what is drawn: those of the axis are open. */
function spanOf(ends: number[], min: number, max: number, line: string | undefined): string {
  const [low, high] = ends as [number, number];
  const [openBelow, openAbove] = [low === min, high === max];
  if (openBelow && openAbove) return " (not settled)";
  if (line === undefined) return ` (or from ${figure(openBelow ? high : low)})`;
  if (openBelow) return ` (at most ${figure(high)})`;
  return openAbove ? ` (at least ${figure(low)})` : ` (${figure(low)} to ${figure(high)})`;
}

it("are drawn as the terminal prints them", () => {
  const text = diffbench(
    directory,
    "sweep --grid 8:256:x4 --iters 4,64 --cross scalar,simd --backend scalar,simd --baseline scalar",
    "--threads 2 --budget 10 --out crossings.jsonl --json crossings.json",
  );
  settle(directory, "crossings.json");
  const picture = crossover(readResultFile(readJson(directory, "crossings.json")));
  if (picture === null || isMissing(picture)) throw new Error("there is no picture");
  const tables = {
    grid: printed(text, "side of the grid from which simd wins"),
    iterations: printed(text, "iterations from which simd wins"),
  };
  const compared = picture.variants!.map((view, variant) => {
    const [, kind, along, at] = /^(.*), by (grid|iterations), at (?:grid|iters) (\d+)$/.exec(view)!;
    expect(readingOf(picture, variant)).toMatch(new RegExp(` at (grid|iters) ${at}, `));
    const table = tables[along as keyof typeof tables];
    const place = `${at} ${heads[kind as keyof typeof heads]}`;
    const cell = table.get(place) ?? "-"; // a column of none is left out
    table.delete(place);
    const { series, xAxis } = picture.option(light, false, variant);
    const { markLine, markArea } = series[0] as unknown as {
      markLine?: { data: [{ xAxis: number }] };
      markArea?: { data: [[{ xAxis: number }, { xAxis: number }]] };
    };
    const { min, max } = [xAxis].flat()[0] as { min: number; max: number };
    const line = markLine && figure(markLine.data[0].xAxis);
    const area =
      markArea &&
      spanOf(
        markArea.data[0].map(({ xAxis: x }) => x),
        min,
        max,
        line,
      );
    const shown = `${line ?? cell.split(" ")[0]}${area ?? ""}`;
    // A step costs the same however many there are: nothing is computed along them.
    if (cell === undefined || cell === "-")
      expect([line, area], view).toEqual([undefined, undefined]);
    else expect(shown, `${view} at ${at}`).toBe(cell);
    if (line === undefined) expect(cell, view).toMatch(/^(nowhere|everywhere|-)/);
    if (cell.startsWith("nowhere")) expect(readingOf(picture, variant)).toContain("does not beat");
    if (cell.startsWith("everywhere")) expect(readingOf(picture, variant)).toContain("everywhere");
    return `${view} at ${at}: ${cell}`;
  });
  console.log(`crossings compared: ${compared.join("; ")}`);
  // Whatever the terminal has; on a busy machine some times are not there.
  const left = Object.values(tables).flatMap((table) => [...table]);
  expect(left.filter(([, cell]) => cell !== "-")).toEqual([]);
  expect(compared.length + left.length).toBe(3 * 2 + 3 * 3); // each time along both axes, at all values of the other
});
