// SPDX-License-Identifier: Apache-2.0
// Files of cluster depth (how deep halos should be, measured and by the model) and of cluster
// predict (what a network makes of many ranks).
import { concludes } from "../data/conclusion";
import { type RankRun, readRankPrediction, readRankRuns, whyNoTime } from "../data/cluster";
import { type Column, inSeconds, tableOf } from "../data/table";
import { cellsPerSecond, count, figure, percent, quantity, seconds } from "../data/units";
import { baseOption, idealLine, logLimits, tooltip, valueAxis, whiskers } from "./chart";
import type { Measured, Point, Series } from "./option";
import { type Palette, seriesColour } from "./palette";
import { drawing } from "./picture";
import { verificationOfRows } from "./proof";
import { teller } from "./tooltip";

const giga = 1e9;

type Deep = RankRun & { depth: number };

const offBy = (run: RankRun) =>
  run.seconds === null || run.modelled === null ? null : run.modelled / run.seconds - 1;

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
}

const least = (runs: Deep[], time: "seconds" | "modelled") =>
  runs
    .filter((run) => run[time] !== null)
    .reduce<Deep | null>(
      (best, run) => (best === null || run[time]! < best[time]! ? run : best),
      null,
    );

const rowsOf = (depth: number) => `${depth} row${depth === 1 ? "" : "s"}`;

function depthReading(runs: Deep[]): string {
  const [best, modelled] = [least(runs, "seconds"), least(runs, "modelled")];
  const errors = runs.map(offBy).flatMap((error) => (error === null ? [] : [Math.abs(error)]));
  const each = runs.find((run) => run.depth === 1)?.seconds ?? null;
  const model = modelled === null ? "" : `the model says ${rowsOf(modelled.depth)}`;
  if (best?.seconds == null)
    return `No depth has both a verified result and a time${model ? `; ${model}` : ""}.`;
  return (
    [
      `Halos of ${rowsOf(best.depth)} are the best, ${seconds(best.seconds)} a step`,
      ...(each === null || best.depth === 1
        ? []
        : [`one exchange a step takes ${figure(each / best.seconds)} times as long`]),
      ...(model === ""
        ? []
        : [
            model +
              (errors.length ? `, and is off by ${percent(median(errors))} in the median` : ""),
          ]),
    ].join("; ") + "."
  );
}

/** Predicted: hollow and dashed. */
const predictedLine = (
  palette: Palette,
  name: string,
  colour: string,
  data: Point[],
): Measured => ({
  name,
  type: "line",
  symbol: "circle",
  symbolSize: 8,
  itemStyle: { color: palette.surface, borderColor: colour, borderWidth: 2 },
  lineStyle: { color: colour, width: 2, type: "dashed" },
  data,
});

