// SPDX-License-Identifier: Apache-2.0
// What a recorded profile says about one run that somebody imagines: a grid, iterations, and visits of
// the host on the way; beside it, if wished, what is assumed of a card that nobody measured. All of
// it is predicted; measured runs of the same kind stand beside it.
import { assumedWays, type Card } from "./assumed";
import { concluded } from "./conclusion";
import { text } from "./json";
import {
  longestCall,
  predict,
  type Prediction,
  type Profile,
  readProfile,
  type RunShape,
  visitsOf,
  type Way,
} from "./model";
import { readResultFile, readRows, type ResultFile, type Row, staysInPlace } from "./results";
import { type Column, inSeconds } from "./table";
import { seconds } from "./units";

export interface Setting extends Omit<RunShape, "cells"> {
  profile: Profile;
  /** null: the profile alone. */
  card: Card | null;
  dtype: string;
  side: number;
}
export interface Predicted {
  way: Way;
  run: Prediction;
  /** At both ends of what is assumed; null where nothing is. */
  ends: { best: Prediction; worst: Prediction } | null;
}

export const shapeOf = (setting: Setting, side = setting.side): RunShape => ({
  cells: side * side,
  iterations: setting.iterations,
  every: setting.every,
  roundTrips: setting.roundTrips,
});

export const waysOf = ({ profile, card, dtype }: Setting): Way[] => [
  ...profile.ways.filter((way) => way.dtype === dtype),
  ...(card === null ? [] : assumedWays(card, dtype)),
];

export function predictWay(way: Way, shape: RunShape): Predicted {
  const ends = way.assumed && {
    best: predict(way.assumed.best, shape),
    worst: predict(way.assumed.worst, shape),
  };
  return { way, run: predict(way, shape), ends: ends ?? null };
}

export const predictAll = (setting: Setting): Predicted[] =>
  waysOf(setting)
    .map((way) => predictWay(way, shapeOf(setting)))
    .sort((a, b) => a.run.warm - b.run.warm);

/** Measured warm runs by this setting's iterations, type and machine, at any grid. */
export function measuredRuns(files: ResultFile[], setting: Setting): { row: Row; side: number }[] {
  if (setting.every > 0) return [];
  return files
    .filter((file) => {
      const get = (name: string) => text(file.context, name);
      const machine = `${get("cpu_model")}, ${get("usable_cpus")} usable CPUs; CUDA: ${get("cuda")}`;
      return machine === setting.profile.machine;
    })
    .flatMap(readRows)
    .filter(
      ({ row, dtype, iterations, boundary }) =>
        dtype === setting.dtype &&
        iterations === setting.iterations &&
        boundary === "periodic" &&
        staysInPlace(row) &&
        row.warm !== null,
    )
    .map(({ row, side }) => ({ row, side }));
}

/** Of bench/results/: profiles that come with every page. */
const recorded: unknown[] = Object.values(
  import.meta.glob("../../../bench/results/*-profile.json", { eager: true, import: "default" }),
);

/** Those of the files first. */
export function profilesOf(files: ResultFile[]): Profile[] {
  const shipped = recorded.map((json, index) =>
    readResultFile({ ...(json as object), file: `recorded profile ${index + 1}` }),
  );
  return [...files, ...shipped].flatMap((file) => readProfile(file) ?? []);
}

export const stepsText = (every: number) => (every === 1 ? "step" : `${every} steps`);

/** "1.20 ms to 4.10 ms", or one figure where both read alike. */
export function fromTo(low: number, high: number): string {
  const [from, to] = [seconds(low), seconds(high)];
  return from === to ? from : `${from} to ${to}`;
}

export const spanOf = ({ run, ends }: Predicted, kind: "warm" | "cold" = "warm"): string =>
  ends === null ? seconds(run[kind]) : fromTo(ends.best[kind], ends.worst[kind]);

function aboutCopies({ every, roundTrips, iterations }: Setting): string {
  if (every === 0 || every > iterations) return "";
  return roundTrips
    ? `, on a GPU a round trip of the field every ${stepsText(every)}`
    : `, a copy to the host every ${stepsText(every)}`;
}

