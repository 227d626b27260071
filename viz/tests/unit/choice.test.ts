// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { filesOfPage, readResultFile, type ResultFile } from "../../src/data/results";
import { picturesOf } from "../../src/pictures/catalogue";
import { chosenRows } from "../../src/pictures/choice";
import { light } from "../../src/pictures/palette";
import { isMissing, notDrawnOf, type Picture, readingOf } from "../../src/pictures/picture";
import { cpus, results, row } from "../gpu_rows";

const comparison = (rows: object[], more: object = {}): ResultFile =>
  readResultFile({ diffbench: { baseline: "scalar", results: rows, ...more } });
function pictureOf(file: ResultFile, id: string): Picture {
  const picture = picturesOf(file).find((each) => each.id === id);
  if (picture === undefined || isMissing(picture)) throw new Error(`there is no ${id}`);
  return picture;
}
interface Option {
  xAxis: { name: string };
  yAxis: { data: string[] } | { data: string[] }[];
  series: {
    name: string;
    symbol: string;
    itemStyle: { color: string };
    lineStyle: { color: string; type: string };
    data: { name: string; value: number[]; symbol: string; itemStyle: { color: string } }[];
  }[];
}
const drawingOf = (picture: Picture, variant = 0) =>
  picture.option(light, false, variant) as unknown as Option;
const namesAt = ({ yAxis }: Option) => (Array.isArray(yAxis) ? yAxis[0]! : yAxis).data;

describe("the choice of rows", () => {
  const timed = (rows: object[]) =>
    comparison(rows).rows.map((each) => ({ row: each, seconds: each.seconds! }));
  const chosen = (rows: object[], most: number) =>
    chosenRows(timed(rows), ["scalar"], most).map((each) => each.row.name);

  it("has the best of CPU and GPU, the baseline and the naive port, then the fastest, by time", () => {
    expect(chosen(results, 6)).toEqual([
      "cuda_0",
      "cuda_1",
      "cuda_2",
      "simd",
      "scalar",
      "cuda_naive",
    ]);
    const copying = row("cuda_5", "cuda", [50, 50, 50], { roundtrip_every: 1 });
    expect(chosen([...results, copying], 4)).toEqual(["cuda_0", "cuda_5", "simd", "scalar"]);
  });

  it("has what the reader adds, in the place of the slowest", () => {
    const file = comparison(results);
    expect(namesAt(drawingOf(pictureOf(file, "ledger"), 1))).not.toContain("cuda_9");
    file.added.add("cuda_9");
    const ledger = pictureOf(file, "ledger");
    expect(namesAt(drawingOf(ledger, 1))).toEqual(expect.arrayContaining(["cuda_9", "cuda_naive"]));
    expect(notDrawnOf(ledger, 1).map(([name]) => name)).not.toContain("cuda_9");
    const names = ["scalar", ...results.map(({ backend }) => backend)];
    const last = chosenRows(timed(results), names, 6).map((each) => each.row.name);
    expect(last).toEqual(["cuda_0", "cuda_10", "cuda_11", "simd", "scalar", "cuda_naive"]);
  });

  it("has the stand-in of residency where there is no GPU", () => {
    const standIns = [1, 10, 100].map((every) =>
      row(`simd every ${every}`, "cpu", [100 / every, 1, 1], { roundtrip_every: every }),
    );
    expect(chosen([...cpus, ...standIns], 3)).toEqual(["simd", "scalar", "simd every 1"]);
  });

  it("has verified rows only", () => {
    const wrong = row("wrong", "cuda", [1e-3, 1, 1], { verified: { bitwise: false } });
    const unproved = row("unproved", "cpu", [1e-3, 1, 1], { verified: null });
    expect(chosen([...results, wrong, unproved], 40)).toHaveLength(results.length);
    const ladder = pictureOf(comparison([...results, unproved]), "ladder");
    expect(notDrawnOf(ladder, 0)).toContainEqual(["unproved", "timed, but never verified"]);
  });
});

