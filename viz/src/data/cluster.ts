// SPDX-License-Identifier: Apache-2.0
// Files of `diffbench cluster`: measured runs on ranks (strong, weak, depth), and predicted ones
// (predict). A rank is a process or a thread with its own part of the grid.
import { at, flag, list, num, positive, text, type Json } from "./json";
import type * as schema from "./result_schema";
import { type ResultFile, type Row, readRow, whyNotDrawn } from "./results";

export const rankParts = ["compute", "pack", "wait"] as const;
/** Where a step goes on one rank, in seconds. */
export type RankTimes = Record<(typeof rankParts)[number], number>;

export interface RankRun {
  row: Row;
  /** 0: the run without ranks. */
  ranks: number;
  threads: number | null;
  /** Rows of a halo, which are the steps between two exchanges; null for less than two ranks. */
  depth: number | null;
  nx: number | null;
  ny: number | null;
  /** More threads than CPUs: verified, and no time, rate or profile of it is told. */
  oversubscribed: boolean;
  /** Median of a step; null for all that has no verified result, or no time. */
  seconds: number | null;
  /** Of the median; null where `seconds` is. */
  interval: { low: number; high: number } | null;
  cellsPerSecond: number | null;
  /** Of what the run without ranks does with as many threads; may be above 1. */
  efficiency: number | null;
  modelled: number | null;
  /** The rank that computes longest, by a profile of runs of its own. */
  slowest: RankTimes | null;
  /** By how much it computes longer than the mean of all ranks. */
  imbalance: number | null;
}

type Question = schema.Cluster["question"];
const questionOf = (file: ResultFile) => text(file.data, "question") as Question | "";

export interface RankRuns {
  question: Exclude<Question, "predict">;
  transport: string;
  runs: RankRun[];
}

export interface PredictedRun {
  ranks: number;
  nx: number | null;
  ny: number | null;
  depth: number | null;
  seconds: number;
  cellsPerSecond: number;
  efficiency: number;
  /** Efficiency with one exchange a step. */
  everyStep: number | null;
  measured: number | null;
}

export interface RankPrediction {
  /** From rates that somebody wrote down; all that does not say that it was measured is that. */
  assumed: boolean;
  source: string;
  runs: PredictedRun[];
}

/** A whole number of at least `least`, or null. */
function whole(value: Json, name: string, least: number): number | null {
  const found = num(value, name);
  return found !== null && Number.isInteger(found) && found >= least ? found : null;
}

function readSlowest(json: Json): RankTimes | null {
  const [compute, pack, wait] = ["compute_seconds", "copy_seconds", "wait_seconds"].map((name) =>
    num(json, name),
  );
  if (compute == null || pack == null || wait == null) return null;
  return compute > 0 && pack >= 0 && wait >= 0 ? { compute, pack, wait } : null;
}

function readRun(json: Json): RankRun[] {
  const ranks = whole(json, "ranks", 0);
  if (ranks === null) return [];
  const row = readRow(json);
  // The file keeps the samples of an oversubscribed row; here they are nothing.
  const counts =
    row.status === "ok" &&
    row.verified === true &&
    row.device !== "emulated" &&
    flag(json, "oversubscribed") === false;
  const seconds = counts ? positive(json, "seconds_per_step") : null;
  const time = <T>(value: T) => (seconds === null ? null : value);
  return [
    {
      row,
      ranks,
      threads: whole(json, "threads", 1),
      depth: ranks < 2 ? null : whole(json, "halo_depth", 1),
      nx: whole(json, "nx", 1),
      ny: whole(json, "ny", 1),
      oversubscribed: flag(json, "oversubscribed") === true,
      seconds,
      interval: time(row.interval),
      cellsPerSecond: time(positive(json, "cells_per_second")),
      efficiency: time(positive(json, "efficiency")),
      modelled: positive(json, "modelled_seconds"),
      slowest: time(readSlowest(json)),
      imbalance: time(num(json, "imbalance")),
    },
  ];
}

/** null for a file of another experiment or question; what is broken in it is left out. */
export function readRankRuns(file: ResultFile): RankRuns | null {
  const question = questionOf(file);
  if (
    file.experiment !== "cluster" ||
    (question !== "strong" && question !== "weak" && question !== "depth")
  )
    return null;
  return {
    question,
    transport: text(file.data, "transport"),
    runs: list(file.data, "results").flatMap(readRun),
  };
}

/** Why a run is listed and not drawn. */
export function whyNoTime(run: RankRun): string {
  return run.oversubscribed ? "oversubscribed: correctness only" : whyNotDrawn(run.row);
}

export function readRankPrediction(file: ResultFile): RankPrediction | null {
  if (file.experiment !== "cluster" || questionOf(file) !== "predict") return null;
  const runs = list(file.data, "results").flatMap((json): PredictedRun[] => {
    const ranks = whole(json, "ranks", 1);
    const seconds = positive(json, "seconds_per_step");
    const cellsPerSecond = positive(json, "cells_per_second");
    const efficiency = positive(json, "efficiency");
    if (ranks === null || seconds === null || cellsPerSecond === null || efficiency === null)
      return [];
    return [
      {
        ranks,
        nx: whole(json, "nx", 1),
        ny: whole(json, "ny", 1),
        depth: ranks < 2 ? null : whole(json, "halo_depth", 1),
        seconds,
        cellsPerSecond,
        efficiency,
        everyStep: positive(json, "efficiency_exchanging_every_step"),
        measured: positive(json, "measured_seconds"),
      },
    ];
  });
  return {
    assumed: at(file.data, "assumed") !== false,
    source: text(file.data, "source"),
    runs: runs.sort((a, b) => a.ranks - b.ranks),
  };
}
