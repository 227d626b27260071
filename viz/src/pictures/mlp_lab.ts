// Networks of many sizes, batches and threads: time against parameters and width, throughput
// against the batch, and how the latency of one answer is distributed.
import { flag, list, num, numbers, positive, text, type Json } from "../data/json";
import type { ResultFile } from "../data/results";
import { count, percent, quantity, seconds, times } from "../data/units";
import { baseOption, type Line, logLimits, logLines, valueAxis } from "./chart";
import { seriesColour } from "./palette";
import type { Missing, Picture } from "./picture";

const timeOf = (row: Json, name: string) =>
  text(row, "device") === "emulated" ? null : positive(row, name);
const nameOf = (row: Json) => text(row, "row") || text(row, "engine") || "(no name)";

function proofOf(row: Json): string {
  const ok = flag(row, "verified", "ok");
  if (ok === null) return "not verified";
  const share = num(row, "verified", "share_of_bound");
  return ok
    ? `within the bound of rounding${share === null ? "" : ` (${percent(share)} of it)`}`
    : "WRONG";
}

function verification(rows: Json[]): string {
  const proved = rows.filter((row) => flag(row, "verified", "ok") === true).length;
  return `${proved} of ${rows.length} rows were verified against the reference engine, within the bound that rounding has.`;
}

function untimed(rows: Json[], name: string): [string, string][] {
  const reasons = new Map<string, string>();
  for (const row of rows)
    if (timeOf(row, name) === null)
      reasons.set(
        nameOf(row),
        text(row, "reason") ||
          (text(row, "device") === "emulated"
            ? "emulated device: verified, never timed"
            : "no time"),
      );
  return [...reasons];
}

export function sizes(file: ResultFile): Picture | Missing | null {
  const depth = file.experiment === "mlp_depth";
  if (!depth && file.experiment !== "mlp_width") return null;
  const title = depth
    ? "A training step against the parameters"
    : "A training step against the width";
  const points = list(file.data, "points").flatMap((point) => {
    const [size, parameters] = [positive(point, "size"), positive(point, "parameters")];
    return size === null || parameters === null
      ? []
      : [{ size, parameters, rows: list(point, "rows") }];
  });
  const rows = points.flatMap((point) => point.rows);
  const names = [
    ...new Set(rows.filter((row) => timeOf(row, "seconds_per_step") !== null).map(nameOf)),
  ];
  if (names.length === 0) return { id: "sizes", title, missing: "no row has a time" };
  const size = depth ? "last hidden layer" : "width";
  const lines = (x: "size" | "parameters", y: string): Omit<Line, "colour">[] =>
    names.map((name) => ({
      name,
      points: points.flatMap((point): [number, number][] => {
        const row = point.rows.find((each) => nameOf(each) === name);
        const value = timeOf(row, y);
        return value === null ? [] : [[point[x], value]];
      }),
    }));
  const views = [
    { name: "a step, by parameters", x: "parameters", y: "seconds_per_step" },
    { name: `a step, by ${size}`, x: "size", y: "seconds_per_step" },
    { name: "100 epochs, by parameters", x: "parameters", y: "seconds_100_epochs" },
  ] as const;
  return {
    id: "sizes",
    title,
    reading: file.sentence,
    alternative: `Lines of time on logarithmic axes, one for each of ${names.length} rows.`,
    height: 440,
    table: {
      columns: [
        { name: size, show: count },
        { name: "parameters", show: count },
        { name: "row" },
        { name: "time of a step", unit: "s", show: seconds },
        { name: "100 epochs", unit: "s", show: seconds },
        { name: "100 epochs are" },
        { name: "proof" },
      ],
      rows: points.flatMap((point) =>
        point.rows
          .filter((row) => timeOf(row, "seconds_per_step") !== null)
          .map((row) => [
            point.size,
            point.parameters,
            nameOf(row),
            timeOf(row, "seconds_per_step"),
            timeOf(row, "seconds_100_epochs"),
            flag(row, "extrapolated") === true ? "extrapolated from fewer steps" : "measured",
            proofOf(row),
          ]),
      ),
    },
    notDrawn: untimed(rows, "seconds_per_step").filter(([name]) => !names.includes(name)),
    verification: verification(rows),
    variants: views.map((view) => view.name),
    option: (palette, narrow, variant) => {
      const view = views[variant] ?? views[0];
      return logLines(
        palette,
        narrow,
        { name: view.x === "size" ? size : "parameters", show: quantity },
        {
          name: view.y === "seconds_per_step" ? "time of a step" : "time of 100 epochs",
          show: seconds,
        },
        lines(view.x, view.y).map((line, index) => ({
          ...line,
          colour: seriesColour(palette, index),
          dashed: index >= palette.series.length,
        })),
      );
    },
  };
}