describe("rows that are drawn", () => {
  it("of the timeline are one at a time, those with a device's engines first", () => {
    const timeline = pictureOf(comparison(results), "timeline");
    expect(timeline.answers!.questions).toEqual(["Row", "Run", "Placed by"]);
    expect(timeline.answers!.of).toHaveLength(2 * results.length);
    expect(timeline.answers!.of.slice(0, 2)).toEqual([
      ["cuda_0", "warm run", "order"],
      ["cuda_0", "cold run", "order"],
    ]);
    expect(namesAt(drawingOf(timeline))).toEqual(["host", "H2D engine", "compute", "D2H engine"]);
    expect(readingOf(timeline, 0)).toMatch(
      /^A warm run of cuda_0 takes 2\.00 s, of which 1\.00 s compute; .* busy for 1\.75 s\..*not at their/,
    );
    expect(readingOf(timeline, 1)).toMatch(/^A cold run of cuda_0 takes 400 s/);
    const cpu = timeline.answers!.of.findIndex(([row]) => row === "simd");
    expect(readingOf(timeline, cpu)).toContain("on the CPU, so it has one lane");
    expect(notDrawnOf(timeline, 0)).toEqual([]);
  });

  it("of the timeline stand where its table says, in order where the file has no moments", () => {
    const timeline = pictureOf(comparison(results), "timeline");
    const { columns, rows } = timeline.table;
    const column = (name: string) => columns.findIndex((each) => each.name === name);
    timeline.answers!.of.forEach(([row, run], variant) => {
      const drawing = drawingOf(timeline, variant);
      const stretches = drawing.series.flatMap(({ name, data }) =>
        data.map((each) => [each.name, name, each.value[1], each.value[2]]),
      );
      const told = rows
        .filter((cells) => cells[column("row")] === row && `${cells[column("run")]} run` === run)
        .map((cells) => ["lane", "phase", "from", "to"].map((name) => cells[column(name)]));
      expect(told.length).toBeGreaterThan(0);
      expect(new Set(stretches.map(String))).toEqual(new Set(told.map(String)));
      expect(drawing.xAxis.name).toContain("in order, not moments");
    });
  });

  it("of the timeline stand at their moments where the file has them", () => {
    const moments = {
      cold: [],
      warm: [
        { lane: "host", phase: "launch", begin: 0.25, end: 0.5 },
        { lane: "compute", phase: "compute", begin: 0.5, end: 2 },
        { lane: "host", phase: "sync", begin: 0.5, end: 2 },
        { lane: "host", phase: "no such phase", begin: 0, end: 9 },
      ],
    };
    const traced = row("cuda_0", "cuda", [1, 2, 400], { moments });
    const timeline = pictureOf(comparison([...cpus, traced]), "timeline");
    expect(timeline.answers!.of.slice(0, 3)).toEqual([
      ["cuda_0", "warm run", "moments"],
      ["cuda_0", "warm run", "order"],
      ["cuda_0", "cold run", "order"],
    ]);
    const drawing = drawingOf(timeline);
    expect(namesAt(drawing)).toEqual(["host", "compute"]);
    expect(drawing.xAxis.name).toBe("time since the run began");
    expect(drawing.series.map(({ name, data }) => [name, data[0]!.value.slice(1, 3)])).toEqual([
      ["launch", [0.25, 0.5]],
      ["sync", [0.5, 2]],
      ["compute", [0.5, 2]],
    ]);
    expect(readingOf(timeline, 0)).toContain("need not be the median one");
  });

  it("of the ledger are those of its kind of run, in shares first where they are far apart", () => {
    const ledger = pictureOf(comparison(results), "ledger");
    expect(ledger.variants).toEqual([
      "warm, share",
      "warm, seconds",
      "cold, seconds",
      "cold, share",
    ]);
    expect(namesAt(drawingOf(ledger, 0))[0]).toBe("cuda_0");
    expect(namesAt(drawingOf(ledger, 2))[0]).toBe("simd");
    expect(readingOf(ledger, 0)).toMatch(/^The fastest warm run, by cuda_0.* 50\.0 % compute/);
    expect(readingOf(ledger, 2)).toMatch(/^The fastest cold run, by simd.* 27\.5 s compute/);
    const coldOnly = results.map((each) => ({ ...each, phases: null }));
    expect(pictureOf(comparison(coldOnly), "ledger").variants).toEqual([
      "cold, seconds",
      "cold, share",
    ]);
  });

  it("of the crossover are chosen at the end of the axis of the view", () => {
    const points = [64, 128].map((side) => ({
      values: [String(side)],
      result: { baseline: "scalar", problem: { nx: side, ny: side, iterations: 8 }, results },
    }));
    const sweep = { axes: { grid: ["64", "128"] }, points };
    const crossover = pictureOf(
      readResultFile({ diffbench: { experiment: "sweep", sweep } }),
      "crossover",
    );
    const step = drawingOf(crossover).series.map(({ name }) => name);
    expect(step).toHaveLength(10);
    expect(step).toEqual(
      expect.arrayContaining(["cuda_0 (GPU)", "cuda_naive (GPU)", "simd (? threads)"]),
    );
    expect(notDrawnOf(crossover, 0).map(([name]) => name)).toContain("xtensor");
    const shapes = new Set(
      drawingOf(crossover).series.map(({ name, symbol }) => `${name.slice(-5)} ${symbol}`),
    );
    expect(shapes).toEqual(new Set(["(GPU) diamond", "eads) circle"]));
  });
});