export const clusterDepth = drawing("cluster-depth", ["cluster"], (file) => {
  const read = readRankRuns(file);
  if (read === null || read.question !== "depth") return null;
  const runs = read.runs
    .filter((run): run is Deep => run.depth !== null)
    .sort((a, b) => a.depth - b.depth);
  const timed = runs.filter((run) => run.seconds !== null);
  const modelled = runs.filter((run) => run.modelled !== null);
  if (timed.length + modelled.length === 0) return "no depth has a time, measured or modelled";
  const [best, modelBest] = concludes(file)
    ? [least(timed, "seconds"), least(modelled, "modelled")]
    : [null, null];
  const columns: Column<RankRun>[] = [
    { name: "halo depth", unit: "rows", show: count, of: (run) => run.depth },
    { name: "ranks", show: count, of: (run) => run.ranks },
    inSeconds("time of a step", (run) => run.seconds),
    inSeconds("interval from", (run) => run.interval?.low ?? null),
    inSeconds("to", (run) => run.interval?.high ?? null),
    inSeconds("model", (run) => run.modelled),
    { name: "model off by", show: percent, of: (run) => offBy(run) },
    { name: "rate", unit: "cells/s", show: cellsPerSecond, of: (run) => run.cellsPerSecond },
    { name: "efficiency", show: percent, of: (run) => run.efficiency },
    {
      name: "remark",
      of: (run) =>
        [
          ...(run.ranks === 0 ? ["without ranks"] : []),
          ...(run === best ? ["the best"] : []),
          ...(run === modelBest ? ["the model's best"] : []),
          ...(run.seconds === null ? [whyNoTime(run)] : []),
        ].join("; "),
    },
    { name: "proof", of: (run) => run.row.verification },
  ];
  const tell = teller(columns);
  return {
    reading:
      depthReading(runs) + (read.transport ? ` Ranks communicate by ${read.transport}.` : ""),
    alternative:
      "Points of measured time with the intervals of their medians against the rows of a halo, both logarithmic, and a dashed line by the model; the least of each is marked.",
    table: tableOf(columns, read.runs),
    notDrawn: read.runs
      .filter((run) => run.depth === null || run.seconds === null)
      .map((run) => [
        run.row.name,
        run.seconds === null ? whyNoTime(run) : "without halos: in the table only",
      ]),
    verification: verificationOfRows(timed.map((run) => run.row)),
    option: (palette, narrow) => {
      const measuredColour = seriesColour(palette, 0);
      const modelColour = seriesColour(palette, 1);
      const drawnTimes = runs.flatMap((run) =>
        [run.seconds, run.modelled, run.interval?.low, run.interval?.high].flatMap((value) =>
          value == null ? [] : [value],
        ),
      );
      // Room for a name below the lowest point.
      const lowest = Math.min(...drawnTimes);
      const times = [...drawnTimes, lowest * (lowest / Math.max(...drawnTimes)) ** 0.12];
      /** Above the higher and below the lower of the two, where both are of one depth. */
      const above = (best?.seconds ?? 0) >= (best?.modelled ?? 0);
      const bestOf = (
        name: string,
        run: Deep,
        value: number,
        colour: string,
        top: boolean,
      ): Series => ({
        name,
        type: "scatter",
        // A ring round the point.
        symbol: "circle",
        symbolSize: 20,
        z: 4,
        itemStyle: { color: "transparent", borderColor: colour, borderWidth: 2.5 },
        label: {
          show: true,
          position: top ? "top" : "bottom",
          distance: 14,
          color: palette.text,
          formatter: `${name}: ${run.depth}`,
        },
        tooltip: { show: false },
        data: [[run.depth, value]],
      });
      const series: Series[] = [
        predictedLine(
          palette,
          "model",
          modelColour,
          modelled.map((run) => ({
            value: [run.depth, run.modelled],
            told: tell("model", run, ["halo depth", "model", "model off by"]),
          })),
        ),
        {
          name: "measured",
          type: "line",
          symbol: "circle",
          symbolSize: 9,
          z: 3,
          itemStyle: { color: measuredColour },
          lineStyle: { width: 0 },
          data: timed.map((run) => ({
            value: [run.depth, run.seconds],
            told: tell("measured", run, ["halo depth", "time of a step", "interval from", "to"]),
          })),
        },
        whiskers(
          "interval",
          timed.flatMap((run) =>
            run.interval === null
              ? []
              : [{ at: run.depth, ...run.interval, colour: measuredColour }],
          ),
          false,
        ),
        ...(best === null ? [] : [bestOf("best", best, best.seconds!, measuredColour, above)]),
        ...(modelBest === null
          ? []
          : [
              bestOf(
                "model's best",
                modelBest,
                modelBest.modelled!,
                modelColour,
                modelBest === best && !above,
              ),
            ]),
      ];
      return {
        ...baseOption(palette),
        tooltip: tooltip(palette, "axis"),
        legend: {
          ...baseOption(palette).legend,
          data: ["measured", "model"],
        },
        grid: { left: 84, right: 28, top: 56, bottom: 52 },
        xAxis: valueAxis(palette, {
          name: narrow
            ? "rows of a halo"
            : "rows of a halo, which are the steps from exchange to exchange",
          log: true,
          base: 2,
          show: count,
          ...logLimits(runs.map((run) => run.depth)),
        }),
        yAxis: valueAxis(palette, {
          name: "time of a step",
          log: true,
          show: seconds,
          gap: 66,
          ...logLimits(times),
        }),
        series: series.filter(({ data }) => data.length > 0),
      };
    },
  };
});