export function throughput(file: ResultFile): Picture | Missing | null {
  if (file.experiment !== "mlp_throughput") return null;
  const title = "Throughput against the batch";
  const rows = list(file.data, "results");
  const engines = rows
    .filter((row) => text(row, "device") !== "emulated")
    .map((row) => ({
      row,
      name: nameOf(row),
      best: positive(row, "best_batch"),
      enough: positive(row, "enough_batch"),
      curve: list(row, "curve").flatMap((point): [number, number][] => {
        const [batch, rate] = [positive(point, "batch"), positive(point, "rows_per_second")];
        return batch === null || rate === null ? [] : [[batch, rate]];
      }),
    }))
    .filter((engine) => engine.curve.length > 0);
  if (engines.length === 0) return { id: "throughput", title, missing: "no engine has a time" };
  const rate = (value: number) => `${quantity(value)} rows/s`;
  return {
    id: "throughput",
    title,
    reading: file.sentence,
    alternative: `Lines of rows a second against the rows of a batch, both logarithmic, for ${engines.length} engines.`,
    height: 440,
    table: {
      columns: [
        { name: "engine" },
        { name: "batch", show: count },
        { name: "throughput", unit: "rows/s", show: rate },
        { name: "remark" },
        { name: "proof" },
      ],
      rows: engines.flatMap(({ row, name, best, enough, curve }) =>
        curve.map(([batch, value]) => [
          name,
          batch,
          value,
          batch === best ? "the best" : batch === enough ? "enough: near the best" : "",
          proofOf(row),
        ]),
      ),
    },
    notDrawn: rows
      .filter((row) => !engines.some((engine) => engine.row === row))
      .map((row) => [nameOf(row), text(row, "reason") || "no time"]),
    verification: verification(engines.map((engine) => engine.row)),
    option: (palette, narrow) =>
      logLines(
        palette,
        narrow,
        { name: "rows of a batch", show: quantity, base: 2 },
        { name: narrow ? "rows/s" : "rows a second", show: quantity },
        engines.map(({ name, curve }, index) => ({
          name,
          points: curve,
          colour: seriesColour(palette, index),
        })),
      ),
  };
}

export function trainingThreads(file: ResultFile): Picture | Missing | null {
  if (file.experiment !== "mlp_scaling") return null;
  const title = "Thread scaling of a training step";
  const rows = list(file.data, "results");
  const timed = rows.flatMap((row) => {
    const [threads, speedup] = [positive(row, "threads_asked"), timeOf(row, "speedup")];
    return threads === null || speedup === null
      ? []
      : [{ row, racer: text(row, "racer"), threads, speedup }];
  });
  if (timed.length === 0) return { id: "scaling", title, missing: "no row has a speed-up" };
  const racers = [...new Set(timed.map((each) => each.racer))];
  const most = Math.max(2, ...timed.map((each) => each.threads));
  return {
    id: "scaling",
    title,
    reading: file.sentence,
    alternative: "Points of speed-up against threads beside the ideal line.",
    table: {
      columns: [
        { name: "row" },
        { name: "threads", show: count },
        { name: "time of a step", unit: "s", show: seconds },
        { name: "speed-up", show: times },
        { name: "efficiency", show: percent },
        { name: "proof" },
      ],
      rows: timed.map(({ row, threads, speedup }) => [
        nameOf(row),
        threads,
        timeOf(row, "seconds_per_step"),
        speedup,
        num(row, "efficiency"),
        proofOf(row),
      ]),
    },
    notDrawn: untimed(rows, "seconds_per_step"),
    verification: verification(rows),
    option: (palette, narrow) => ({
      ...baseOption(palette),
      grid: { left: narrow ? 56 : 70, right: 28, top: 48, bottom: 52 },
      xAxis: valueAxis(palette, { name: "threads", show: count, whole: true, min: 1, max: most }),
      yAxis: valueAxis(palette, {
        name: "speed-up over one thread",
        show: times,
        min: 0,
        gap: narrow ? 40 : 52,
      }),
      series: [
        {
          name: "ideal",
          type: "line",
          symbol: "none",
          lineStyle: { color: palette.muted, type: "dashed" },
          itemStyle: { color: palette.muted },
          data: [
            [1, 1],
            [most, most],
          ],
        },
        ...racers.map((racer, index) => ({
          name: racer,
          type: "line",
          symbolSize: 10,
          itemStyle: { color: seriesColour(palette, index) },
          lineStyle: { color: seriesColour(palette, index), width: 2 },
          data: timed
            .filter((each) => each.racer === racer)
            .map((each) => [each.threads, each.speedup]),
        })),
      ],
    }),
  };
}

