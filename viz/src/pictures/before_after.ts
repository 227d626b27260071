// SPDX-License-Identifier: Apache-2.0
// Two runs of one experiment: each row before and after, and what `diffbench compare` concludes.
import type { ComparedRow, Pair } from "../data/pairs";
import type * as schema from "../data/result_schema";
import { shortened, seconds, times } from "../data/units";
import { heightOfBars, inRows, logLimits, plainLine, tooltip, valueAxis, whiskers } from "./chart";
import { heaviest } from "./choice";
import type { ChartOption } from "./option";
import { seriesColour, type Palette } from "./palette";
import type { Picture } from "./picture";
import { type Judged, judgedTable, looks, weightOf } from "./verdicts";

const mostNamed = 6;
const views = ["against the time before", "times"];

type Timed = Judged & { old: number; new: number };

const timedRows = (rows: ComparedRow[]): Timed[] =>
  rows.flatMap((row) =>
    row.ratio === null || row.old === null || row.new === null
      ? []
      : [{ ...row, ratio: row.ratio, old: row.old, new: row.new }],
  );

/** "SLOWER: simd; FASTER: fused, scalar and 3 more; UNCLEAR: 2." */
function reading(rows: Timed[], pair: Pair): string {
  const told = (["SLOWER", "FASTER", "SAME", "UNCLEAR"] as const).flatMap((verdict) => {
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

const { table, tell } = judgedTable("before", "after");

function drawing(rows: Timed[], palette: Palette, narrow: boolean, view: number): ChartOption {
  const relative = view === 0;
  const place = (value: number, old: number) => (relative ? value / old : value);
  const show = relative ? times : seconds;
  const base = inRows(palette, narrow, {
    names: rows.map((row) => row.name),
    figures: rows.map(({ ratio, verdict }) => `${times(ratio)} ${verdict ?? ""}`),
    figuresWidth: 120,
  });
  const scatter = { type: "scatter" as const, symbolSize: 11, encode: { x: 0, y: 1 } };
  return {
    ...base,
    tooltip: tooltip(palette, "item"),
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
    series: [
      {
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
        itemStyle: { color: palette.muted }, // in the legend
      },
      {
        ...scatter,
        name: "before",
        z: 3,
        itemStyle: { color: palette.surface, borderColor: palette.text, borderWidth: 1.5 },
        data: rows.map((row, index) => ({
          value: [place(row.old, row.old), index],
          told: tell(row),
        })),
        markLine: {
          ...plainLine,
          lineStyle: { color: palette.muted },
          label: { show: false },
          data: relative ? [{ xAxis: 1 }] : [],
        },
      },
      {
        ...scatter,
        name: "after",
        z: 4,
        itemStyle: { color: palette.text },
        data: rows.map((row, index) => {
          const { symbol, turned } = looks[row.verdict ?? "UNCLEAR"];
          return {
            value: [place(row.new, row.old), index],
            told: tell(row),
            symbol,
            ...(turned === undefined ? {} : { symbolRotate: turned }),
            itemStyle: { color: verdictColour(palette, row.verdict) },
          };
        }),
      },
    ],
  };
}

export function beforeAfter(pair: Pair): Picture {
  const rows = timedRows(pair.rows);
  const { drawn, left } = heaviest(rows, weightOf, (row) => row.name);
  return {
    id: "before-after",
    title: "Each row, before and after",
    reading: reading(rows, pair),
    alternative:
      "A hollow point for the time before and one for the time after in each row, the line of the ratio's 99 % interval, and the verdict.",
    height: heightOfBars(drawn.length, 28),
    variants: views,
    table: table(rows),
    notDrawn: [
      ...pair.rows
        .filter((row) => row.ratio === null)
        .map((row): [string, string] => [row.name, row.reason || "not compared"]),
      ...left,
    ],
    verification:
      "The rows' proofs are in the two files. The verdicts are those of diffbench compare: SLOWER and FASTER where the interval leaves no doubt; it allows for the differences between two runs of one program.",
    option: (palette, narrow, view) => drawing(drawn, palette, narrow, view),
  };
}
