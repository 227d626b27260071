// SPDX-License-Identifier: Apache-2.0
// What a result file of diffbench (schema 1) holds, whichever command wrote it.
import { at, facts, flag, list, num, numbers, positive, text, texts, type Json } from "./json";
import type * as schema from "./result_schema";

/** In the order in which a run goes through them. */
export const phaseNames = [
  "context",
  "alloc",
  "pin",
  "h2d",
  "launch",
  "compute",
  "sync",
  "d2h",
  "free",
] as const satisfies (keyof NonNullable<schema.Phases>)[];
export type PhaseName = (typeof phaseNames)[number];

/** Where the wall time of one run went, in seconds; null: no such phase. */
export interface Phases {
  parts: Record<PhaseName, number | null>;
  unexplained: number | null;
  wall: number;
  /** How long each engine of a device worked, beside the host; null without a device. */
  busy: { h2d: number; compute: number; d2h: number } | null;
}

export interface Row {
  name: string;
  /** This word and the next are the schema's, "" where there is none, or another of a newer file. */
  device: schema.Device | "";
  status: schema.Status | "";
  reason: string;
  /** null: never came so far as to be compared with the reference. */
  verified: boolean | null;
  verification: string;
  /** Median of a time step; null for what has no time (skipped, failed, emulated). */
  seconds: number | null;
  quartiles: { min: number; q1: number; q3: number; max: number } | null;
  /** Of the median. */
  interval: { low: number; high: number } | null;
  samples: number;
  cellsPerSecond: number | null;
  bytesPerSecond: number | null;
  fractionOfCopy: number | null;
  vsBaseline: number | null;
  vsBestCpu: number | null;
  setup: number | null;
  warm: Phases | null;
  cold: Phases | null;
  threads: number | null;
  provenance: [string, string][];
  roundtripEvery: number | null;
  snapshotEvery: number | null;
  /** The backend or peer, however the row moves its field. */
  kernel: string;
  /** How a row on a device was asked to copy; "" for others. */
  transfer: string;
  /** It copies while it computes. */
  overlapped: boolean;
  /** The row as the file has it, for what only one picture needs. */
  json: Json;
}

export interface ResultFile {
  name: string;
  experiment: keyof schema.Own | "comparison";
  command: string;
  sentence: string;
  notes: string[];
  interrupted: boolean;
  /** Other programs had CPU time meanwhile; older files do not say. */
  disturbed: boolean;
  context: Json;
  /** The part `diffbench` of the file. */
  own: Json;
  /** The part of the experiment; for a comparison, `own` itself. */
  data: Json;
  problem: Json;
  baseline: string;
  /** Names of rows that the reader wants to see in pictures without room for all. */
  added: Set<string>;
  /** Read when they are first asked for: a page may have thousands of them below its first screen. */
  readonly rows: Row[];
  /** Of all backends and engines of the page, as its files first name them: they decide on colours. */
  names: string[];
}

function readPhases(phases: Json, busy: Json): Phases | null {
  const wall = positive(phases, "wall");
  if (wall === null) return null;
  const parts = Object.fromEntries(phaseNames.map((name) => [name, num(phases, name)])) as Record<
    PhaseName,
    number | null
  >;
  const [h2d, compute, d2h] = [num(busy, "h2d"), num(busy, "compute"), num(busy, "d2h")];
  return {
    parts,
    unexplained: num(phases, "unexplained"),
    wall,
    busy: h2d !== null && compute !== null && d2h !== null ? { h2d, compute, d2h } : null,
  };
}

function verificationOf(row: Json): string {
  const verified = flag(row, "verified", "bitwise");
  if (verified === null) return "not verified";
  const steps = num(row, "verified", "steps");
  const after = steps === null ? "" : ` after ${steps} step${steps === 1 ? "" : "s"}`;
  if (verified) return `bit for bit the reference's field${after}`;
  const ulps = num(row, "verified", "within_ulps");
  if (ulps !== null) return `not verified: within ${ulps} ulp of the reference's field${after}`;
  const grid = text(row, "verified", "fields", "wrong", "grid");
  if (grid && at(row, "verified", "difference") === null) return `WRONG on ${grid} cells`;
  const error = num(row, "verified", "max_abs_error");
  return `WRONG${after}: largest error ${error ?? "not finite"}`;
}

const deviceOf = (row: Json) => text(row, "device") as schema.Device | "";
/** Whatever the file says, the emulation of a device has no time. */
export const isEmulated = (row: Json) => deviceOf(row) === "emulated";