export function latency(file: ResultFile): Picture | Missing | null {
  if (file.experiment !== "mlp_latency") return null;
  const title = "Latency of one answer";
  const rows = list(file.data, "results");
  const engines = rows.flatMap((row) => {
    const [edges, counts] = [
      numbers(row, "histogram", "edges"),
      numbers(row, "histogram", "counts"),
    ];
    const median = positive(row, "seconds", "median");
    const bins = text(row, "device") !== "emulated" && edges.length === counts.length + 1;
    return bins && median !== null
      ? [{ row, name: nameOf(row), edges, counts, median, p99: positive(row, "seconds", "p99") }]
      : [];
  });
  if (engines.length === 0)
    return { id: "latency", title, missing: "no engine has a histogram of its times" };
  const best = [...engines].sort((a, b) => a.median - b.median)[0]!;
  return {
    id: "latency",
    title,
    reading: `${best.name} answers in ${seconds(best.median)} in the median${best.p99 === null ? "" : `, and 99 of 100 times in ${seconds(best.p99)}`}.`,
    alternative: `Histograms of the time of a call on a logarithmic axis, for ${engines.length} engines.`,
    height: 420,
    table: {
      columns: [
        { name: "engine" },
        { name: "from", unit: "s", show: seconds },
        { name: "to", unit: "s", show: seconds },
        { name: "calls", show: count },
        { name: "median", unit: "s", show: seconds },
        { name: "99th percentile", unit: "s", show: seconds },
      ],
      rows: engines.flatMap(({ name, edges, counts, median, p99 }) =>
        counts.map((calls, bin) => [
          name,
          edges[bin] ?? null,
          edges[bin + 1] ?? null,
          calls,
          median,
          p99,
        ]),
      ),
    },
    notDrawn: rows
      .filter((row) => !engines.some((engine) => engine.row === row))
      .map((row) => [nameOf(row), text(row, "reason") || "no time"]),
    verification: engines
      .map(({ row, name }) => {
        const [error, most] = [num(row, "verified", "error"), num(row, "verified", "most_error")];
        const right = error !== null && most !== null && error <= most;
        return `${name}: answers ${right ? "right" : "NOT verified"}, error ${error ?? "unknown"} of at most ${most ?? "unknown"}`;
      })
      .join("; "),
    option: (palette, narrow) => ({
      ...baseOption(palette),
      tooltip: {
        ...baseOption(palette).tooltip,
        trigger: "axis",
        valueFormatter: (value: unknown) => `${Number(value)} calls`,
      },
      grid: { left: narrow ? 60 : 76, right: 28, top: 48, bottom: 52 },
      xAxis: valueAxis(palette, {
        name: "time of a call",
        log: true,
        show: seconds,
        ...logLimits(engines.flatMap((engine) => engine.edges)),
      }),
      yAxis: valueAxis(palette, { name: "calls", show: count, min: 0, gap: narrow ? 44 : 56 }),
      series: engines.map(({ name, edges, counts }, index) => ({
        name,
        type: "line",
        step: "end",
        symbol: "none",
        areaStyle: { opacity: 0.18 },
        itemStyle: { color: seriesColour(palette, index) },
        lineStyle: { color: seriesColour(palette, index), width: 2 },
        data: [
          [edges[0], 0],
          ...counts.map((calls, bin) => [edges[bin + 1], calls]),
          [edges[edges.length - 1], 0],
        ],
      })),
    }),
  };
}
