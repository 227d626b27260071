// SPDX-License-Identifier: Apache-2.0
// What the program under test makes of tests/duels.jsonl, whose figures are made up: 17 duels of two commands,
// one beside other programs, that change by 6 % on the tenth day, and four duels of two backends.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readResultFile } from "../../src/data/results";
import { picturesOf } from "../../src/pictures/catalogue";
import { dark, light, seriesColour } from "../../src/pictures/palette";
import { isMissing, type Picture } from "../../src/pictures/picture";
import { looks } from "../../src/pictures/verdicts";
import { nearest } from "../colours";

const lines = fileURLToPath(new URL("../duels.jsonl", import.meta.url));
const program = process.env["DIFFBENCH_PROGRAM"]!;
const written = JSON.parse(
  execFileSync(program, ["history", lines, "--json", "-"], { encoding: "utf8" }),
);

interface Option {
  xAxis: { type: string }[];
  yAxis: { name: string; min: number; max: number }[];
  series: {
    type: string;
    data: {
      value: number[];
      symbol: string;
      itemStyle: { color: string };
      told: { lines: string[][] };
    }[];
    markLine?: { data: { xAxis: number }[] };
  }[];
}

function pictureOf(change: (rows: any[]) => void = () => {}): Picture {
  const result = structuredClone(written);
  change(result.diffbench.history.results);
  const [picture] = picturesOf(readResultFile(result));
  if (picture === undefined || isMissing(picture)) throw new Error("no picture");
  return picture;
}
const optionOf = (picture: Picture) => picture.option(light, false, 0) as unknown as Option;
const linesOf = ({ series }: Option) => series.filter(({ type }) => type === "line");
const day = (number: number) => Date.UTC(2026, 10, number, 6);

describe("the history of duels", () => {
  const picture = pictureOf();
  const option = optionOf(picture);
  const [commands, backends] = linesOf(option);
  const [row] = written.diffbench.history.results;

  it("has a strip for each row, at the dates, with the ratios of the file", () => {
    expect(picture.reading).toBe(written.diffbench.sentence);
    expect(option.xAxis.map(({ type }) => type)).toEqual(["time", "time"]);
    expect(option.yAxis.map(({ name }) => name)).toEqual([
      "./new against ./old, now 1.06",
      "fused against simd, 1000 steps of 640x640 float32 cells, now 0.903",
    ]);
    const days = Array.from({ length: 17 }, (_each, index) => index + 1);
    expect(commands!.data.map(({ value }) => value)).toEqual(
      days.filter((each) => each !== 4).map((each, index) => [day(each), row.ratios[index]]),
    );
    expect(backends!.data).toHaveLength(4);
    expect(option.series.map(({ data }) => data.length)).toEqual([16, 16, 3, 4]);
    expect(picture.notDrawn).toEqual([["./new against ./old", "1 run beside other programs"]]);
  });

  it("marks the changes that the program found, and no others", () => {
    expect(row.changes).toHaveLength(1);
    expect(commands!.markLine!.data).toEqual([{ xAxis: day(10) }]);
    expect(backends!.markLine!.data).toEqual([]);
  });

  it("shows the verdict of each run, and tells its figures", () => {
    for (const [index, point] of commands!.data.entries()) {
      const { symbol, colour } = looks[row.verdicts[index] as keyof typeof looks];
      expect([point.symbol, point.itemStyle.color]).toEqual([symbol, seriesColour(light, colour)]);
    }
    expect(commands!.data[8]!.told.lines).toEqual([
      ["run", "9"],
      ["date", "2026-11-10T06:00:00+0000"],
      ["B / A", row.ratios[8].toFixed(2)],
      ["interval from", row.intervals[8][0].toFixed(2)],
      ["to", row.intervals[8][1].toFixed(2)],
      ["verdict", "SLOWER"],
      ["since, over before", "106 %"],
    ]);
    expect(backends!.data[1]!.told.lines.map(([name]) => name)).toEqual([
      "run",
      "date",
      "B / A",
      "verdict",
    ]);
  });

  it("has colours that all kinds of eyes tell apart", () => {
    for (const palette of [light, dark]) {
      const drawn = JSON.stringify(picture.option(palette, false, 0).series);
      const colours = [...new Set(drawn.match(/#[0-9a-f]{6}(?=")/g))];
      expect(nearest(colours).apart).toBeGreaterThanOrEqual(15);
    }
  });

  it("stands in the order of the runs where a date is missing", () => {
    const option = optionOf(pictureOf((rows) => (rows[1].dates[2] = "")));
    expect(option.xAxis[0]!.type).toBe("value");
    expect(linesOf(option)[1]!.data.map(({ value }) => value[0])).toEqual([1, 2, 3, 4]);
    const single = pictureOf((rows) => Object.assign(rows[1], { ratios: [0.9], dates: [""] }));
    expect(optionOf(single).xAxis[0]!.type).toBe("value");
  });

  it("gives each strip an axis of 5 % to both sides at least", () => {
    expect(option.yAxis[0]).toMatchObject({ min: 0.95, max: 1.15 });
    const small = optionOf(
      pictureOf((rows) => {
        rows[1].ratios = [0.05, 0.05];
        rows[1].level = 0.05;
      }),
    );
    const { min, max } = small.yAxis[1]!;
    expect([min <= 0.0475, max >= 0.0525, max - min < 0.01]).toEqual([true, true, true]);
  });

  it("draws rows with a change first, and names the others", () => {
    const many = pictureOf((rows) => {
      const steady = rows[1];
      rows.unshift(...Array.from({ length: 9 }, (_each, index) => ({ ...steady, b: `b${index}` })));
    });
    const { yAxis } = optionOf(many);
    expect(yAxis).toHaveLength(8);
    expect(yAxis.at(-1)!.name).toContain("./new");
    expect(
      (many.notDrawn as string[][]).filter(([, why]) => why === "in the table only").length,
    ).toBe(3);
  });

  it("says so where every run was beside other programs", () => {
    const result = structuredClone(written);
    for (const each of result.diffbench.history.results)
      Object.assign(each, { ratios: [], dates: [], verdicts: [], intervals: [], changes: [] });
    expect(picturesOf(readResultFile(result))).toMatchObject([
      { missing: "every run was beside other programs" },
    ]);
  });
});