describe("pictures of other things than backends", () => {
  it("draw those that say most, and name the others", () => {
    const rows = Array.from({ length: 50 }, (_each, index) => ({
      row: `row ${index}`,
      verdict: index === 49 ? "SLOWER" : "UNCLEAR",
      ratio: 2 - index / 50,
      old_seconds: 1,
      new_seconds: 2 - index / 50,
    }));
    const compared = pictureOf(
      readResultFile({ diffbench: { experiment: "compare", compare: { rows } } }),
      "compared",
    );
    const names = namesAt(drawingOf(compared));
    expect(names).toHaveLength(16);
    expect([names[0], names.at(-1)]).toEqual(["row 0", "row 49"]); // in the order of the file
    const left = notDrawnOf(compared, 0);
    expect(left.map(([name]) => name)).toEqual(rows.slice(15, 49).map(({ row }) => row));
    expect(left[0]![1]).toContain("in the table only");
    expect(compared.table.rows).toHaveLength(50);
  });
});

describe("the shape of a point", () => {
  it("is that of its device, in predictions, too", () => {
    const way = (backend: string, device: string) => ({
      backend,
      device,
      warm_seconds: 1,
      cold_seconds: 2,
    });
    const advise = { ways: [way("simd", "cpu"), way("cuda", "cuda")] };
    const picture = pictureOf(
      readResultFile({ diffbench: { experiment: "advise", advise } }),
      "advice",
    );
    for (const { data } of drawingOf(picture).series)
      expect(data.map(({ symbol }) => symbol)).toEqual(["circle", "diamond"]);
  });
});

describe("the names in the roofline", () => {
  it("are those of the chosen rows", () => {
    const roofline = pictureOf(
      comparison(results, {
        problem: { bytes_per_step: 8e9, flops_per_step: 5e9 },
        copy: { memcpy_bytes_per_second: 1e10 },
      }),
      "roofline",
    );
    const points = drawingOf(roofline).series.flatMap(({ symbol, data }) =>
      data.map((point) => ({ ...point, symbol })),
    ) as unknown as { name?: string; symbol: string; label?: { show: boolean } }[];
    const named = points.filter(({ label }) => label?.show);
    expect(named).toHaveLength(10);
    expect(named.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["simd", "scalar", "cuda_0", "cuda_naive"]),
    );
    expect(new Set(named.map(({ symbol }) => symbol))).toEqual(new Set(["circle", "diamond"]));
  });
});

describe("the colour of a backend", () => {
  it("is that of all its ways to copy, which dashes tell apart", () => {
    const moved = (way: object, device = "cpu") => ({
      ...row(`simd, ${Object.keys(way)[0]} every 10`, device, [80, 1, 1], way),
      resident: "simd",
    });
    const residency = {
      results: [...cpus, moved({ roundtrip_every: 10 }), moved({ snapshot_every: 10 }, "cuda")],
    };
    const picture = pictureOf(
      readResultFile({ diffbench: { experiment: "residency", residency } }),
      "amortisation",
    );
    const lines = drawingOf(picture).series;
    expect(lines.map(({ lineStyle }) => lineStyle)).toEqual([
      { color: light.series[3], type: "solid", width: 2 },
      { color: light.series[3], type: "dashed", width: 2 },
    ]);
    expect(lines.map(({ symbol }) => symbol)).toEqual(["circle", "diamond"]);
  });

  it("says what a row is where its name stands beside it: CPU, GPU or naive port", () => {
    const point = (side: number) => ({
      values: [String(side)],
      result: {
        baseline: "scalar",
        problem: { nx: side, ny: side, iterations: 8 },
        results: [...results].reverse(),
      },
    });
    const sweep = { axes: { grid: ["64", "128"] }, points: [64, 128].map(point) };
    const [first, second] = filesOfPage([
      { diffbench: { results, baseline: "scalar" } },
      { diffbench: { experiment: "sweep", sweep } },
    ]);
    const dots = drawingOf(pictureOf(first!, "ladder")).series.filter(({ name }) =>
      ["CPU", "GPU", "naive port"].includes(name),
    );
    expect(dots.map(({ name, data }) => [name, data.length])).toEqual([
      ["CPU", 3],
      ["GPU", 12],
      ["naive port", 1],
    ]);
    const lines = drawingOf(pictureOf(second!, "crossover")).series;
    const lineOf = (name: string) => lines.find((line) => line.name.startsWith(`${name} `))!;
    const named = ["simd", "cuda_0", "cuda_naive"];
    expect(named.map((name) => lineOf(name).itemStyle.color)).toEqual(
      dots.map(({ itemStyle }) => itemStyle.color),
    );
  });
});
