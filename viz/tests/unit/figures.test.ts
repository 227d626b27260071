// SPDX-License-Identifier: Apache-2.0
// A result says how it is drawn: results of a verb that does not exist, in every kind of figure.
import { describe, expect, it } from "vitest";
import { readResultFile } from "../../src/data/results";
import { picturesOf } from "../../src/pictures/catalogue";
import { leadOf } from "../../src/data/lead";
import { light } from "../../src/pictures/palette";
import type { Picture } from "../../src/pictures/picture";
import { storyOf } from "../../src/pictures/story";
import { checkPicture, pointsOf } from "../points";

const fileOf = (brewed: unknown, more: object = {}) =>
  readResultFile({
    file: "brew.json",
    context: { cpu_model: "a CPU" },
    diffbench: { experiment: "brew", brew: brewed, sentence: "Tea is ready.", ...more },
  });
const columns = [
  { key: "seconds", name: "time/cup", unit: "s" },
  { key: "ratio", name: "against water", unit: "x" },
  { key: "values.0", name: "pot", unit: "" },
];
const draw = (brewed: unknown, picture: object): Picture[] =>
  picturesOf(
    fileOf(brewed, { columns, pictures: [{ title: "Tea", rows: "results", ...picture }] }),
  );
const optionOf = (picture: Picture | undefined) => picture!.option!(light, 1200, 0);

/** What the rows of a chart say of themselves. */
const rowsOf = (picture: Picture | undefined): string[] => {
  const { data, axisLabel } = optionOf(picture).yAxis as any;
  return data.map((name: string, index: number) =>
    axisLabel
      .formatter(name, index)
      .replace(/\{\w+\|([^}]*)\}/g, "$1")
      .replace(/ +/g, " "),
  );
};

const teas = ["green", "black", "white"].map((tea, index) => ({
  tea,
  device: index === 1 ? "cuda" : "cpu",
  seconds: 2 - index / 2,
  interval: { low: 1.9 - index / 2, high: 2.1 - index / 2 },
  ratio: 1 + index / 10,
  grams: index + 1,
  sips: [3, 2, 1].map((sip) => sip + index),
  phases: { heat: 1, steep: 1 + index, wall: 2 + index },
  moments: [
    { lane: "kettle", phase: "heat", begin: 0, end: 1 },
    ...(index > 0 ? [{ lane: "pot", phase: "steep", begin: 1, end: 2 }] : []),
  ],
}));

describe("a result is drawn by its kind", () => {
  const bars = { kind: "bars", x: "tea", y: ["seconds"], interval: "interval" };
  const cases: [string, object, number][] = [
    ["bars", bars, 3],
    ["bars by device", { ...bars, by: ["device"] }, 3],
    ["dots on a logarithmic axis", { ...bars, log: "y" }, 3],
    ["dots of factors", { ...bars, y: ["ratio"] }, 3],
    ["several ys", { ...bars, y: ["seconds", "grams"] }, 6],
    ["lines", { kind: "lines", x: "grams", y: ["seconds"], by: [], interval: "interval" }, 3],
    ["lines, logarithmic", { kind: "lines", x: "grams", y: ["seconds"], log: "xy" }, 3],
    ["lines over words", { kind: "lines", x: "tea", y: ["grams"] }, 3],
    ["lines of lists", { kind: "lines", x: "sip", y: ["sips"], by: ["tea"] }, 9],
    ["a stack of members", { kind: "stack", x: "tea", y: ["phases"] }, 6],
    ["a stack of keys", { kind: "stack", x: "tea", y: ["grams", "ratio"] }, 6],
    ["a timeline", { kind: "timeline", x: "tea", y: ["moments"] }, 2],
  ];
  it.each(cases)("%s", (name, picture, points) => {
    const [drawn, another] = draw({ results: teas }, picture);
    expect(another).toBeUndefined();
    checkPicture(drawn!, name);
    expect(pointsOf(optionOf(drawn)).length).toBe(points);
    expect(drawn!.title).toBe("Tea");
    const cells = JSON.stringify(drawn!.table());
    for (const { tea } of teas) expect(cells).toContain(tea);
  });

  it("as a map of cells, where it fits", () => {
    const cells = (map: string | null) =>
      draw(
        { results: [{ tea: "green" }, { tea: "black", seconds: 2, spilt: { map } }] },
        {
          kind: "map",
          x: "tea",
          y: ["spilt.map"],
        },
      )[0];
    const drawn = cells("##.\n...\n");
    checkPicture(drawn!, "a map");
    expect(drawn!.alternative).toBe("A grid of 3x2 cells, 2 of them marked.");
    const points = pointsOf(optionOf(drawn));
    expect(points.map(({ value }) => value)).toEqual(
      [0, 1].flatMap((y) => [0, 1, 2].map((x) => [x, y])),
    );
    const colours = points.map(({ itemStyle }) => itemStyle?.color);
    expect(colours.map((each) => each === colours[0])).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(cells("#".repeat(65))!.option).toBeNull();
    expect(cells(null)!.option).toBeNull();
  });

  it("as a table, and so is a kind that this page does not know", () => {
    for (const kind of ["table", "hologram"]) {
      const [drawn] = draw({ results: teas }, { kind, x: "tea", y: [] });
      expect(drawn!.option).toBeNull();
      expect(checkPicture(drawn!, kind)).toBe(0);
      const { columns: heads, rows } = drawn!.table();
      expect(heads.slice(0, 2).map(({ name }) => name)).toEqual(["tea", "device"]);
      const time = heads.find(({ name }) => name === "time/cup")!;
      expect([time.unit, time.show?.(2)]).toEqual(["s", "2.00 s"]);
      expect(rows.length).toBe(3);
    }
  });
});

