// SPDX-License-Identifier: Apache-2.0
// The ladder: the time of a step by each row on a logarithmic axis, with its spread, and how it
// stands to the baseline and to the best row on the CPU.
import type { LineSeriesOption } from "echarts";
import { problemText, type ResultFile, type Row, whyNotDrawn } from "../data/results";
import { type Column, inSeconds, tableOf } from "../data/table";
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
import { heightOfBars, inRows, logLimits, plainLine, pointOf, valueAxis, whiskers } from "./chart";
import { chosenRows, isCpu, kindsOf, mostRows, namedOf, rowKinds, whyNotChosen } from "./choice";
import type { Measured } from "./option";
import { kindColour } from "./palette";
import { apart, doubt } from "./order";
import { drawing } from "./picture";
import { verificationOfRows } from "./proof";
import { teller } from "./tooltip";

type Timed = Row & { seconds: number };
const asTimed = (row: Timed) => ({ row, seconds: row.seconds });
const timed = (row: Row): row is Timed => row.seconds !== null;

/** The one that the file's speed-ups are over; where it has none, the fastest. */
const bestCpuOf = (ranked: Timed[]) =>
  ranked.find((row) => isCpu(row) && row.vsBestCpu === 1) ?? ranked.find(isCpu);

function reading(file: ResultFile, ranked: Timed[], baseline: Timed | undefined): string {
  const best = ranked[0];
  if (best === undefined) return "No row has a time.";
  const bestCpu = bestCpuOf(ranked);
  const why = doubt(ranked.map(asTimed));
  const settled = (row: Timed) => apart(asTimed(best), asTimed(row));
  const parts = [
    (ranked.length === 1
      ? `${shortened(best.name)} is the only verified row with a time`
      : why === ""
        ? `${shortened(best.name)} is the fastest verified row`
        : `The fastest row is not settled (${why}): ${shortened(best.name)} has the smallest median`) +
      `, ${seconds(best.seconds)} a step`,
  ];
  if (baseline !== undefined && baseline !== best && settled(baseline))
    parts.push(
      `${figure(baseline.seconds / best.seconds)} times as fast as ${shortened(baseline.name)}`,
    );
  if (bestCpu !== undefined && bestCpu !== best && bestCpu !== baseline && settled(bestCpu))
    parts.push(
      `${figure(bestCpu.seconds / best.seconds)} times as fast as ${shortened(bestCpu.name)}, the best on the CPU`,
    );
  const problem = problemText(file);
  return `${parts.join(", ")}${problem ? ` (${problem})` : ""}.`;
}

export const ladder = drawing("ladder", ["comparison", "residency"], (file) => {
  const ranked = file.rows.filter(timed).sort((a, b) => a.seconds - b.seconds);
  const drawn = chosenRows(ranked.map(asTimed), namedOf(file), mostRows).map(({ row }) => row);
  if (drawn.length === 0) return "no verified row of this file has a time";
  const baseline = drawn.find((row) => row.name === file.baseline);
  const bestCpu = bestCpuOf(drawn);
  const kindOf = kindsOf(drawn);
  const columns: Column<Timed>[] = [
    { name: "row", of: (row) => row.name },
    { name: "device", of: (row) => row.device },
    { name: "threads", show: count, of: (row) => row.threads },
    inSeconds("time of a step", (row) => row.seconds),
    inSeconds("interval from", (row) => row.interval?.low ?? null),
    inSeconds("to", (row) => row.interval?.high ?? null),
    inSeconds("first quartile", (row) => row.quartiles?.q1 ?? null),
    inSeconds("third quartile", (row) => row.quartiles?.q3 ?? null),
    { name: "samples", show: count, of: (row) => row.samples },
    { name: "rate", unit: "cells/s", show: cellsPerSecond, of: (row) => row.cellsPerSecond },
    { name: "bandwidth", unit: "B/s", show: bytesPerSecond, of: (row) => row.bytesPerSecond },
    { name: "of the copy bandwidth", show: percent, of: (row) => row.fractionOfCopy },
    {
      name: `speed-up over ${file.baseline || "the baseline"}`,
      show: times,
      of: (row) => row.vsBaseline,
    },
    { name: "speed-up over the best CPU row", show: times, of: (row) => row.vsBestCpu },
    { name: "proof", of: (row) => row.verification },
  ];
  const tell = teller(columns);
  return {
    reading: reading(file, drawn, baseline),
    alternative: `Dots on a logarithmic axis of time, one line for each of ${drawn.length} rows, the fastest first.`,
    height: heightOfBars(drawn.length),
    table: tableOf(columns, ranked),
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
      const marks: LineSeriesOption["markLine"] = {
        ...plainLine,
        lineStyle: { type: "dashed", color: palette.muted },
        label: { color: palette.muted, position: "start" },
        data: [
          ...mark(baseline === bestCpu ? undefined : baseline, "baseline", 1),
          ...mark(bestCpu, "best CPU", 0),
        ],
      };
      const limits = logLimits(
        drawn.flatMap((row) => [
          row.quartiles?.min ?? row.seconds,
          row.quartiles?.max ?? row.seconds,
        ]),
      );
      const spread = (name: string, low: "min" | "q1", high: "max" | "q3", width: number) =>
        whiskers(
          name,
          drawn.flatMap(({ quartiles }, at) =>
            quartiles === null
              ? []
              : [{ at, low: quartiles[low], high: quartiles[high], colour: palette.muted }],
          ),
          true,
          width,
        );
      const rows = inRows(palette, narrow, {
        names: drawn.map((row) => row.name),
        figures: drawn.map(
          (row) =>
            seconds(row.seconds) + (row.vsBaseline === null ? "" : `, ${times(row.vsBaseline)}`),
        ),
        figuresWidth: 142,
      });
      return {
        ...rows,
        legend: {
          ...rows.legend,
          data: rowKinds.filter((kind) => drawn.some((row) => kindOf(row) === kind)),
        },
        grid: { ...rows.grid, top: 56 },
        xAxis: valueAxis(palette, {
          name: narrow
            ? "time of a step"
            : "time of a step (median; thick: quartiles, thin: all samples)",
          log: true,
          show: seconds,
          ...limits,
        }),
        series: [
          spread("fastest to slowest sample", "min", "max", 1),
          spread("quartiles", "q1", "q3", 4),
          ...rowKinds.flatMap((kind): Measured[] => {
            const own = drawn.filter((row) => kindOf(row) === kind);
            if (own.length === 0) return [];
            return [
              {
                name: kind,
                type: "scatter",
                symbolSize: 13,
                symbol: pointOf(own[0]!.device !== "cpu").symbol,
                z: 3,
                itemStyle: { color: kindColour(palette, kind) },
                data: own.map((row) => ({
                  value: [row.seconds, drawn.indexOf(row)],
                  told: tell(row.name, row),
                  name: row.name,
                })),
                ...(kind === kindOf(drawn[0]!) && !narrow ? { markLine: marks } : {}),
              },
            ];
          }),
        ],
      };
    },
  };
});
