// SPDX-License-Identifier: Apache-2.0
// Networks that answer: throughput against the batch, and how the latency of one answer is distributed.
import { concludes } from "../data/conclusion";
import { list, num, numbers, positive, text } from "../data/json";
import { isEmulated } from "../data/results";
import { type Column, inSeconds, tableOf } from "../data/table";
import { count, figure, quantity, seconds } from "../data/units";
import { baseOption, logLimits, logLines, tooltip, valueAxis } from "./chart";
import { engineOf, nameOf, proofOf, verification, withoutTime } from "./mlp_rows";
import { lookOf } from "./palette";
import { drawing } from "./picture";
import { teller } from "./tooltip";

export const throughput = drawing("throughput", ["mlp_throughput"], (file) => {
  const rows = list(file.data, "results");
  const engines = rows
    .filter((row) => !isEmulated(row))
    .map((row) => ({
      row,
      name: nameOf(row),
      best: concludes(file) ? positive(row, "best_batch") : null,
      enough: concludes(file) ? positive(row, "enough_batch") : null,
      curve: list(row, "curve").flatMap((point): [number, number][] => {
        const [batch, rate] = [positive(point, "batch"), positive(point, "rows_per_second")];
        return batch === null || rate === null ? [] : [[batch, rate]];
      }),
    }))
    .filter((engine) => engine.curve.length > 0);
  if (engines.length === 0) return "no engine has a time";
  const rate = (value: number) => `${quantity(value)} rows/s`;
  type Engine = (typeof engines)[number];
  const batchesOf = (engine: Engine) =>
    engine.curve.map(([batch, value]) => ({ engine, batch, value }));
  const columns: Column<ReturnType<typeof batchesOf>[number]>[] = [
    { name: "engine", of: ({ engine }) => engine.name },
    { name: "batch", show: count, of: ({ batch }) => batch },
    { name: "throughput", unit: "rows/s", show: rate, of: ({ value }) => value },
    {
      name: "remark",
      of: ({ engine, batch }) =>
        batch === engine.best ? "the best" : batch === engine.enough ? "enough: near the best" : "",
    },
    { name: "proof", of: ({ engine }) => proofOf(engine.row) },
  ];
  const tell = teller(columns);
  return {
    reading: file.sentence,
    alternative: `Lines of rows a second against the rows of a batch, both logarithmic, for ${engines.length} engines.`,
    table: tableOf(columns, engines.flatMap(batchesOf)),
    notDrawn: withoutTime(rows.filter((row) => !engines.some((engine) => engine.row === row))),
    verification: verification(engines.map((engine) => engine.row)),
    option: (palette, narrow) =>
      logLines(
        palette,
        { name: "rows of a batch", show: quantity, base: 2 },
        { name: narrow ? "rows/s" : "rows a second", show: quantity },
        engines.map((engine) => ({
          name: engine.name,
          device: text(engine.row, "device") !== "cpu",
          look: lookOf(palette, file.names, engineOf(engine.row)),
          points: batchesOf(engine).map((each) => ({
            value: [each.batch, each.value],
            told: tell(engine.name, each),
          })),
        })),
      ),
  };
});

export const latency = drawing("latency", ["mlp_latency"], (file) => {
  const rows = list(file.data, "results");
  const engines = rows.flatMap((row) => {
    const [edges, counts] = [
      numbers(row, "histogram", "edges"),
      numbers(row, "histogram", "counts"),
    ];
    const median = positive(row, "seconds", "median");
    const bins = !isEmulated(row) && counts.length > 0 && edges.length === counts.length + 1;
    return bins && median !== null
      ? [{ row, name: nameOf(row), edges, counts, median, p99: positive(row, "seconds", "p99") }]
      : [];
  });
  if (engines.length === 0) return "no engine has a histogram of its times";
  const best = [...engines].sort((a, b) => a.median - b.median)[0]!;
  type Engine = (typeof engines)[number];
  const binsOf = (engine: Engine) => engine.counts.map((calls, bin) => ({ engine, calls, bin }));
  const columns: Column<ReturnType<typeof binsOf>[number]>[] = [
    { name: "engine", of: ({ engine }) => engine.name },
    inSeconds("from", ({ engine, bin }) => engine.edges[bin] ?? null),
    inSeconds("to", ({ engine, bin }) => engine.edges[bin + 1] ?? null),
    { name: "calls", show: count, of: ({ calls }) => calls },
    inSeconds("median", ({ engine }) => engine.median),
    inSeconds("99th percentile", ({ engine }) => engine.p99),
  ];
  const tell = teller(columns);
  return {
    reading: `${best.name} answers in ${seconds(best.median)} in the median${best.p99 === null ? "" : `, and 99 of 100 times in ${seconds(best.p99)}`}.`,
    alternative: `Histograms of the time of a call on a logarithmic axis, for ${engines.length} engines.`,
    table: tableOf(columns, engines.flatMap(binsOf)),
    notDrawn: withoutTime(rows.filter((row) => !engines.some((engine) => engine.row === row))),
    verification: engines
      .map(({ row, name }) => {
        const [error, most] = [num(row, "verified", "error"), num(row, "verified", "most_error")];
        const right = error !== null && most !== null && error <= most;
        return `${name}: answers ${right ? "right" : "NOT verified"}, error ${error === null ? "unknown" : figure(error)} of at most ${most === null ? "unknown" : figure(most)}`;
      })
      .join("; "),
    variants: ["calls", "calls, logarithmic"],
    option: (palette, _narrow, variant) => {
      const most = Math.max(...engines.flatMap((engine) => engine.counts));
      const none = variant === 0 ? 0 : 0.5; // a logarithmic axis has no 0
      return {
        ...baseOption(palette),
        tooltip: tooltip(palette, "axis"),
        grid: { left: 76, right: 28, top: 48, bottom: 52 },
        xAxis: valueAxis(palette, {
          name: "time of a call",
          log: true,
          show: seconds,
          ...logLimits(engines.flatMap((engine) => engine.edges)),
        }),
        yAxis: valueAxis(palette, {
          name: "calls",
          show: count,
          gap: 56,
          // The rare slow calls, which nobody sees beside hundreds of quick ones.
          ...(variant === 0 ? { min: 0 } : { log: true, min: none, max: 1.25 * most }),
        }),
        series: engines.map((engine) => {
          const look = lookOf(palette, file.names, engineOf(engine.row));
          const bins = binsOf(engine).map((bin) => ({
            value: [engine.edges[bin.bin + 1]!, Math.max(none, bin.calls)],
            told: tell(engine.name, bin),
          }));
          // From and to the axis: both ends are of the outermost bins.
          const end = (value: number, { told }: (typeof bins)[number]) => ({
            value: [value, none],
            told,
          });
          return {
            name: engine.name,
            type: "line",
            step: "end",
            symbol: "none",
            areaStyle: { opacity: 0.18 },
            itemStyle: { color: look.color },
            lineStyle: { ...look, width: 2 },
            data: [
              end(engine.edges[0]!, bins[0]!),
              ...bins,
              end(engine.edges.at(-1)!, bins.at(-1)!),
            ],
          };
        }),
      };
    },
  };
});