describe("what is drawn", () => {
  it("is in order, with names and units of the file", () => {
    const [drawn] = draw({ results: teas }, { kind: "bars", x: "tea", y: ["seconds"] });
    const option = optionOf(drawn) as any;
    expect(rowsOf(drawn)).toEqual(["1.00 s white", "1.50 s black", "2.00 s green"]);
    expect(option.xAxis.name).toBe("time/cup");
  });

  it("is joined of one list within another, with what is around it", () => {
    const pots = {
      pots: [1, 2].map((size) => ({ values: [String(size)], at: { shelf: "top" }, teas })),
    };
    const picture = {
      kind: "lines",
      rows: "pots.teas",
      x: "values.0",
      y: ["seconds"],
      by: ["tea"],
    };
    const [drawn] = draw(pots, picture);
    checkPicture(drawn!, "pots");
    const { series, xAxis } = optionOf(drawn) as any;
    expect(series.map(({ name }: any) => name)).toEqual(["green", "black", "white"]);
    expect(series[0].data.map(({ value }: any) => value)).toEqual([
      [1, 2],
      [2, 2],
    ]);
    expect(xAxis.name).toBe("pot");
    const [shelves] = draw(pots, { ...picture, by: ["at.shelf", "tea"] });
    expect(optionOf(shelves).series[0]!.name).toBe("top, green");
  });

  it("has the marks of the file, where they are in sight", () => {
    const marks = [
      { at: 2, low: 1.5, high: 2.5, text: "enough" },
      { at: 99, low: 0, high: 0, text: "far" },
    ];
    const [drawn] = draw({ results: teas }, { kind: "lines", x: "grams", y: ["seconds"], marks });
    const { markLine, markArea } = optionOf(drawn).series[0] as any;
    expect(markLine.data.map(({ xAxis }: any) => xAxis)).toEqual([2]);
    expect(markArea.data).toEqual([[{ xAxis: 1.5 }, { xAxis: 2.5 }]]);
  });

  it("of a span without a value has both ends, hollow", () => {
    const results = [{ tea: "oolong", seconds: { low: 1, high: 3 } }];
    const [drawn] = draw({ results }, { kind: "bars", x: "tea", y: ["seconds"] });
    checkPicture(drawn!, "span");
    const points = pointsOf(optionOf(drawn));
    expect(points.map(({ value }) => value)).toEqual([
      [1, 0],
      [3, 0],
    ]);
    expect(points[0]!.itemStyle!.color).toBe(light.surface);
  });

  it("leaves out what has no figure, and says why; an emulated device has none, whatever the file says", () => {
    const results = [
      ...teas,
      { tea: "mate", status: "skipped", reason: "sold out", seconds: null },
      { tea: "chai", device: "emulated", seconds: 1 },
      { tea: "none", seconds: "1" },
    ];
    for (const kind of ["bars", "lines"]) {
      const [drawn] = draw({ results }, { kind, x: "tea", y: ["seconds"] });
      expect(drawn!.notDrawn).toEqual([
        ["mate", "skipped: sold out"],
        ["chai", "emulated device: verified, never timed"],
        ["none", "the file has no figure for it"],
      ]);
      checkPicture(drawn!, kind);
    }
  });

  it("is what there is room for: what the file names, and the shortest", () => {
    const results = Array.from({ length: 100 }, (_each, index) => ({
      tea: `tea ${index}`,
      seconds: index + 1,
    }));
    const [drawn] = draw({ results }, { kind: "bars", x: "tea", y: ["seconds"], only: ["tea 99"] });
    expect(pointsOf(optionOf(drawn)).length).toBe(16);
    expect(rowsOf(drawn).at(-1)).toBe("100 s tea 99");
    expect(drawn!.notDrawn.length).toBe(84);
    expect(drawn!.table().rows.length).toBe(100);
  });

  it("has the point of a GPU as a diamond, and no other", () => {
    for (const picture of [
      { kind: "bars", x: "tea", y: ["seconds"], by: ["tea"], log: "y" },
      { kind: "lines", x: "grams", y: ["seconds"], by: ["tea"] },
    ]) {
      const [drawn] = draw({ results: teas }, picture);
      const symbols = optionOf(drawn).series.map(({ name, symbol }: any) => [name, symbol]);
      for (const [name, symbol] of symbols)
        expect(symbol === "diamond", name).toBe(name === "black");
    }
  });
});

