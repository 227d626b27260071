// Files of compare and selftest: ratios with their intervals, and how often verdicts are right.
import { list, num, positive, text, word } from "../data/json";
import type * as schema from "../data/result_schema";
import type { ResultFile } from "../data/results";
import { count, figure, percent, seconds } from "../data/units";
import {
  baseOption,
  categoryAxis,
  heightOfBars,
  logLimits,
  nameWidth,
  plainLine,
  valueAxis,
  whiskers,
} from "./chart";
import { seriesColour } from "./palette";
import type { Missing, Picture } from "./picture";

const mostDrawn = 40;
const looks: Record<schema.Verdict, { colour: number; symbol: string }> = {
  FASTER: { colour: 2, symbol: "triangle" },
  SLOWER: { colour: 1, symbol: "diamond" },
  UNCLEAR: { colour: 6, symbol: "circle" },
};

export function compared(file: ResultFile): Picture | Missing | null {
  if (file.experiment !== "compare") return null;
  const title = "Two runs: new over old";
  const all = list(file.data, "rows").map((row) => ({
    name: text(row, "row"),
    reason: text(row, "reason"),
    verdict: word(row, looks, "verdict"),
    ratio: positive(row, "ratio"),
    low: positive(row, "interval", "low"),
    high: positive(row, "interval", "high"),
    old: positive(row, "old_seconds"),
    new: positive(row, "new_seconds"),
  }));
  const rows = all.flatMap((row) => (row.ratio === null ? [] : [{ ...row, ratio: row.ratio }]));
  if (rows.length === 0)
    return { id: "compared", title, missing: "no row of the two files could be compared" };
  const drawn = rows.slice(0, mostDrawn);
  const names = drawn.map((row) => row.name);
  const counted = (verdict: schema.Verdict) => rows.filter((row) => row.verdict === verdict).length;
  return {
    id: "compared",
    title,
    reading: `Of ${rows.length} rows ${counted("FASTER")} became FASTER, ${counted("SLOWER")} SLOWER, and ${counted("UNCLEAR")} are UNCLEAR.`,
    alternative:
      "A point for the ratio of each row with the line of its 99 % interval; right of 1 the new run is slower.",
    height: heightOfBars(drawn.length, 28),
    table: {
      columns: [
        { name: "row" },
        { name: "old", unit: "s", show: seconds },
        { name: "new", unit: "s", show: seconds },
        { name: "new / old", show: figure },
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
      ...all
        .filter((row) => row.ratio === null)
        .map((row): [string, string] => [row.name, row.reason || "not compared"]),
      ...rows.slice(mostDrawn).map((row): [string, string] => [row.name, "in the table only"]),
    ],
    verification: "The rows' proofs are in the two files that were compared.",
    option: (palette, narrow) => ({
      ...baseOption(palette),
      legend: { show: false },
      grid: { left: nameWidth(names, narrow) + 12, right: 28, top: 16, bottom: 48 },
      xAxis: valueAxis(palette, {
        name: "new / old (right of 1: slower)",
        log: true,
        show: figure,
        ...logLimits([
          1,
          ...drawn.flatMap((row) => [row.ratio, row.low ?? row.ratio, row.high ?? row.ratio]),
        ]),
      }),
      yAxis: categoryAxis(palette, names, { inverse: true, width: nameWidth(names, narrow) }),
      series: [
        whiskers(
          "interval",
          drawn.flatMap((row, index) =>
            row.low === null || row.high === null
              ? []
              : [{ at: index, low: row.low, high: row.high, colour: palette.muted }],
          ),
          true,
        ),
        {
          name: "ratio",
          type: "scatter",
          symbolSize: 12,
          z: 3,
          data: drawn.map((row, index) => ({
            name: `${row.name}: ${row.verdict ?? "no verdict"}`,
            value: [row.ratio, index],
            itemStyle: { color: seriesColour(palette, looks[row.verdict ?? "UNCLEAR"].colour) },
            symbol: looks[row.verdict ?? "UNCLEAR"].symbol,
          })),
          tooltip: {
            valueFormatter: (value: unknown) =>
              Array.isArray(value) ? figure(Number(value[0])) : "",
          },
          markLine: {
            ...plainLine,
            lineStyle: { color: palette.text },
            label: { show: false },
            data: [{ xAxis: 1 }],
          },
        },
      ],
    }),
  };
}

export function selftest(file: ResultFile): Picture | Missing | null {
  if (file.experiment !== "selftest") return null;
  const title = "Self-test: how often a planted slowdown is found";
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
        unclear: share("unclear"),
      },
    ];
  });
  if (kinds.length === 0) return { id: "selftest", title, missing: "the file has no trials" };
  const names = kinds.map((kind) =>
    kind.planted === 0 ? "identical" : `${percent(kind.planted)} slower`,
  );
  const verdicts = ["slower", "faster", "unclear"] as const;
  return {
    id: "selftest",
    title,
    reading:
      kinds
        .map(
          (kind, index) =>
            `${names[index]} code: a verdict in ${kind.slower + kind.faster} of ${kind.trials} trials`,
        )
        .join("; ") + ".",
    alternative: "Stacked bars of the share of trials that were called slower, faster or unclear.",
    height: heightOfBars(kinds.length, 44),
    table: {
      columns: [
        { name: "code" },
        { name: "trials", show: count },
        ...verdicts.map((name) => ({ name, show: count })),
      ],
      rows: kinds.map((kind, index) => [
        names[index] ?? "",
        kind.trials,
        kind.slower,
        kind.faster,
        kind.unclear,
      ]),
    },
    notDrawn: [],
    verification: "All sessions were verified against the reference before they were timed.",
    option: (palette, narrow) => ({
      ...baseOption(palette),
      tooltip: {
        ...baseOption(palette).tooltip,
        valueFormatter: (value: unknown) => percent(Number(value)),
      },
      grid: { left: nameWidth(names, narrow) + 12, right: 28, top: 40, bottom: 48 },
      xAxis: valueAxis(palette, { name: "share of the trials", show: percent, min: 0, max: 1 }),
      yAxis: categoryAxis(palette, names, { inverse: true, width: nameWidth(names, narrow) }),
      series: verdicts.map((verdict, index) => ({
        name: `called ${verdict}`,
        type: "bar",
        stack: "trials",
        barMaxWidth: 28,
        itemStyle: { color: seriesColour(palette, [1, 2, 6][index] ?? 0) },
        data: kinds.map((kind) => kind[verdict] / kind.trials),
      })),
    }),
  };
}
