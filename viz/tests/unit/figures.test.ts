// SPDX-License-Identifier: Apache-2.0
// A result says how it is drawn: results of a verb that does not exist, in every kind of figure.
import { describe, expect, it } from "vitest";
import { readResultFile } from "../../src/data/results";
import { picturesOf } from "../../src/pictures/catalogue";
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
const optionOf = (picture: Picture | undefined) => picture!.option!(light, false, 0);

const teas = ["green", "black", "white"].map((tea, index) => ({
  tea,
  device: index === 1 ? "cuda" : "cpu",
  seconds: 2 - index / 2,
  interval: { low: 1.9 - index / 2, high: 2.1 - index / 2 },
  ratio: 1 + index / 10,
  grams: index + 1,
  sips: [3, 2, 1].map((sip) => sip + index),
  phases: { heat: 1, steep: 1 + index, wall: 2 + index },
  moments: [{ lane: "kettle", phase: "heat", begin: 0, end: 1 }],
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
    ["a stack of members", { kind: "stack", x: "tea", y: ["phases"] }, 9],
    ["a stack of keys", { kind: "stack", x: "tea", y: ["grams", "ratio"] }, 9],
    ["a timeline", { kind: "timeline", x: "tea", y: ["moments"] }, 1],
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
    expect(option.yAxis[0].data).toEqual(["white", "black", "green"]);
    expect(option.yAxis[1].data).toEqual(["1.00 s", "1.50 s", "2.00 s"]);
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
    expect((optionOf(drawn) as any).yAxis[0].data.at(-1)).toBe("tea 99");
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
    expect((optionOf(drawn) as any).yAxis[0].data).toEqual(["white", "black", "green"]);
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
    expect(picturesOf(assumed).map(({ title }) => title)).toEqual(["results", "assumed, rows"]);
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
        expect(() => [picture.table(), picture.option?.(light, true, 0)]).not.toThrow();
    for (const kind of ["bars", "lines", "stack", "timeline"])
      for (const value of [null, Infinity, -1, 0, "1", [], [null], {}])
        for (const picture of draw(
          { results: [{ tea: "a", seconds: value }] },
          { kind, x: "tea", y: ["seconds"], log: "xy" },
        ))
          expect(() => picture.option?.(light, true, 0), `${kind} ${value}`).not.toThrow();
    expect(
      picturesOf(fileOf({ ["__proto__"]: [{ tea: 1 }], results: [{ constructor: 1 }] })),
    ).toBeTruthy();
  });
});

it("the page begins with the first ledger of a run", () => {
  const results = [{ backend: "simd", phases: { compute: 1, sync: 1, wall: 2 } }];
  const pictures = [
    { title: "Ledger", kind: "stack", rows: "results", x: "backend", y: ["phases"] },
  ];
  const run = readResultFile({ diffbench: { results, pictures } });
  expect(storyOf([fileOf({ results: teas }), run])!.file).toBe(run);
  expect(storyOf([fileOf({ results: teas })])).toBeNull();
});