describe("a file that does not say how it is drawn", () => {
  it("is drawn by what its lists hold", () => {
    const results = teas.map(({ tea, seconds }) => ({
      backend: tea,
      seconds_per_iteration: seconds,
    }));
    const old = readResultFile({ diffbench: { schema: 1, results, problem: { nx: 4 } } });
    const [drawn, another] = picturesOf(old);
    expect(another).toBeUndefined();
    checkPicture(drawn!, "old");
    expect(rowsOf(drawn)).toEqual(["1.00 s white", "1.50 s black", "2.00 s green"]);
    const nested = fileOf({
      points: [
        { size: 1, rows: results },
        { size: 2, rows: results },
      ],
    });
    const [table] = picturesOf(nested);
    expect([table!.option, table!.rows]).toEqual([null, 6]);
    const assumed = fileOf(
      { results },
      { assumed: { rows: [{ backend: "x", seconds: { low: 1, high: 2 } }] } },
    );
    expect(picturesOf(assumed).map(({ title }) => title)).toEqual(["assumed, rows", "results"]);
  });

  it("takes nothing for granted", () => {
    const pictures = [
      null,
      3,
      {},
      { kind: "bars" },
      { kind: "lines", rows: "a.b", x: 1, y: 2, marks: [4] },
    ];
    for (const part of [
      null,
      3,
      "x",
      [],
      {},
      { diffbench: { results: [null, 1, { backend: {} }], pictures } },
    ])
      for (const picture of picturesOf(readResultFile(part)))
        expect(() => [picture.table(), picture.option?.(light, 340, 0)]).not.toThrow();
    for (const kind of ["bars", "lines", "stack", "timeline"])
      for (const value of [null, Infinity, -1, 0, "1", [], [null], {}])
        for (const picture of draw(
          { results: [{ tea: "a", seconds: value }] },
          { kind, x: "tea", y: ["seconds"], log: "xy" },
        ))
          expect(() => picture.option?.(light, 340, 0), `${kind} ${value}`).not.toThrow();
    expect(
      picturesOf(fileOf({ ["__proto__"]: [{ tea: 1 }], results: [{ constructor: 1 }] })),
    ).toBeTruthy();
  });
});