export const clusterPrediction = drawing("cluster-predict", ["cluster"], (file) => {
  const read = readRankPrediction(file);
  if (read === null) return null;
  const { runs, assumed } = read;
  const kind = assumed ? "assumed" : "predicted";
  const most = runs[runs.length - 1];
  if (most === undefined) return "the file has no predictions";
  const grid = `${most.nx ?? "?"}x${most.ny ?? "?"}`;
  const perStep = (run: (typeof runs)[number]): number | null =>
    run.everyStep === null ? null : (run.cellsPerSecond * run.everyStep) / run.efficiency;
  /** nx and ny may be missing: the cells are what was predicted in a step. */
  const measuredRate = (run: (typeof runs)[number]) =>
    run.measured === null ? null : (run.cellsPerSecond * run.seconds) / run.measured;
  const ideal = (run: (typeof runs)[number]) => run.cellsPerSecond / run.efficiency;
  const measured = runs.filter((run) => run.measured !== null);
  type Run = (typeof runs)[number];
  const columns: Column<Run>[] = [
    { name: "ranks", show: count, of: (run) => run.ranks },
    { name: "nx", show: count, of: (run) => run.nx },
    { name: "ny", show: count, of: (run) => run.ny },
    { name: "best halo depth", unit: "rows", show: count, of: (run) => run.depth },
    inSeconds(`time of a step, ${kind}`, (run) => run.seconds),
    {
      name: `rate, ${kind}`,
      unit: "cells/s",
      show: cellsPerSecond,
      of: (run) => run.cellsPerSecond,
    },
    { name: `efficiency, ${kind}`, show: percent, of: (run) => run.efficiency },
    {
      name: "rate, one exchange a step",
      unit: "cells/s",
      show: cellsPerSecond,
      of: (run) => perStep(run),
    },
    { name: "efficiency, one exchange a step", show: percent, of: (run) => run.everyStep },
    inSeconds("measured", (run) => run.measured),
    {
      name: "measured rate",
      unit: "cells/s",
      show: cellsPerSecond,
      of: (run) => measuredRate(run),
    },
    {
      name: "prediction off by",
      show: percent,
      of: (run) => (run.measured === null ? null : run.seconds / run.measured - 1),
    },
  ];
  const tell = teller(columns);
  return {
    reading:
      `${assumed ? "Assumed and predicted" : "Predicted"}, not measured: on ${most.ranks} rank${most.ranks === 1 ? "" : "s"} a step of ${grid} takes ${seconds(most.seconds)}, ${cellsPerSecond(most.cellsPerSecond)}, ${percent(most.efficiency)} of ideal` +
      (most.depth === null ? "" : ` with halos of ${rowsOf(most.depth)}`) +
      (most.everyStep === null ? "" : `, ${percent(most.everyStep)} with one exchange a step`) +
      ".",
    alternative: `Dashed lines of ${kind} cells a second against ranks, both logarithmic: with the best depth of halos, with one exchange a step, and ideal${measured.length ? "; points where it was measured" : ""}.`,
    table: tableOf(columns, runs),
    notDrawn: [],
    verification: `${read.source ? `Rates ${read.source}. ` : ""}${
      measured.length
        ? `Measured beside it: ${measured.length} of ${runs.length} runs.`
        : "None of the predicted runs was made here."
    }`,
    variants: ["GCell/s", "efficiency"],
    option: (palette, _narrow, variant) => {
      const pointsOf = (name: string, rate: (run: Run) => number | null, told: string[]) =>
        runs.flatMap((run): Point[] => {
          const rated = rate(run);
          if (rated === null) return [];
          const value = variant === 0 ? rated / giga : rated / ideal(run);
          return [{ value: [run.ranks, value], told: tell(name, run, ["ranks", ...told]) }];
        });
      const best = `best depth, ${kind}`;
      const each = `one exchange a step, ${kind}`;
      const series: Measured[] = [
        predictedLine(
          palette,
          best,
          seriesColour(palette, 0),
          pointsOf(best, (run) => run.cellsPerSecond, [
            "best halo depth",
            `rate, ${kind}`,
            `efficiency, ${kind}`,
          ]),
        ),
        predictedLine(
          palette,
          each,
          seriesColour(palette, 1),
          pointsOf(each, perStep, ["rate, one exchange a step", "efficiency, one exchange a step"]),
        ),
        {
          name: "measured",
          type: "line",
          symbol: "circle",
          symbolSize: 10,
          itemStyle: { color: seriesColour(palette, 2) },
          lineStyle: { width: 0 },
          data: pointsOf("measured", measuredRate, [
            "measured",
            "measured rate",
            "prediction off by",
          ]),
        },
      ];
      const idealPoints = runs.map((run) => [run.ranks, variant === 0 ? ideal(run) / giga : 1]);
      const values = [
        ...idealPoints.map(([, value]) => value!),
        ...series.flatMap(({ data }) => data.map(({ value }) => [value].flat()[1] ?? 0)),
      ];
      return {
        ...baseOption(palette),
        tooltip: tooltip(palette, "axis"),
        grid: { left: 84, right: 28, top: 56, bottom: 52 },
        xAxis: valueAxis(palette, {
          name: "ranks",
          log: true,
          base: 2,
          show: count,
          ...logLimits(runs.map((run) => run.ranks)),
        }),
        yAxis: valueAxis(palette, {
          name: variant === 0 ? `GCell/s, ${kind}` : `efficiency, ${kind}`,
          show: variant === 0 ? quantity : percent,
          gap: 66,
          ...(variant === 0
            ? { log: true, ...logLimits(values) }
            : { min: 0, max: Math.max(1, ...values) }),
        }),
        series: [idealLine(palette, idealPoints), ...series.filter(({ data }) => data.length > 0)],
      };
    },
  };
});