function beyondRecord(setting: Setting, { way, run }: Predicted): string {
  const beyond = run.beyond.length > 0 ? ` EXTRAPOLATED: ${run.beyond.join("; ")}.` : "";
  if (way.assumed !== undefined) return beyond;
  const longest = longestCall(way, setting.side ** 2);
  const visits = visitsOf(way, shapeOf(setting));
  const call = visits > 0 ? setting.every : setting.iterations;
  return (
    beyond +
    (call > longest
      ? ` The longest recorded call is of ${longest} steps; further steps are assumed to cost what its last ones did.`
      : "")
  );
}

function aboutRecordedGpu(all: Predicted[], card: Card | null): string {
  const gpu = all.find(({ way }) => way.device !== "cpu" && way.assumed === undefined);
  if (gpu === undefined)
    return ` No GPU was recorded in this profile${card === null ? ", so nothing is said about one" : ""}.`;
  return gpu === all[0]
    ? ""
    : ` The best on the GPU, ${gpu.way.backend}, takes ${seconds(gpu.run.warm)}.`;
}

function aboutCard(all: Predicted[], card: Card | null): string {
  const assumed = all.find(({ ends }) => ends !== null);
  if (card === null || assumed?.ends == null) return "";
  const { best, worst } = assumed.ends;
  const cpu = all.find(({ way }) => way.device === "cpu");
  const rival =
    cpu === undefined ? "" : `; ${cpu.way.backend} on the CPU takes ${seconds(cpu.run.warm)}`;
  const open = cpu !== undefined && best.warm < cpu.run.warm && cpu.run.warm < worst.warm;
  const takes =
    assumed === all[0] ? "" : `; assumed, it takes ${spanOf(assumed)} (${assumed.way.backend})`;
  return (
    ` The ${card.short} was not measured${takes}${rival}.` +
    (open ? " The assumed figures leave open which is faster." : "")
  );
}

export const sentence = (setting: Setting, all: Predicted[]): string =>
  concluded(setting.profile, findingOf(setting, all));

function findingOf(setting: Setting, all: Predicted[]): string {
  const best = all[0];
  if (best === undefined) return "The profile has nothing of this type.";
  const { side, iterations, dtype, card } = setting;
  return (
    `Predicted, not measured: ${card === null ? "" : "at the middle of the assumed range, "}` +
    `${best.way.backend} is the fastest for ${side}x${side} ${dtype}, ` +
    `${iterations} iteration${iterations === 1 ? "" : "s"}${aboutCopies(setting)}: ${spanOf(best)} warm, ${spanOf(best, "cold")} cold.` +
    beyondRecord(setting, best) +
    aboutRecordedGpu(all, card) +
    aboutCard(all, card)
  );
}

export const partsOfRun: [string, string, (run: Prediction) => number][] = [
  ["copy in", "h2d", (run) => run.copyIn],
  ["steps", "compute", (run) => run.steps],
  ["copies on the way", "sync", (run) => run.visits],
  ["copy out", "d2h", (run) => run.copyOut],
];

/** Those whose bars can stand beside each other: what is much slower would make the rest a line. */
export const comparable = (all: Predicted[]) =>
  all.filter(({ run }) => run.warm <= 30 * all[0]!.run.warm);

export function columnsOf(all: Predicted[]): Column<Predicted>[] {
  const assumed = all.some(({ ends }) => ends !== null);
  return [
    { name: "backend", of: ({ way }) => way.backend },
    {
      name: "device",
      of: ({ way }) => (way.assumed === undefined ? way.device : `${way.device}, assumed`),
    },
    inSeconds("warm run, predicted", ({ run }) => run.warm),
    inSeconds("cold run, predicted", ({ run }) => run.cold),
    inSeconds("set-up", ({ run }) => run.setup),
    ...partsOfRun.map(([name, , part]) => inSeconds(name, ({ run }: Predicted) => part(run))),
    { name: "beyond the record", of: ({ run }) => run.beyond.join("; ") },
    ...(["best", "worst"] as const)
      .filter(() => assumed)
      .map((end) =>
        inSeconds(`warm, assumed ${end}`, ({ ends }: Predicted) => ends?.[end].warm ?? null),
      ),
  ];
}
