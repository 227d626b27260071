// Two runs of one experiment: each row before and after, and what `diffbench compare` concludes.
import type { ComparedRow, Pair } from "../data/pairs";
import type * as schema from "../data/result_schema";
import { shortened, figure, seconds, times } from "../data/units";
import {
  baseOption,
  figuresAxis,
  heightOfBars,
  logLimits,
  lyingRows,
  plainLine,
  valueAxis,
  whiskers,
} from "./chart";
import { seriesColour, type Palette } from "./palette";
import type { Picture } from "./picture";
import { looks } from "./verdicts";

const mostDrawn = 40;
const mostNamed = 6;
const views = ["against the time before", "times"];

type Judged = ComparedRow & { ratio: number; old: number; new: number };

export const judgedRows = (rows: ComparedRow[]): Judged[] =>
  rows.flatMap((row) =>
    row.ratio === null || row.old === null || row.new === null
      ? []
      : [{ ...row, ratio: row.ratio, old: row.old, new: row.new }],
  );

/** "SLOWER: simd; FASTER: fused, scalar and 3 more; UNCLEAR: 2." */
function reading(rows: Judged[], pair: Pair): string {
  const told = (["SLOWER", "FASTER", "UNCLEAR"] as const).flatMap((verdict) => {
    const names = rows.filter((row) => row.verdict === verdict).map(({ name }) => shortened(name));
    if (names.length === 0) return [];
    const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "";
    const named = verdict === "UNCLEAR" ? `${names.length} of ${rows.length} rows` : "";
    return [`${verdict}: ${named || names.slice(0, mostNamed).join(", ") + more}`];
  });
  return `${told.join("; ")}.${pair.sameMachine ? "" : " Two machines: a ratio is of program and machine together."}`;
}

const verdictColour = (palette: Palette, verdict: schema.Verdict | null) =>
  seriesColour(palette, looks[verdict ?? "UNCLEAR"].colour);

/** "0.821 (0.790 to 0.853), FASTER" */
const judgement = ({ ratio, low, high, verdict }: Judged) =>
  `${figure(ratio)}${low === null || high === null ? "" : ` (${figure(low)} to ${figure(high)})`}, ${verdict ?? "no verdict"}`;

function drawing(rows: Judged[], palette: Palette, narrow: boolean, view: number) {
  const relative = view === 0;
  const names = rows.map((row) => row.name);
  const place = (value: number, old: number) => (relative ? value / old : value);
  const show = relative ? times : seconds;
  const base = lyingRows(palette, names, narrow, show);
  const point = (name: string, tooltip: (row: Judged) => string, more: object) => ({
    name,
    type: "scatter",
    symbolSize: 11,
    encode: { x: 0, y: 1, tooltip: [0] },
    tooltip: {
      valueFormatter: (_value: unknown, index: number) => (rows[index] ? tooltip(rows[index]) : ""),
    },
    ...more,
  });
  return {
    ...base,
    tooltip: { ...baseOption(palette).tooltip },
    grid: { ...base.grid, right: narrow ? 72 : 120 },
    xAxis: valueAxis(palette, {
      name: relative ? "after / before (right of 1: slower)" : "time",
      log: true,
      show,
      ...logLimits(
        rows.flatMap(({ old, new: now, low, high }) =>
          relative ? [1, now / old, low ?? 1, high ?? 1] : [old, now],
        ),
      ),
    }),
    yAxis: [
      base.yAxis,
      figuresAxis(
        palette,
        rows.map(({ ratio, verdict }) =>
          narrow ? (verdict ?? "") : `${times(ratio)} ${verdict ?? ""}`,
        ),
        true,
      ),
    ],
    series: [
      {
        itemStyle: { color: palette.muted }, // in the legend
        ...whiskers(
          relative ? "99 % interval" : "change",
          rows.flatMap(({ old, new: now, low, high, verdict }, at) => {
            const [from, to] = relative ? [low, high] : [Math.min(old, now), Math.max(old, now)];
            return from === null || to === null
              ? []
              : [{ at, low: from, high: to, colour: verdictColour(palette, verdict) }];
          }),
          true,
        ),
      },
      point("before", (row) => seconds(row.old), {
        z: 3,
        itemStyle: { color: palette.surface, borderColor: palette.text, borderWidth: 1.5 },
        data: rows.map(({ name, old }, index) => ({ name, value: [place(old, old), index] })),
        markLine: {
          ...plainLine,
          lineStyle: { color: palette.muted },
          label: { show: false },
          data: relative ? [{ xAxis: 1 }] : [],
        },
      }),
      point("after", (row) => `${seconds(row.new)}; after / before ${judgement(row)}`, {
        z: 4,
        itemStyle: { color: palette.text },
        data: rows.map(({ name, old, new: now, verdict }, index) => ({
          name,
          value: [place(now, old), index],
          symbol: looks[verdict ?? "UNCLEAR"].symbol,
          itemStyle: { color: verdictColour(palette, verdict) },
        })),
      }),
    ],
  };
}

export function beforeAfter(pair: Pair): Picture {
  const rows = judgedRows(pair.rows);
  const drawn = rows.slice(0, mostDrawn);
  return {
    id: "before-after",
    title: "Each row, before and after",
    reading: reading(rows, pair),
    alternative:
      "A hollow point for the time before and one for the time after in each row, the line of the ratio's 99 % interval, and the verdict.",
    height: heightOfBars(drawn.length, 28),
    variants: views,
    table: {
      columns: [
        { name: "row" },
        { name: "before", unit: "s", show: seconds },
        { name: "after", unit: "s", show: seconds },
        { name: "after / before", show: figure },
        { name: "interval from", show: figure },
        { name: "to", show: figure },
        { name: "verdict" },
      ],
      rows: rows.map((row) => [
        row.name,
        row.old,
        row.new,
        row.ratio,
        row.low,
        row.high,
        row.verdict,
      ]),
    },
    notDrawn: [
      ...pair.rows
        .filter((row) => row.ratio === null)
        .map((row): [string, string] => [row.name, row.reason || "not compared"]),
      ...rows.slice(mostDrawn).map((row): [string, string] => [row.name, "in the table only"]),
    ],
    verification:
      "The rows' proofs are in the two files. The verdicts are those of diffbench compare: SLOWER and FASTER where the interval, which allows for what two runs of one program differ by, leaves no doubt.",
    option: (palette, narrow, view) => drawing(drawn, palette, narrow, view),
  };
}
