// SPDX-License-Identifier: Apache-2.0
// Files of cluster strong and weak: the rate by ranks beside the run without ranks, and where a step
// of the slowest rank goes.
import { type RankRun, type RankRuns, rankParts, readRankRuns, whyNoTime } from "../data/cluster";
import { type Column, inSeconds, tableOf } from "../data/table";
import { cellsPerSecond, count, figure, percent, seconds } from "../data/units";
import { heightOfBars, inRows, plainLine, stackedBars, valueAxis, whiskers } from "./chart";
import { heaviest } from "./choice";
import type { Series } from "./option";
import { phaseColour, seriesColour } from "./palette";
import { drawing } from "./picture";
import { verificationOfRows } from "./proof";
import { teller } from "./tooltip";

const giga = 1e9;
const plural = (number: number, one: string) => `${number} ${one}${number === 1 ? "" : "s"}`;

/** "2 ranks x 1 thread" */
function nameOf({ ranks, threads, depth }: RankRun, question: RankRuns["question"]): string {
  if (ranks === 0) return "without ranks";
  if (question === "depth") return depth === null ? plural(ranks, "rank") : `halo of ${depth}`;
  return plural(ranks, "rank") + (threads === null ? "" : ` x ${plural(threads, "thread")}`);
}

type Timed = RankRun & { cellsPerSecond: number; seconds: number };
const timed = (run: RankRun): run is Timed => run.seconds !== null && run.cellsPerSecond !== null;

function scalingReading({ runs, transport }: RankRuns): string {
  const best = runs.filter(timed).sort((a, b) => b.cellsPerSecond - a.cellsPerSecond)[0];
  const taking = runs.filter((run) => run.oversubscribed).map((run) => run.ranks);
  const others =
    taking.length === 0
      ? ""
      : `; ${taking.join(", ")} ranks are more than the CPUs, and have no time`;
  if (best === undefined) return `No run has both a verified result and a time${others}.`;
  const most = cellsPerSecond(best.cellsPerSecond);
  const by = transport ? ` Ranks communicate by ${transport}.` : "";
  if (best.ranks === 0)
    return `No number of ranks is faster than the run without ranks, ${most}${others}.${by}`;
  const share =
    best.efficiency === null
      ? ""
      : `, ${percent(best.efficiency)} of the rate of as many threads without ranks`;
  return `${plural(best.ranks, "rank")} ${best.ranks === 1 ? "is" : "are"} the fastest, ${most}${share}${others}.${by}`;
}

const scalingColumns: Column<RankRun>[] = [
  { name: "ranks", show: count, of: (run) => run.ranks },
  { name: "threads a rank", show: count, of: (run) => run.threads },
  { name: "halo depth", show: count, of: (run) => run.depth },
  { name: "nx", show: count, of: (run) => run.nx },
  { name: "ny", show: count, of: (run) => run.ny },
  inSeconds("time of a step", (run) => run.seconds),
  inSeconds("interval from", (run) => run.interval?.low ?? null),
  inSeconds("to", (run) => run.interval?.high ?? null),
  { name: "rate", unit: "cells/s", show: cellsPerSecond, of: (run) => run.cellsPerSecond },
  { name: "efficiency", show: percent, of: (run) => run.efficiency },
  {
    name: "remark",
    of: (run) => (run.ranks === 0 ? "without ranks" : timed(run) ? "" : whyNoTime(run)),
  },
  { name: "proof", of: (run) => run.row.verification },
];

export const clusterScaling = drawing("cluster-scaling", ["cluster"], (file) => {
  const read = readRankRuns(file);
  if (read === null || read.question === "depth") return null;
  const base = read.runs.find((run) => run.ranks === 0 && timed(run));
  const bars = read.runs
    .filter((run) => run.ranks > 0 && (timed(run) || run.oversubscribed))
    .sort((a, b) => a.ranks - b.ranks);
  if (!bars.some(timed)) return "no run on ranks has both a verified result and a time";
  const { drawn, left } = heaviest(
    bars,
    (run) => run.cellsPerSecond ?? 0,
    (run) => run.row.name,
  );
  const tell = teller(scalingColumns);
  return {
    reading: scalingReading(read),
    alternative: `A bar of cells a second for each of ${drawn.filter(timed).length} runs on ranks with the interval of its median, beside a line for the run without ranks; oversubscribed runs have a cross and no bar.`,
    height: heightOfBars(drawn.length, 40),
    table: tableOf(scalingColumns, read.runs),
    notDrawn: [
      ...read.runs
        .filter((run) => !timed(run))
        .map((run): [string, string] => [run.row.name, whyNoTime(run)]),
      ...left,
    ],
    verification: verificationOfRows([...(base ? [base] : []), ...bars].map((run) => run.row)),
    option: (palette, narrow) => {
      const rows = inRows(palette, narrow, {
        names: drawn.map((run) => nameOf(run, read.question)),
        figures: drawn.map((run) =>
          !timed(run)
            ? "-"
            : cellsPerSecond(run.cellsPerSecond) +
              (run.efficiency === null ? "" : `, ${percent(run.efficiency)} efficient`),
        ),
        figuresWidth: 190,
      });
      const told = (run: RankRun, names?: string[]) => tell(nameOf(run, read.question), run, names);
      const series: Series[] = [
        {
          name: "on ranks",
          type: "bar",
          barMaxWidth: 22,
          itemStyle: { color: seriesColour(palette, 0) },
          data: drawn.map((run) => ({
            value: timed(run) ? run.cellsPerSecond / giga : null,
            told: told(run, timed(run) ? undefined : ["ranks", "threads a rank", "remark"]),
          })),
          ...(base?.cellsPerSecond == null
            ? {}
            : {
                markLine: {
                  ...plainLine,
                  lineStyle: { type: "dashed", color: palette.text },
                  label: {
                    color: palette.text,
                    position: "start", // the top: rows go downwards
                    formatter: narrow
                      ? "without ranks"
                      : `without ranks: ${cellsPerSecond(base.cellsPerSecond)}`,
                  },
                  data: [{ xAxis: base.cellsPerSecond / giga }],
                },
              }),
        },
        {
          ...whiskers(
            "interval",
            drawn.flatMap((run, index) => {
              if (!timed(run) || run.interval === null) return [];
              const cells = run.cellsPerSecond * run.seconds;
              const { low, high } = run.interval;
              return [
                {
                  at: index,
                  low: cells / high / giga,
                  high: cells / low / giga,
                  colour: palette.text,
                },
              ];
            }),
            true,
          ),
          z: 3,
        },
        {
          name: "oversubscribed",
          type: "scatter",
          symbol: crossPath,
          symbolSize: 11,
          symbolOffset: [10, 0],
          z: 6, // above the line of the run without ranks
          itemStyle: { color: palette.muted, opacity: 1 },
          label: {
            show: true,
            position: "right",
            distance: 18,
            color: palette.text,
            backgroundColor: palette.surface,
            lineHeight: 16,
            formatter: "oversubscribed: correctness only",
            ...(narrow ? { width: 130, overflow: "break" } : {}),
          },
          // It stands at the axis; the bar that is not there tells why.
          tooltip: { show: false },
          data: drawn.flatMap((run, index) => (timed(run) ? [] : [[0, index]])),
        },
      ];
      return {
        ...rows,
        legend: { show: false },
        grid: { ...rows.grid, ...(narrow ? { right: 48 } : {}), top: 34 },
        xAxis: valueAxis(palette, {
          name: narrow ? "GCell/s" : "GCell/s (median and its interval)",
          show: figure,
          min: 0,
        }),
        series: series.filter(({ data }) => data.length > 0),
      };
    },
  };
});