describe("what a chart says in place", () => {
  it("is the group of each row and the y, and that it is assumed", () => {
    const bars = { kind: "bars", x: "tea", y: ["seconds"] };
    const [grouped] = draw({ results: teas }, { ...bars, by: ["device"] });
    expect(rowsOf(grouped)).toEqual([
      "1.00 s white, cpu",
      "1.50 s black, cuda",
      "2.00 s green, cpu",
    ]);
    const [several] = draw({ results: teas.slice(0, 1) }, { ...bars, y: ["seconds", "ratio"] });
    expect(rowsOf(several)).toEqual(["2.00 s green, time/cup", "1.00 s green, against water"]);
    const [span] = draw({ results: [{ tea: "oolong", seconds: { low: 1, high: 3 } }] }, bars);
    expect(rowsOf(span)).toEqual(["1.00 s to 3.00 s oolong, assumed"]);
    for (const each of [grouped, several, span])
      expect(optionOf(each).legend).toEqual({ show: false });
  });

  it("is each part, by its name on a host or a device; what can nowhere say it goes together", () => {
    const phases = { h2d: 0.4, compute: 0.57, sync: 0.02, free: 0.01, wall: 1 };
    const results = [
      { tea: "a", device: "cpu", phases },
      { tea: "b", device: "cuda", phases },
    ];
    const [drawn] = draw({ results }, { kind: "stack", x: "tea", y: ["phases"] });
    const { series } = drawn!.option!(light, 700, 0);
    const labels = series.map(({ data }) => (data as any[]).map(({ label }) => label.formatter));
    expect(labels).toEqual([
      ["copy in", "h2d"],
      ["compute", "compute"],
      ["", ""],
    ]);
    expect(series.at(-1)!.name).toBe("others");
    expect((series.at(-1)!.data[0] as any).value).toBeCloseTo(0.03);
    // A wide screen has room for one more.
    expect(drawn!.option!(light, 2600, 0).series.length).toBe(4);
  });

  it("has no bar on a logarithmic axis, and no timeline of a single lane", () => {
    for (const kind of ["bars", "stack"]) {
      const [drawn] = draw({ results: teas }, { kind, x: "tea", y: ["seconds"], log: "y" });
      const { series, xAxis } = optionOf(drawn);
      for (const { type } of series)
        expect([type, (xAxis as any).type]).not.toEqual(["bar", "log"]);
    }
    const [lone] = draw(
      { results: teas.slice(0, 1) },
      { kind: "timeline", x: "tea", y: ["moments"] },
    );
    expect(lone!.option).toBeNull();
  });
});

describe("the page begins with", () => {
  const results = [{ backend: "simd", seconds_per_iteration: 1 }];
  const run = (disturbed: boolean) => readResultFile({ diffbench: { results, disturbed } });
  const tea = fileOf({ results: teas });
  it("a comparison before others, and with what concludes something", () => {
    const [sound, unsure] = [run(false), run(true)];
    expect(storyOf([tea, unsure, sound])).toBe(sound);
    expect(storyOf([unsure, tea])).toBe(tea);
    expect(storyOf([unsure])).toBe(unsure);
    expect(storyOf([fileOf({})])).toBeNull();
  });

  it("the first sentence that has figures, at most three of them large", () => {
    const said = (sentence: string, assumed = "") =>
      leadOf(fileOf({ assumed: { sentence: assumed } }, { sentence })).map((pieces) =>
        pieces.map(({ text, isFigure }) => (isFigure ? `[${text}]` : text)).join(""),
      );
    expect(said("Tea is ready.")).toEqual(["Tea is ready."]);
    expect(
      said("No GPU is here. A cup takes 4.5 to 8 us; a pot 1.2e+03 times as long; done."),
    ).toEqual(["A cup takes [4.5 to 8 us]; a pot [1.2e+03 times] as long."]);
    expect(said("a takes 1 s, 2 ms, 3 us, 64x64, 5 steps, 6x, 7 %.")).toEqual([
      "a takes [1 s], [2 ms], [3 us], 64x64, 5 steps, 6x, 7 %.",
    ]);
    const assumed =
      "Assumed (t4): 3 MiB fit. Mint would take 1 s, 5 to 9 times as long, not 10 times.";
    expect(said(`Mint takes 2 s, 3 times 4 times as long.\n${assumed}`, assumed)).toEqual([
      "Mint takes 2 s, [3 times] 4 times as long.",
      "Assumed (t4): Mint would take 1 s, [5 to 9 times] as long, not [10 times].",
    ]);
  });
});
