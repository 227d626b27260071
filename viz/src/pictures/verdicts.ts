// SPDX-License-Identifier: Apache-2.0
// Files of compare and selftest: ratios with their intervals, and how often verdicts are right.
import { list, num, positive } from "../data/json";
import { type ComparedRow, comparedRows } from "../data/pairs";
import type * as schema from "../data/result_schema";
import { type Column, inSeconds, tableOf } from "../data/table";
import { count, figure, percent } from "../data/units";
import {
  heightOfBars,
  inRows,
  logLimits,
  plainLine,
  stackedBars,
  valueAxis,
  whiskers,
} from "./chart";
import { heaviest } from "./choice";
import { seriesColour } from "./palette";
import { drawing } from "./picture";
import { teller } from "./tooltip";

/** Both triangles point to the side that the row went to. */
export const looks: Record<schema.Verdict, { colour: number; symbol: string; turned?: number }> = {
  FASTER: { colour: 2, symbol: "triangle", turned: 90 },
  SLOWER: { colour: 1, symbol: "triangle", turned: -90 },
  SAME: { colour: 6, symbol: "rect" },
  UNCLEAR: { colour: 6, symbol: "circle" },
};

/** Those with a verdict first, and of them those that changed most. */
export const weightOf = ({ verdict, ratio }: { verdict: unknown; ratio: number }) =>
  Math.abs(Math.log(ratio)) + (verdict === "FASTER" || verdict === "SLOWER" ? 1e3 : 0);

/** A compared row that has a ratio. */
export type Judged = ComparedRow & { ratio: number };

/** The table of compared rows, by what its two runs are called, and what its picture tells of each. */
export function judgedTable(before: string, after: string) {
  const columns: Column<Judged>[] = [
    { name: "row", of: (row) => row.name },
    inSeconds(before, (row) => row.old),
    inSeconds(after, (row) => row.new),
    { name: `${after} / ${before}`, show: figure, of: (row) => row.ratio },
    { name: "interval from", show: figure, of: (row) => row.low },
    { name: "to", show: figure, of: (row) => row.high },
    { name: "verdict", of: (row) => row.verdict },
  ];
  const tell = teller(columns);
  const told = columns.slice(1).map(({ name }) => name);
  return {
    table: (rows: Judged[]) => tableOf(columns, rows),
    tell: (row: Judged) => tell(row.name, row, told),
  };
}

export const compared = drawing("compared", ["compare"], (file) => {
  const all = comparedRows(file);
  const rows = all.flatMap((row) => (row.ratio === null ? [] : [{ ...row, ratio: row.ratio }]));
  if (rows.length === 0) return "no row of the two files could be compared";
  const { drawn, left } = heaviest(rows, weightOf, (row) => row.name);
  const counted = (verdict: schema.Verdict) => rows.filter((row) => row.verdict === verdict).length;
  const { table, tell } = judgedTable("old", "new");
  return {
    reading: `Of ${rows.length} rows ${counted("FASTER")} became FASTER, ${counted("SLOWER")} SLOWER, ${counted("SAME")} stayed the SAME, and ${counted("UNCLEAR")} are UNCLEAR.`,
    alternative:
      "A point for the ratio of each row with the line of its 99 % interval; right of 1 the new run is slower.",
    height: heightOfBars(drawn.length, 28),
    table: table(rows),
    notDrawn: [
      ...all
        .filter((row) => row.ratio === null)
        .map((row): [string, string] => [row.name, row.reason || "not compared"]),
      ...left,
    ],
    verification: "The rows' proofs are in the two files that were compared.",
    option: (palette, narrow) => {
      const base = inRows(palette, narrow, { names: drawn.map((row) => row.name) });
      return {
        ...base,
        legend: { show: false },
        grid: { ...base.grid, top: 16 },
        xAxis: valueAxis(palette, {
          name: "new / old (right of 1: slower)",
          log: true,
          show: figure,
          ...logLimits([
            1,
            ...drawn.flatMap((row) => [row.ratio, row.low ?? row.ratio, row.high ?? row.ratio]),
          ]),
        }),
        series: [
          whiskers(
            "interval",
            drawn.flatMap(({ low, high }, at) =>
              low === null || high === null ? [] : [{ at, low, high, colour: palette.muted }],
            ),
            true,
          ),
          {
            name: "ratio",
            type: "scatter",
            symbolSize: 12,
            z: 3,
            data: drawn.map((row, index) => {
              const { colour, symbol, turned = 0 } = looks[row.verdict ?? "UNCLEAR"];
              return {
                value: [row.ratio, index],
                told: tell(row),
                itemStyle: { color: seriesColour(palette, colour) },
                symbol,
                symbolRotate: turned,
              };
            }),
            markLine: {
              ...plainLine,
              lineStyle: { color: palette.text },
              label: { show: false },
              data: [{ xAxis: 1 }],
            },
          },
        ],
      };
    },
  };
});

export const selftest = drawing("selftest", ["selftest"], (file) => {
  const kinds = list(file.data, "kinds").flatMap((kind) => {
    const trials = positive(kind, "trials");
    const planted = num(kind, "planted_slowdown");
    if (trials === null || planted === null) return [];
    const share = (name: string) => num(kind, name) ?? 0;
    return [
      {
        planted,
        trials,
        slower: share("slower"),
        faster: share("faster"),
        same: share("same"), // older files have none
        unclear: share("unclear"),
      },
    ];
  });
  if (kinds.length === 0) return "the file has no trials";
  type Kind = (typeof kinds)[number];
  const nameOf = ({ planted }: Kind) =>
    planted === 0 ? "identical" : `${percent(planted)} slower`;
  const verdicts = ["slower", "faster", "same", "unclear"] as const;
  const columns: Column<Kind>[] = [
    { name: "code", of: nameOf },
    { name: "trials", show: count, of: (kind) => kind.trials },
    ...verdicts.map((name) => ({ name, show: count, of: (kind: Kind) => kind[name] })),
  ];
  const tell = teller(columns);
  return {
    reading:
      kinds
        .map(
          (kind) =>
            `${nameOf(kind)} code: slower or faster in ${kind.slower + kind.faster} of ${kind.trials} trials`,
        )
        .join("; ") + ".",
    alternative:
      "Stacked bars of the share of trials that were called slower, faster, same or unclear.",
    height: heightOfBars(kinds.length, 44),
    table: tableOf(columns, kinds),
    notDrawn: [],
    verification: "All sessions were verified against the reference before they were timed.",
    option: (palette, narrow) => ({
      ...inRows(palette, narrow, { names: kinds.map(nameOf) }),
      xAxis: valueAxis(palette, { name: "share of the trials", show: percent, min: 0, max: 1 }),
      series: stackedBars(
        palette,
        verdicts.map((verdict, index) => ({
          name: `called ${verdict}`,
          colour: seriesColour(palette, [1, 2, 3, 6][index] ?? 0),
          points: kinds.map((kind) => ({
            value: kind[verdict] / kind.trials,
            told: tell(nameOf(kind), kind),
          })),
        })),
        28,
      ),
    }),
  };
});
