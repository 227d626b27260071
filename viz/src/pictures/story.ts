// The card that a page begins with: the bars of data/story.ts, measured ones full, assumed ones hollow and
// dashed with a whisker over what is assumed.
import { assumedCards, type Card, markOf } from "../data/assumed";
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
import { categoryAxis, heightOfBars, inRows, stackedBars, valueAxis, whiskers } from "./chart";
import type { ChartOption } from "./option";
import { type Palette, phaseColour } from "./palette";
import type { Picture } from "./picture";
import { verificationOfRows } from "./proof";
import { teller } from "./tooltip";
import { hollow } from "./whatif";

const colourOf = (palette: Palette, part: Part) =>
  part === "not divided" ? palette.muted : phaseColour(palette, part);

/** A way to look at it: the bars of one card or of none, in seconds or each as a whole. */
interface View {
  name: string;
  card: Card | null;
  share: boolean;
}

const viewsOf = ({ gpu }: Story): View[] =>
  gpu
    ? [
        { name: "seconds", card: null, share: false },
        { name: "share of each run", card: null, share: true },
      ]
    : assumedCards.map((card) => ({ name: markOf(card), card, share: false }));

const barsOf = (story: Story, { card }: View): Bar[] => [
  ...story.measured,
  ...(card === null ? [] : assumedBars(story, card)),
];

/** At words. */
const inLines = (words: string, most: number): string[] =>
  words.split(" ").reduce<string[]>((lines, word) => {
    const last = lines.at(-1);
    const longer = `${last} ${word}`;
    return last === undefined || longer.length > most
      ? [...lines, word]
      : [...lines.slice(0, -1), longer];
  }, []);
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

function option(
  bars: Bar[],
  { card, share }: View,
  palette: Palette,
  narrow: boolean,
): ChartOption {
  const wholeOf = (bar: Bar) => (share ? bar.seconds : 1);
  const largest = (bar: Bar) =>
    Object.entries(bar.parts).sort(([, a], [, b]) => b - a)[0] ?? ["", 0];
  const names = bars.map(({ role }) => role);
  const rows = inRows(palette, narrow, { names });
  const [width, letters] = narrow ? [150, 22] : [250, 40];
  const axis = categoryAxis(palette, names, { inverse: true });
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
  const parts = storyParts
    .filter((part) => bars.some((bar) => (bar.parts[part] ?? 0) > 0))
    .map((part) => ({
      name: part,
      colour: colourOf(palette, part),
      points: bars.map((bar) => ({
        value: (bar.parts[part] ?? 0) > 0 ? bar.parts[part]! / wholeOf(bar) : null,
        told: tell(`${bar.role}: ${bar.name}`, bar),
        ...(bar.ends === null ? {} : { itemStyle: hollow(colourOf(palette, part), palette) }),
      })),
    }));
  return {
    ...rows,
    grid: { ...rows.grid, left: width + 12, right: narrow ? 16 : 120 },
    xAxis: valueAxis(palette, {
      name: share ? "share of the wall time" : "wall time",
      show: share ? percent : seconds,
      min: 0,
      ...(share ? { max: 1 } : {}),
    }),
    yAxis: [
      {
        ...axis,
        axisLabel: {
          ...axis.axisLabel,
          formatter: (_name: string, index: number) =>
            [...inLines(bars[index]!.role, letters), `{length|${lengthOf(bars[index]!)}}`].join(
              "\n",
            ),
          rich: {
            length: { fontWeight: "bold", fontSize: 14, lineHeight: 17, color: palette.text },
          },
        },
      },
      {
        ...axis,
        position: "right",
        show: !narrow,
        axisLine: { show: false },
        axisLabel: {
          ...axis.axisLabel,
          color: palette.muted,
          formatter: (_name: string, index: number) => {
            const bar = bars[index]!;
            const [part, length] = largest(bar);
            return `${percent(length / bar.seconds)} ${part}`;
          },
        },
      },
    ],
    series: [...stackedBars(palette, parts, 26), ...ofCard],
  };
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
    alternative:
      "Lying bars of whole runs, divided into phases: the best on the CPU, a port that copies in every step, a field that stays, the same begun cold. Full: measured; hollow and dashed: assumed.",
    height: heightOfBars(most, 46),
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
