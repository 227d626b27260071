// SPDX-License-Identifier: Apache-2.0
// Every point of every picture, in every view, tells what its row of the table says, and stands where that row
// is. Of real files of every command, and of rows by hand of what needs a GPU.
import { format } from "echarts/core";
import { describe, expect, it } from "vitest";
import { rankParts } from "../../src/data/cluster";
import { filesOfPage } from "../../src/data/results";
import { type Cell, shown } from "../../src/data/table";
import { beforeAfter } from "../../src/pictures/before_after";
import { picturesOf } from "../../src/pictures/catalogue";
import { history } from "../../src/pictures/history";
import type { ChartOption, Point, Series } from "../../src/pictures/option";
import { dark, light } from "../../src/pictures/palette";
import { isMissing, type Picture } from "../../src/pictures/picture";
import { storyPicture } from "../../src/pictures/story";
import { written } from "../../src/pictures/tooltip";
import { nearest } from "../colours";
import { results, row, transfer } from "../gpu_rows";
import { chains } from "../paired_runs";
import { directory } from "./browser";
import { kinds, readJson } from "./result_files";

const moments = {
  cold: [{ lane: "host", phase: "alloc", begin: 0, end: 0.5 }],
  warm: [
    { lane: "host", phase: "h2d", begin: 0, end: 0.5 },
    { lane: "compute", phase: "compute", begin: 0.75, end: 1.75 },
  ],
};
const byHand = [
  {
    baseline: "scalar",
    results: [...results, row("cuda_traced", "cuda", [3, 4, 5], { moments })],
    problem: { bytes_per_step: 8e9, flops_per_step: 5e9 },
    copy: { memcpy_bytes_per_second: 1e10 },
  },
  { experiment: "transfer", transfer },
];
const files = filesOfPage([
  ...kinds.map((kind) => ({ file: kind, ...readJson(directory, `${kind}.json`) })),
  ...byHand.map((diffbench) => ({ file: "by hand", diffbench })),
]);
const [measured, hand] = [files.slice(0, kinds.length), files.slice(kinds.length)];
const pictures = [
  ...files.flatMap((file) => picturesOf(file, files).map((picture) => ({ file, picture }))),
  ...[measured, hand].flatMap((some) => storyPicture(some) ?? []),
  ...chains.flatMap((chain) => {
    const { verdicts: file } = chain.at(-1)!;
    const strip = history(chain);
    return [...chain.map(beforeAfter), ...(strip === null ? [] : [strip])].map((picture) => ({
      file,
      picture,
    }));
  }),
].flatMap(({ file, picture }) => (isMissing(picture) ? [] : [{ file, picture }]));

const isGuide = (series: Series) => series.tooltip?.show === false;
const textOf = (html: string) => html.replace(/<[^>]*>/g, "\n").split("\n");
const nearly = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.abs(b);

/** The table's rows that say what the point says. */
const rowsOf = ({ told }: Point, { table }: Picture): Cell[][] =>
  table.rows.filter((cells) =>
    told.lines.every(([label, value]) =>
      table.columns.some(
        (column, index) => column.name === label && shown(cells[index] ?? null, column) === value,
      ),
    ),
  );

/** Of a row what the point tells; of a part of a stacked bar that part, and what shares are of. */
function toldFigures(cells: Cell[], { told }: Point, series: Series, { table }: Picture): number[] {
  const names = table.columns.map(({ name }) => name);
  const labels = told.lines.map(([label]) => label);
  const wanted =
    series.type === "bar" && names.includes(series.name)
      ? labels.filter((label) => [series.name, "wall", "trials"].includes(label))
      : labels;
  return cells
    .filter((cell, index) => wanted.includes(names[index]!) && cell !== "" && cell !== null)
    .map(Number) // the values of a sweep's axes are texts
    .filter(Number.isFinite);
}

/** Whether such figures can be drawn there: as they are, in GCell/s or GFlop/s, or as a share. */
function standAt(drawn: number, figures: number[], whole: number): boolean {
  return figures.some(
    (each) =>
      nearly(drawn, each) ||
      nearly(drawn, each / 1e9) ||
      [...figures, whole].some((of) => of > 0 && nearly(drawn, each / of)),
  );
}

