// SPDX-License-Identifier: Apache-2.0
// Thread scaling: speed-up and efficiency against the ideal, and the law that was fitted (strong:
// Amdahl; weak: Gustafson) with the interval of its serial fraction.
import { at, flag, num, positive, text } from "../data/json";
import type * as schema from "../data/result_schema";
import { whyNotDrawn } from "../data/results";
import { type Column, inSeconds, tableOf } from "../data/table";
import { count, figure, percent, times } from "../data/units";
import { baseOption, guideLine, idealLine, tooltip, valueAxis } from "./chart";
import type { Guide, Measured } from "./option";
import { seriesColour } from "./palette";
import { drawing } from "./picture";
import { verificationOfRows } from "./proof";
import { teller } from "./tooltip";

type Law = NonNullable<schema.ScalingFit>["law"];

/** Efficiency on n threads by the laws as docs/lab.md has them. */
export function efficiency(law: Law | "", serial: number, threads: number): number {
  return law === "Gustafson"
    ? 1 - (serial * (threads - 1)) / threads
    : 1 / (1 + serial * (threads - 1));
}

export const scaling = drawing("scaling", ["scaling"], (file) => {
  const points = file.rows
    .map((row) => ({
      row,
      threads: positive(row.json, "threads_asked"),
      speedup: positive(row.json, "speedup"),
      oversubscribed: flag(row.json, "oversubscribed") === true,
    }))
    .flatMap((point) =>
      point.threads === null || point.speedup === null
        ? []
        : [{ ...point, threads: point.threads, speedup: point.speedup }],
    );
  if (points.length === 0) return "it needs a time on one thread and on another number of threads";
  const fit = at(file.data, "fit");
  const law = text(fit, "law") as Law | "";
  const serial = num(fit, "serial_fraction");
  const [low, high] = [num(fit, "low"), num(fit, "high")];
  const best = [...points].sort((a, b) => b.speedup - a.speedup)[0]!;
  const recommended = num(file.data, "recommended_threads");
  const most = Math.max(...points.map((point) => point.threads));
  const interval =
    low !== null && high !== null ? ` (95 % interval ${percent(low)} to ${percent(high)})` : "";
  const columns: Column<(typeof points)[number]>[] = [
    { name: "threads", show: count, of: (point) => point.threads },
    inSeconds("time of a step", (point) => point.row.seconds),
    { name: "speed-up", show: times, of: (point) => point.speedup },
    { name: "efficiency", show: percent, of: (point) => num(point.row.json, "efficiency") },
    {
      name: "serial fraction",
      show: percent,
      of: (point) => num(point.row.json, "serial_fraction"),
    },
    {
      name: "speed-up by the fit",
      show: times,
      of: (point) =>
        serial === null ? null : point.threads * efficiency(law, serial, point.threads),
    },
    {
      name: "remark",
      of: (point) => (point.oversubscribed ? "more threads than CPUs: left out of the fit" : ""),
    },
    { name: "proof", of: (point) => point.row.verification },
  ];
  const tell = teller(columns);
  return {
    id: "scaling",
    title: `Thread scaling: ${text(file.data, "backend")}, ${text(file.data, "mode")}`,
    reading:
      (recommended === null
        ? "The samples leave open how many threads do most"
        : best.threads === 1
          ? "No number of threads is faster than one"
          : `${best.threads} threads are the fastest, ${figure(best.speedup)} times one thread`) +
      (serial === null
        ? ""
        : serial > 1
          ? `; the law of ${law} does not fit, since more threads are slower than one`
          : `; the law of ${law} fits with a serial fraction of ${percent(serial)}${interval}`) +
      (recommended === null ? "." : `; use ${recommended}, the fewest within 5 % of the best.`),
    alternative: `Points of speed-up against threads, beside the ideal line${serial === null ? "" : ` and the fitted law of ${law}`}.`,
    table: tableOf(columns, points),
    notDrawn: file.rows
      .filter((row) => row.seconds === null)
      .map((row) => [row.name, whyNotDrawn(row)]),
    verification: verificationOfRows(points.map((point) => point.row)),
    variants: ["speed-up", "efficiency"],
    option: (palette, _narrow, variant) => {
      const y = (threads: number, speedup: number) => (variant === 0 ? speedup : speedup / threads);
      const threads = Array.from({ length: 33 }, (_each, index) => 1 + ((most - 1) * index) / 32);
      const lawLine = (name: string, value: number, type: "solid" | "dotted"): Guide => ({
        ...guideLine(name, {
          color: seriesColour(palette, 1),
          type,
          width: type === "solid" ? 2 : 1,
        }),
        data: threads.map((n) => [n, y(n, n * efficiency(law, value, n))]),
      });
      const measured = (name: string, oversubscribed: boolean, symbol: string): Measured => ({
        name,
        type: "scatter",
        symbol,
        symbolSize: 12,
        itemStyle: { color: seriesColour(palette, 0) },
        data: points
          .filter((point) => point.oversubscribed === oversubscribed)
          .map((point) => ({
            value: [point.threads, y(point.threads, point.speedup)],
            told: tell(point.threads === 1 ? "1 thread" : `${point.threads} threads`, point),
          })),
      });
      return {
        ...baseOption(palette),
        tooltip: tooltip(palette, "item"),
        grid: { left: 70, right: 28, top: 48, bottom: 52 },
        xAxis: valueAxis(palette, {
          name: "threads",
          show: count,
          whole: true,
          min: 1,
          max: Math.max(2, most),
        }),
        yAxis: valueAxis(palette, {
          name: variant === 0 ? "speed-up over one thread" : "efficiency",
          show: variant === 0 ? times : percent,
          min: 0,
          gap: 52,
        }),
        series: [
          idealLine(
            palette,
            [1, Math.max(2, most)].map((n) => [n, y(n, n)]),
          ),
          ...(serial === null ? [] : [lawLine(`law of ${law}`, serial, "solid")]),
          ...(low === null || high === null
            ? []
            : [lawLine("its interval", low, "dotted"), lawLine("its interval", high, "dotted")]),
          measured("measured", false, "circle"),
          measured("more threads than CPUs", true, "emptyCircle"),
        ].filter(({ data }) => data.length > 0),
      };
    },
  };
});