export function readRow(row: Json): Row {
  const quartile = (name: string) => num(row, "seconds_per_iteration_quartiles", name);
  const [min, q1, q3, max] = [quartile("min"), quartile("q1"), quartile("q3"), quartile("max")];
  const bound = (name: string) => positive(row, "seconds_per_iteration_interval", name);
  const [low, high] = [bound("low"), bound("high")];
  const emulated = isEmulated(row);
  const time = (...path: string[]) => (emulated ? null : positive(row, ...path));
  return {
    name: text(row, "backend") || "(no name)",
    device: deviceOf(row),
    status: text(row, "status") as schema.Status | "",
    reason: text(row, "reason"),
    verified: flag(row, "verified", "bitwise"),
    verification: verificationOf(row),
    seconds: time("seconds_per_iteration"),
    quartiles:
      !emulated && min !== null && q1 !== null && q3 !== null && max !== null
        ? { min, q1, q3, max }
        : null,
    interval: !emulated && low !== null && high !== null && low <= high ? { low, high } : null,
    samples: numbers(row, "samples_seconds").length,
    cellsPerSecond: time("cells_per_second"),
    bytesPerSecond: time("bytes_per_second"),
    fractionOfCopy: time("fraction_of_copy"),
    vsBaseline: time("speedup_vs_baseline"),
    vsBestCpu: time("speedup_vs_best_cpu"),
    setup: time("setup_seconds"),
    warm: emulated ? null : readPhases(at(row, "phases"), at(row, "busy")),
    cold: emulated
      ? null
      : readPhases(at(row, "end_to_end", "cold_phases"), at(row, "end_to_end", "cold_busy")),
    threads: num(row, "threads"),
    provenance: facts(row, "provenance"),
    roundtripEvery: positive(row, "roundtrip_every"),
    snapshotEvery: positive(row, "snapshot_every"),
    kernel: text(row, "kernel") || text(row, "resident") || text(row, "backend"),
    transfer: text(row, "transfer"),
    overlapped: flag(row, "overlapped") === true,
    json: row,
  };
}

/** Why a row is listed and not drawn. */
export function whyNotDrawn(row: Row): string {
  if (row.status === "skipped" || row.status === "failed")
    return `${row.status}: ${row.reason || "no reason given"}`;
  if (row.device === "emulated") return "emulated device: verified, never timed";
  if (row.verified === false) return "its result is wrong, so it has no time";
  return "the file has no time for it";
}

/** Its field does not travel between host and device on the way. */
export const staysInPlace = (row: Row) => row.roundtripEvery === null && row.snapshotEvery === null;

/** A row of residency is one of the backend that it moves about. */
export const backendOf = (row: Row) => text(row.json, "resident") || row.name;

/** As a file first names them; none of a file whose rows are no backends, but threads or ranks. */
function namesOf(experiment: string, data: Json): string[] {
  const ofBackends = ["comparison", "residency", "sweep", "calibrate"].includes(experiment);
  if (!ofBackends && !experiment.startsWith("mlp_")) return [];
  const rows = [
    ...list(data, "results"),
    ...list(data, "ways"),
    ...list(data, "points").flatMap((point) => [
      ...list(point, "rows"),
      ...list(at(point, "result"), "results"),
    ]),
  ];
  const keys = ["resident", "backend", "racer", "row", "engine"];
  const names = rows.map((row) => keys.map((key) => text(row, key)).find((name) => name) ?? "");
  return [...new Set(names)].filter((name) => name);
}

/** The files of one page: a name has one place among all their names. */
export function filesOfPage(parts: Json[]): ResultFile[] {
  const files = parts.map(readResultFile);
  const names = [...new Set(files.flatMap((file) => file.names))];
  for (const file of files) file.names = names;
  return files;
}

export function readResultFile(part: Json): ResultFile {
  const own = at(part, "diffbench");
  const experiment = (text(own, "experiment") as keyof schema.Own | "") || "comparison";
  const data = experiment === "comparison" ? own : at(own, experiment);
  let rows: Row[] | null = null;
  return {
    name: text(part, "file") || "(no name)",
    experiment,
    command: text(own, "command"),
    sentence: text(own, "sentence"),
    notes: texts(own, "notes"),
    interrupted: flag(own, "interrupted") === true,
    disturbed: flag(own, "disturbed") === true,
    context: at(part, "context"),
    own,
    data,
    problem: at(data, "problem"),
    baseline: text(data, "baseline"),
    added: new Set(),
    get rows() {
      return (rows ??= list(data, "results").map(readRow));
    },
    names: namesOf(experiment, data),
  };
}

/** A point of a sweep as the comparison that it is; its file's in everything else. */
export const comparisonOf = (sweep: ResultFile, point: Json): ResultFile => {
  const result = at(point, "result");
  return { ...sweep, ...readResultFile({ diffbench: result }), ...partsOf(sweep) };
};
const partsOf = ({ name, command, context, disturbed, names }: ResultFile) => ({
  name,
  command,
  context,
  disturbed,
  names,
});

/** What must be the same for two files to be of one machine, each part of it as `shown`. */
export function machineOf(file: ResultFile, shown = (part: string) => part): string {
  const get = (name: string) => text(file.context, name);
  const cpu = get("cpu_model");
  if (cpu === "") return "several machines, or none that is named";
  const cpus = get("usable_cpus") || String(num(file.context, "num_cpus") ?? "?");
  const isa = get("isa");
  const gpu = get("gpu_name") || get("cuda");
  const host = get("host_name");
  return [
    `${cpu}, ${cpus} CPUs${isa ? `, ${isa}` : ""}`,
    ...(gpu ? [`GPU: ${gpu}`] : []),
    ...(host ? [`host ${host}`] : []),
  ]
    .map((part) => shown(part))
    .join("; ");
}

/** "256x256 float32, 200 iterations, periodic"; "" for what has no one problem. */
export function problemText(file: ResultFile): string {
  const nx = num(file.problem, "nx");
  const ny = num(file.problem, "ny");
  if (nx === null || ny === null) return "";
  const iterations = num(file.problem, "iterations");
  return [
    `${nx}x${ny} ${text(file.problem, "dtype")}`,
    ...(iterations === null ? [] : [`${iterations} iterations`]),
    `${text(file.problem, "boundary")} boundary`,
  ].join(", ");
}
