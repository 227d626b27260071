// SPDX-License-Identifier: Apache-2.0
// The card that a page begins with: the bars of data/story.ts, measured ones full, assumed ones hollow and
// dashed with a whisker over what is assumed.
import { assumedCards, type Card, markOf } from "../data/assumed";
import { positive, text } from "../data/json";
import type { ResultFile } from "../data/results";
import {
  assumedBars,
  type Bar,
  lengthOf,
  type Part,
  sentenceOf,
  type Story,
  storyOf,
  storyParts,
} from "../data/story";
import { type Column, inSeconds, tableOf } from "../data/table";
import { percent, seconds } from "../data/units";
import { whenOf } from "../data/when";
import {
  baseOption,
  categoryAxis,
  logLimits,
  stackedBars,
  tooltip,
  valueAxis,
  whiskers,
} from "./chart";
import type { ChartOption } from "./option";
import { hollow, type Palette, phaseColour } from "./palette";
import type { Picture } from "./picture";
import { verificationOfRows } from "./proof";
import { teller } from "./tooltip";

const colourOf = (palette: Palette, part: Part) =>
  part === "not divided" ? palette.muted : phaseColour(palette, part);

/** A way to look at it: the bars of one card beside those measured, or of none. */
interface View {
  name: string;
  card: Card | null;
}

const viewsOf = ({ gpu }: Story): View[] =>
  gpu
    ? [{ name: "measured", card: null }]
    : assumedCards.map((card) => ({ name: markOf(card), card }));

const barsOf = (story: Story, { card }: View): Bar[] => [
  ...story.measured,
  ...(card === null ? [] : assumedBars(story, card)),
];

const columns: Column<Bar>[] = [
  { name: "run", of: ({ role }) => role },
  { name: "row", of: ({ name }) => name },
  { name: "measured or assumed", of: ({ row }) => (row === null ? "assumed" : "measured") },
  inSeconds("wall", ({ ...bar }) => bar.seconds),
  ...storyParts.map((part) => inSeconds(part, ({ parts }: Bar) => parts[part] ?? null)),
  inSeconds("assumed best", ({ ends }) => ends?.[0] ?? null),
  inSeconds("assumed worst", ({ ends }) => ends?.[1] ?? null),
  { name: "proof", of: ({ row }) => row?.verification ?? "none: nobody ran it" },
];
const tell = teller(columns);

const [rowHeight, head, foot] = [54, 32, 46];

/**
 * Two panels of the same rows: how long each run is, on a logarithmic axis, since a good port is hundreds of times
 * as fast as a bad one; and what it consists of, each run as a whole. The name of a row stands above its bars.
 */
