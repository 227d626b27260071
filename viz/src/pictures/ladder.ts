// The ladder: the time of a step by each row on a logarithmic axis, with its spread, and how it
// stands to the baseline and to the best row on the CPU.
import { backendOf, problemText, type ResultFile, type Row, whyNotDrawn } from "../data/results";
import {
  bytesPerSecond,
  cellsPerSecond,
  count,
  figure,
  percent,
  seconds,
  shortened,
  times,
} from "../data/units";
import {
  baseOption,
  categoryAxis,
  figuresAxis,
  heightOfBars,
  logLimits,
  nameWidth,
  plainLine,
  pointOf,
  valueAxis,
  whiskers,
} from "./chart";
import { chosenRows, isCpu, whyNotChosen } from "./choice";
import { lookOf } from "./palette";
import type { Missing, Picture } from "./picture";
import { verificationOfRows } from "./proof";

/** More lines than that nobody reads; the table has all. */
const mostDrawn = 40;

type Timed = Row & { seconds: number };
const timed = (row: Row): row is Timed => row.seconds !== null;

function reading(file: ResultFile, ranked: Timed[], baseline: Timed | undefined): string {
  const best = ranked[0];
  if (best === undefined) return "No row has a time.";
  const bestCpu = ranked.find(isCpu);
  const parts = [
    `${shortened(best.name)} is the fastest verified row, ${seconds(best.seconds)} a step`,
  ];
  if (baseline !== undefined && baseline !== best)
    parts.push(
      `${figure(baseline.seconds / best.seconds)} times as fast as ${shortened(baseline.name)}`,
    );
  if (bestCpu !== undefined && bestCpu !== best)
    parts.push(
      `${figure(bestCpu.seconds / best.seconds)} times as fast as ${shortened(bestCpu.name)}, the best on the CPU`,
    );
  const problem = problemText(file);
  return `${parts.join(", ")}${problem ? ` (${problem})` : ""}.`;
}

export function ladder(file: ResultFile): Picture | Missing | null {
  if (file.experiment !== "comparison" && file.experiment !== "residency") return null;
  const title = "The ladder: time of a step";
  const ranked = file.rows.filter(timed).sort((a, b) => a.seconds - b.seconds);
  const drawn = chosenRows(
    ranked.map((row) => ({ row, seconds: row.seconds })),
    [file.baseline],
    mostDrawn,
  ).map(({ row }) => row);
  if (drawn.length === 0)
    return { id: "ladder", title, missing: "no verified row of this file has a time" };
  const baseline = drawn.find((row) => row.name === file.baseline);
  const bestCpu = drawn.find(isCpu);
  const names = drawn.map((row) => row.name);
  return {
    id: "ladder",
    title,
    reading: reading(file, drawn, baseline),
    alternative: `Dots on a logarithmic axis of time, one line for each of ${drawn.length} rows, the fastest first.`,
    height: heightOfBars(drawn.length),
    table: {
      columns: [
        { name: "row" },
        { name: "device" },
        { name: "threads", show: count },
        { name: "time of a step", unit: "s", show: seconds },
        { name: "first quartile", unit: "s", show: seconds },
        { name: "third quartile", unit: "s", show: seconds },
        { name: "samples", show: count },
        { name: "rate", unit: "cells/s", show: cellsPerSecond },
        { name: "bandwidth", unit: "B/s", show: bytesPerSecond },
        { name: "of the copy bandwidth", show: percent },
        { name: `speed-up over ${file.baseline || "the baseline"}`, show: times },
        { name: "speed-up over the best CPU row", show: times },
        { name: "proof" },
      ],
      rows: ranked.map((row) => [
        row.name,
        row.device,
        row.threads,
        row.seconds,
        row.quartiles?.q1 ?? null,
        row.quartiles?.q3 ?? null,
        row.samples,
        row.cellsPerSecond,
        row.bytesPerSecond,
        row.fractionOfCopy,
        row.vsBaseline,
        row.vsBestCpu,
        row.verification,
      ]),
    },
    notDrawn: [
      ...file.rows
        .filter((row) => !timed(row))
        .map((row): [string, string] => [row.name, whyNotDrawn(row)]),
      ...ranked
        .filter((row) => !drawn.includes(row))
        .map((row): [string, string] => [row.name, whyNotChosen(row)]),
    ],
    verification: verificationOfRows(ranked),
    option: (palette, narrow) => {
      // In two lines, so that marks may be near each other.
      const mark = (row: Timed | undefined, name: string, line: number) =>
        row === undefined
          ? []
          : [{ xAxis: row.seconds, label: { formatter: name, distance: 4 + 14 * line } }];
      const limits = logLimits(
        drawn.flatMap((row) => [
          row.quartiles?.min ?? row.seconds,
          row.quartiles?.max ?? row.seconds,
        ]),
      );
      const spread = (low: "min" | "q1", high: "max" | "q3", width: number) =>
        whiskers(
          low === "min" ? "fastest to slowest sample" : "quartiles",
          drawn.flatMap((row, index) =>
            row.quartiles === null
              ? []
              : [
                  {
                    at: index,
                    low: row.quartiles[low],
                    high: row.quartiles[high],
                    colour: palette.muted,
                  },
                ],
          ),
          true,
          width,
        );
      return {
        ...baseOption(palette),
        legend: { show: false },
        grid: {
          left: nameWidth(names, narrow) + 12,
          right: narrow ? 16 : 130,
          top: 34,
          bottom: 48,
        },
        xAxis: valueAxis(palette, {
          name: narrow
            ? "time of a step"
            : "time of a step (median; thick: quartiles, thin: all samples)",
          log: true,
          show: seconds,
          ...limits,
        }),
        yAxis: [
          categoryAxis(palette, names, { inverse: true, width: nameWidth(names, narrow) }),
          figuresAxis(
            palette,
            drawn.map(
              (row) =>
                seconds(row.seconds) +
                (row.vsBaseline === null ? "" : `, ${times(row.vsBaseline)}`),
            ),
            !narrow,
          ),
        ],
        series: [
          spread("min", "max", 1),
          spread("q1", "q3", 4),
          {
            name: "median",
            type: "scatter",
            symbolSize: 13,
            z: 3,
            data: drawn.map((row, index) => ({
              value: [row.seconds, index],
              name: row.name,
              itemStyle: { color: lookOf(palette, file.names, backendOf(row)).color },
              symbol: pointOf(row.device !== "cpu").symbol,
            })),
            tooltip: {
              valueFormatter: (value: unknown) =>
                Array.isArray(value) ? seconds(Number(value[0])) : "",
            },
            markLine: {
              ...plainLine,
              lineStyle: { type: "dashed", color: palette.muted },
              label: { color: palette.muted, position: "start" },
              data: narrow
                ? []
                : [
                    ...mark(baseline === bestCpu ? undefined : baseline, "baseline", 1),
                    ...mark(bestCpu, "best CPU", 0),
                  ],
            },
          },
        ],
      };
    },
  };
}