/** The coordinates that are figures, not places in a list of names. */
function figuresOf({ value }: Point, { xAxis, yAxis }: ChartOption): number[] {
  if ([xAxis].flat()[0]?.type === "time") return [[value].flat()[1]!]; // the date is told as a text
  const inRows = [yAxis].flat()[0]?.type === "category";
  const coordinates = [value].flat();
  const drawn = !inRows || coordinates.length === 1 ? coordinates : [coordinates[0]!];
  // Of a stretch the row comes first.
  const stretch = inRows && coordinates.length === 3 ? coordinates.slice(1) : drawn;
  return stretch.filter((each): each is number => each !== null);
}

const counted = new Map<string, number>();

function checkPoint(point: Point, series: Series, option: ChartOption, picture: Picture): void {
  const what = `${picture.id}: ${series.name}: ${JSON.stringify(point)}`;
  const text = textOf(written({ data: point, color: "#000" }));
  for (const part of [point.told.head, ...point.told.lines.flat()])
    expect(text, what).toContain(format.encodeHTML(part));
  expect(point.told.lines.length, what).toBeGreaterThan(0);
  const { table } = picture;
  const rows = rowsOf(point, picture);
  expect(rows.length, `${what}: no such row in the table`).toBeGreaterThan(0);
  const stepOf = (cells: Cell[]) =>
    // of cluster-step: no column has the whole
    table.columns.reduce(
      (sum, { name }, index) =>
        rankParts.some((part) => part === name) ? sum + Number(cells[index]) : sum,
      0,
    );
  for (const drawn of figuresOf(point, option)) {
    // A part that the row lacks or that is below zero; the feet of a histogram.
    const nothing = drawn === 0 || (picture.id === "latency" && drawn === 0.5);
    const found = rows.some((cells) => {
      const figures = toldFigures(cells, point, series, picture);
      return (
        standAt(drawn, figures, stepOf(cells)) ||
        (nothing && (picture.id === "latency" || figures.every((each) => each !== 0)))
      );
    });
    expect(found, `${what}: ${drawn} is not told`).toBe(true);
  }
}

describe("tooltips", () => {
  it.each(pictures.map(({ file, picture }) => [picture.id, file.name, picture] as const))(
    "of %s (%s) are those of its table",
    (id, _file, picture) => {
      (picture.variants ?? [""]).forEach((_name, variant) => {
        const option = picture.option(light, false, variant);
        expect(option.tooltip.formatter).toBe(written);
        for (const series of option.series) {
          if (isGuide(series)) continue;
          for (const point of series.data as Point[]) {
            checkPoint(point, series, option, picture);
            counted.set(id, (counted.get(id) ?? 0) + 1);
          }
        }
      });
    },
  );

  it("stand at diamonds only where a GPU is", () => {
    for (const { file, picture } of pictures) {
      const gpu = file.rows.some((row) => row.device === "cuda");
      if (gpu || picture.id === "advice") continue; // of an assumed card
      for (const variant of (picture.variants ?? [""]).keys())
        expect(
          JSON.stringify(picture.option(light, false, variant).series),
          `${picture.id} of ${file.name}`,
        ).not.toContain('"diamond"');
    }
  });

  it("have colours in each chart that all kinds of eyes tell apart", () => {
    for (const palette of [light, dark])
      for (const { file, picture } of pictures)
        for (const variant of (picture.variants ?? [""]).keys()) {
          const drawn = JSON.stringify(picture.option(palette, false, variant).series);
          const colours = [...new Set(drawn.match(/#[0-9a-f]{6}(?=")/g))].filter(
            (colour) => colour !== palette.surface,
          );
          const { apart, pair } = nearest(colours);
          expect(apart, `${picture.id} of ${file.name}: ${pair}`).toBeGreaterThanOrEqual(15);
        }
  });

  it("are there in every picture", () => {
    const every = [
      ...files.flatMap((file) => picturesOf(file, files).map(({ id }) => id)),
      ...["story", "before-after", "history"],
    ].filter((id, index, all) => all.indexOf(id) === index);
    console.log(
      `tooltips checked: ${[...counted.values()].reduce((sum, each) => sum + each, 0)} (` +
        `${[...counted].map(([id, number]) => `${id} ${number}`).join(", ")})`,
    );
    expect([...counted.keys()].sort()).toEqual(every.sort());
    expect(every.length).toBe(27);
  });
});