/** A cross of two strokes. */
const crossPath = "path://M1,0L5,4L9,0L10,1L6,5L10,9L9,10L5,6L1,10L0,9L4,5L0,1Z";

/** Packing moves data and is warm, as copies are in other pictures; waiting has the colour of "sync". */
const colourNames = { compute: "compute", pack: "h2d", wait: "sync" } as const;

type Profiled = RankRun & { slowest: NonNullable<RankRun["slowest"]> };
const sum = ({ slowest }: Profiled) => slowest.compute + slowest.pack + slowest.wait;

export const clusterSteps = drawing("cluster-step", ["cluster"], (file) => {
  const read = readRankRuns(file);
  if (read === null) return null;
  const runs = read.runs
    .filter((run): run is Profiled => run.ranks > 0 && run.slowest !== null)
    .sort((a, b) => a.ranks - b.ranks || (a.depth ?? 0) - (b.depth ?? 0));
  if (runs.length === 0) return "no run on ranks has a time and a profile";
  const { drawn, left } = heaviest(
    runs,
    (run) => run.slowest.wait / sum(run),
    (run) => run.row.name,
  );
  const told = [...runs].sort((a, b) => b.slowest.wait / sum(b) - a.slowest.wait / sum(a))[0]!;
  const columns: Column<Profiled>[] = [
    { name: "ranks", show: count, of: (run) => run.ranks },
    { name: "halo depth", show: count, of: (run) => run.depth },
    ...rankParts.map((part) => inSeconds(part, (run: Profiled) => run.slowest[part])),
    { name: "imbalance", show: percent, of: (run) => run.imbalance },
    { name: "proof", of: (run) => run.row.verification },
  ];
  const tell = teller(columns);
  return {
    reading:
      (told.slowest.wait > 0
        ? `With ${nameOf(told, read.question)} the slowest rank, which computes longest, waits for ${percent(told.slowest.wait / sum(told))} of its step${runs.length > 1 ? ", the most of all" : ""}`
        : "No rank waits") +
      ". Profiled in runs of their own, whose steps may take longer than the timed ones.",
    alternative: `Stacked bars of seconds, one for each of ${drawn.length} runs: compute, pack and wait.`,
    height: heightOfBars(drawn.length, 34) + 24,
    table: tableOf(columns, runs),
    notDrawn: [
      ...read.runs
        .filter((run) => run.ranks > 0 && run.slowest === null)
        .map((run): [string, string] => [
          run.row.name,
          run.seconds === null ? whyNoTime(run) : "the file has no profile of it",
        ]),
      ...left,
    ],
    verification: verificationOfRows(runs.map((run) => run.row)),
    variants: ["seconds", "share of the step"],
    option: (palette, narrow, variant) => {
      const share = variant === 1;
      return {
        ...inRows(palette, narrow, {
          names: drawn.map((run) => nameOf(run, read.question)),
          figures: drawn.map((run) => seconds(sum(run))),
        }),
        xAxis: valueAxis(palette, {
          name: share ? "share of the step" : "time of a step",
          show: share ? percent : seconds,
          min: 0,
          ...(share ? { max: 1 } : {}),
        }),
        series: stackedBars(
          palette,
          rankParts.map((part) => ({
            name: part,
            colour: phaseColour(palette, colourNames[part]),
            points: drawn.map((run) => ({
              value: run.slowest[part] / (share ? sum(run) : 1),
              told: tell(nameOf(run, read.question), run),
            })),
          })),
          22,
        ),
      };
    },
  };
});