function option(bars: Bar[], { card }: View, palette: Palette, narrow: boolean): ChartOption {
  const names = bars.map(({ role }) => role);
  const limits = logLimits(bars.flatMap(({ seconds: wall, ends }) => [wall, ...(ends ?? [])]));
  const axis = categoryAxis(palette, names, { inverse: true });
  const left = 8;
  const grids = [
    { left, width: narrow ? "40%" : "38%", top: head, bottom: foot },
    { left: narrow ? "48%" : "44%", right: 24, top: head, bottom: foot },
  ];
  const onRow = { barMaxWidth: 18, barMinHeight: 2 };
  // Below the line with its name.
  const lowered = { ...axis, axisLine: { show: false } };
  const parts = storyParts
    .filter((part) => bars.some((bar) => (bar.parts[part] ?? 0) > 0))
    .map((part) => ({
      name: part,
      colour: colourOf(palette, part),
      points: bars.map((bar) => ({
        value: (bar.parts[part] ?? 0) > 0 ? bar.parts[part]! / bar.seconds : null,
        told: tell(`${bar.role}: ${bar.name}`, bar),
        ...(bar.ends === null ? {} : { itemStyle: hollow(colourOf(palette, part), palette) }),
      })),
    }));
  const ofCard =
    card === null
      ? []
      : [
          {
            ...whiskers(
              `${markOf(card)}, best to worst`,
              bars.flatMap(({ ends }, at) =>
                ends === null ? [] : [{ at, low: ends[0], high: ends[1], colour: palette.text }],
              ),
              true,
            ),
            z: 5,
            itemStyle: { color: palette.text },
          },
        ];
  const panel = (index: number) => ({ xAxisIndex: index, yAxisIndex: index });
  return {
    ...baseOption(palette),
    tooltip: { ...tooltip(palette, "axis"), axisPointer: { type: "shadow" } },
    legend: { ...baseOption(palette).legend, data: parts.map(({ name }) => name) },
    grid: grids,
    xAxis: [
      {
        ...valueAxis(palette, {
          name: narrow ? "wall time (log)" : "wall time, logarithmic",
          show: seconds,
          log: true,
          ...limits,
        }),
        startValue: limits.min, // of the bars
        gridIndex: 0,
      },
      {
        ...valueAxis(palette, {
          name: narrow ? "share" : "share of the wall time",
          show: percent,
          min: 0,
          max: 1,
        }),
        gridIndex: 1,
      },
    ],
    yAxis: [
      {
        ...lowered,
        gridIndex: 0,
        axisLabel: {
          ...axis.axisLabel,
          inside: true,
          align: "left",
          verticalAlign: "bottom",
          padding: [0, 0, 12, 0],
          formatter: (_name: string, index: number) =>
            `{length|${lengthOf(bars[index]!)}}  ${bars[index]!.role}`,
          rich: { length: { fontWeight: "bold", fontSize: 14, color: palette.text } },
        },
        z: 10,
      },
      { ...lowered, gridIndex: 1, axisLabel: { show: false } },
    ],
    series: [
      {
        name: "wall",
        type: "bar",
        ...onRow,
        ...panel(0),
        data: bars.map((bar) => ({
          value: bar.seconds,
          told: tell(`${bar.role}: ${bar.name}`, bar),
          itemStyle: bar.ends === null ? { color: palette.muted } : hollow(palette.muted, palette),
        })),
      },
      ...ofCard.map((each) => ({ ...each, ...panel(0) })),
      ...stackedBars(palette, parts, onRow.barMaxWidth).map((each) => ({ ...each, ...panel(1) })),
    ],
  };
}

/** What the page says first: from when on a GPU pays. "" where it has nothing of that. */
function headlineOf(files: ResultFile[], { file }: Story, card: Card | null): string {
  const [nx, ny] = [positive(file.problem, "nx")!, positive(file.problem, "ny")!];
  const asked = {
    dtype: text(file.problem, "dtype"),
    iterations: positive(file.problem, "iterations")!,
    side: Math.round(Math.sqrt(nx * ny)),
  };
  return whenOf(files, card, asked).join(" ");
}

/** null: no file of the page has a timed row of a solver. */
export function storyPicture(files: ResultFile[]): { picture: Picture; file: ResultFile } | null {
  const story = storyOf(files);
  if (story === null) return null;
  const views = viewsOf(story);
  const ofCards = story.gpu ? [] : assumedCards.flatMap((card) => assumedBars(story, card));
  const most = Math.max(...views.map((view) => barsOf(story, view).length));
  const measured = story.measured.flatMap(({ row }) => row ?? []);
  const picture: Picture = {
    id: "story",
    title: story.gpu
      ? "One run, on the CPU and on the GPU"
      : "One run, on this CPU and on an assumed card",
    reading: (variant) => sentenceOf(story, views[variant]!.card),
    headline: (variant) => headlineOf(files, story, views[variant]!.card),
    alternative:
      "Lying bars of whole runs on a logarithmic axis, and beside them their division into phases: the best on the CPU, a port that copies in every step, a field that stays, the same begun cold. Full: measured; hollow and dashed: assumed.",
    height: head + foot + rowHeight * most,
    table: tableOf(columns, [...story.measured, ...ofCards]),
    notDrawn: (variant) => {
      const { card } = views[variant]!;
      const fits = card === null || assumedBars(story, card).length > 0;
      return [
        ...story.missing,
        ...(fits
          ? []
          : [[card.name, "its memory may not hold two fields of this run"] as [string, string]]),
      ];
    },
    verification:
      verificationOfRows([...new Set(measured)]) +
      (ofCards.length > 0
        ? " Assumed bars have no proof: nobody ran them; What if? lists the figures and their sources."
        : ""),
    variants: views.map(({ name }) => name),
    option: (palette, narrow, variant) => {
      const view = views[variant]!;
      return option(barsOf(story, view), view, palette, narrow);
    },
  };
  return { picture, file: story.file };
}
