// SPDX-License-Identifier: Apache-2.0
// The samples of a row in the order in which they were taken: whether they scatter, drift, or have outliers.
import { num, numbers } from "../data/json";
import type { ResultFile, Row } from "../data/results";
import { type Column, inSeconds, tableOf } from "../data/table";
import { count, figure, seconds, shortened } from "../data/units";
import { baseOption, plainLine, pointOf, tooltip, valueAxis } from "./chart";
import { chosenRows, kindsOf, mostRows, namedOf } from "./choice";
import { kindColour } from "./palette";
import { drawing } from "./picture";
import { verificationOfRows } from "./proof";
import { teller } from "./tooltip";

interface Sample {
  row: Row;
  number: number;
  /** Of a step. */
  seconds: number;
}

function samplesOf(row: Row): Sample[] {
  const steps = num(row.json, "iterations_per_sample") ?? 1;
  return numbers(row.json, "samples_seconds").map((whole, index) => ({
    row,
    number: index + 1,
    seconds: whole / steps,
  }));
}

const rowsOf = (file: ResultFile): Row[] =>
  chosenRows(
    file.rows.flatMap((row) =>
      row.seconds === null || row.samples < 2 ? [] : [{ row, seconds: row.seconds }],
    ),
    namedOf(file),
    mostRows,
  ).map(({ row }) => row);

function reading(row: Row): string {
  const slowest = Math.max(...samplesOf(row).map((each) => each.seconds));
  const middle =
    row.quartiles === null
      ? ""
      : `, the middle half from ${seconds(row.quartiles.q1)} to ${seconds(row.quartiles.q3)}`;
  return `${row.samples} samples of ${shortened(row.name)}: the median of a step is ${seconds(row.seconds!)}${middle}; the slowest has ${seconds(slowest)}, ${figure(slowest / row.seconds!)} times that.`;
}

const columns: Column<Sample>[] = [
  { name: "row", of: ({ row }) => row.name },
  { name: "sample", show: count, of: ({ number }) => number },
  inSeconds("time of a step", (sample) => sample.seconds),
];
const tell = teller(columns);

export const samples = drawing("samples", ["comparison", "residency"], (file) => {
  const rows = rowsOf(file);
  if (rows.length === 0) return "no verified row has samples";
  const kindOf = kindsOf(rows);
  return {
    reading: (variant) => reading(rows[variant]!),
    alternative: "A point for the time of each sample, in the order in which they were taken.",
    height: 240,
    table: tableOf(columns, rows.flatMap(samplesOf)),
    notDrawn: [],
    verification: verificationOfRows(rows),
    variants: rows.map(({ name }) => name),
    answers: { questions: ["Row"], of: rows.map(({ name }) => [name]) },
    option: (palette, _narrow, variant) => {
      const row = rows[variant]!;
      return {
        ...baseOption(palette),
        legend: { show: false },
        tooltip: tooltip(palette, "item"),
        grid: { left: 84, right: 60, top: 16, bottom: 48 },
        xAxis: valueAxis(palette, { name: "sample", show: count, whole: true, min: 0 }),
        yAxis: valueAxis(palette, { name: "time of a step", show: seconds, gap: 66, min: 0 }),
        series: [
          {
            name: row.name,
            type: "scatter",
            ...pointOf(row.device !== "cpu"),
            itemStyle: { color: kindColour(palette, kindOf(row)) },
            data: samplesOf(row).map((each) => ({
              value: [each.number, each.seconds],
              told: tell(row.name, each),
            })),
            markLine: {
              ...plainLine,
              lineStyle: { type: "dashed", color: palette.muted },
              label: { color: palette.muted, position: "end", formatter: "median" },
              data: [{ yAxis: row.seconds! }],
            },
          },
        ],
      };
    },
  };
});
