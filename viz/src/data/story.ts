// SPDX-License-Identifier: Apache-2.0
// The story that a page begins with: one run on the CPU, and the same on a GPU whose field travels every
// step, stays where it is, or is begun cold. Where no GPU was measured, the row of residency that stands in
// for one, and beside it what is assumed of a card; of that nothing is measured, and each part says so.
import {
  assumedWay,
  type Card,
  contextSeconds,
  type Kind,
  markOf,
  naiveKind,
  pinnedKind,
} from "./assumed";
import { concluded } from "./conclusion";
import { list, num, positive, text } from "./json";
import { type Prediction, type RunShape, visitsOf } from "./model";
import {
  comparisonOf,
  type PhaseName,
  phaseNames,
  type Phases,
  problemText,
  type ResultFile,
  type Row,
  staysInPlace,
} from "./results";
import { fromTo, predictWay, stepsText } from "./scenario";
import { figure, shortened } from "./units";

export type Part = PhaseName | "unexplained" | "not divided";
export const storyParts: Part[] = [...phaseNames, "unexplained", "not divided"];

export interface Bar {
  role: string;
  /** The role within a sentence. */
  phrase: string;
  /** The row, or what is assumed. */
  name: string;
  seconds: number;
  parts: Partial<Record<Part, number>>;
  /** null: assumed. */
  row: Row | null;
  /** Both ends of what is assumed. */
  ends: [number, number] | null;
}
export interface Story {
  file: ResultFile;
  measured: Bar[];
  /** Whether a GPU is among them. */
  gpu: boolean;
  /** Parts of the story that the file has no row for, with the reason. */
  missing: [string, string][];
}

const partsOf = (phases: Phases): Bar["parts"] =>
  Object.fromEntries(
    [...phaseNames, "unexplained" as const].flatMap((part) => {
      const length = part === "unexplained" ? phases.unexplained : phases.parts[part];
      return length === null ? [] : [[part, length]];
    }),
  );

type Role = Pick<Bar, "role" | "phrase">;
const bestOnCpu: Role = { role: "best on the CPU", phrase: "on the CPU" };
const copying = (every: number): Role => ({
  role: `naive port, copies every ${stepsText(every)}`,
  phrase: `with copies every ${stepsText(every)}`,
});
const inHost = (every: number): Role => ({
  role: `no GPU: copies in the host every ${stepsText(every)}`,
  phrase: `with copies in the host every ${stepsText(every)}`,
});
const staying: Role = { role: "field stays on the card", phrase: "where the field stays on it" };
const begunCold: Role = {
  role: "cold run, with everything",
  phrase: "begun cold",
};

const barOf = (role: Role, row: Row, phases: Phases): Bar => ({
  ...role,
  name: row.name,
  row,
  ends: null,
  seconds: phases.wall,
  parts: partsOf(phases),
});

/** Of a file without a warm run of the row, as where the budget was too short, its steps alone. */
function warmBar(role: Role, row: Row, iterations: number): Bar {
  if (row.warm !== null) return barOf(role, row, row.warm);
  const steps = (row.seconds ?? NaN) * iterations;
  return {
    ...role,
    name: row.name,
    row,
    ends: null,
    seconds: steps,
    parts: { "not divided": steps },
  };
}

/**
 * A port that copies as often as any, and the same backend with a field that stays; of several backends the
 * one that is fastest so, and of several such ports the slowest.
 */
function portOf(rows: Row[], timeOf: (row: Row) => number): { naive?: Row; resident?: Row } {
  const ranked = [...rows].sort((a, b) => timeOf(a) - timeOf(b));
  const trips = ranked.filter(({ roundtripEvery }) => roundtripEvery !== null);
  const often = Math.min(...trips.map(({ roundtripEvery }) => roundtripEvery!));
  const naives = trips.filter(({ roundtripEvery }) => roundtripEvery === often);
  const residents = ranked.filter(staysInPlace);
  const paired = residents.find((row) => naives.some((each) => each.kernel === row.kernel));
  const resident = paired ?? residents[0];
  const own = naives.filter((row) => paired === undefined || row.kernel === paired.kernel);
  const naive = own.at(-1);
  return { ...(naive && { naive }), ...(resident && { resident }) };
}

function told(file: ResultFile): Story | null {
  const iterations = positive(file.problem, "iterations");
  const known = ["nx", "ny"].every((side) => positive(file.problem, side) !== null);
  if (iterations === null || !known) return null;
  const timeOf = (row: Row) => row.warm?.wall ?? (row.seconds ?? NaN) * iterations;
  const timed = file.rows.filter((row) => row.verified === true && Number.isFinite(timeOf(row)));
  const fastest = (rows: Row[]) => [...rows].sort((a, b) => timeOf(a) - timeOf(b))[0];
  const cpu = fastest(timed.filter((row) => row.device === "cpu" && staysInPlace(row)));
  if (cpu === undefined) return null;
  const measured = [warmBar(bestOnCpu, cpu, iterations)];
  const missing: Story["missing"] = [];
  const needs = "the file has no timed row of it; diffbench residency measures one";

  const gpus = timed.filter((row) => row.device === "cuda");
  const { naive, resident } = portOf(gpus, timeOf);
  if (gpus.length === 0) {
    const standIn = portOf(
      timed.filter((row) => text(row.json, "place") === "stand_in"),
      timeOf,
    ).naive;
    if (standIn === undefined) missing.push(["a stand-in for copies to a GPU", needs]);
    else measured.push(warmBar(inHost(standIn.roundtripEvery!), standIn, iterations));
    return { file, measured, gpu: false, missing };
  }
  if (naive === undefined) missing.push(["a naive port, whose field travels every step", needs]);
  else measured.push(warmBar(copying(naive.roundtripEvery!), naive, iterations));
  if (resident === undefined) missing.push(["a field that stays on the card", needs]);
  else {
    measured.push(warmBar(staying, resident, iterations));
    if (resident.cold !== null) measured.push(barOf(begunCold, resident, resident.cold));
    else missing.push(["a cold run", `the file has none of ${resident.name}`]);
  }
  return { file, measured, gpu: true, missing };
}

/** Of a sweep its last point, the largest. */
function comparisonsOf(file: ResultFile): ResultFile[] {
  if (file.experiment === "comparison" || file.experiment === "residency") return [file];
  const point = file.experiment === "sweep" ? list(file.data, "points").at(-1) : undefined;
  return point === undefined ? [] : [comparisonOf(file, point)];
}

/** Of the page's files the one that tells the most of it; null: none has a timed row of a solver. */
export function storyOf(files: ResultFile[]): Story | null {
  return [...files]
    .sort((a, b) => Number(a.experiment === "sweep") - Number(b.experiment === "sweep"))
    .flatMap(comparisonsOf)
    .flatMap((file) => told(file) ?? [])
    .reduce<Story | null>(
      (best, each) => (best === null || worth(each) > worth(best) ? each : best),
      null,
    );
}
const worth = ({ measured, gpu }: Story) => measured.length + (gpu ? 10 : 0);

/** The three bars of an assumed card; none where its memory may not hold the run. */
export function assumedBars({ file }: Story, card: Card): Bar[] {
  const dtype = text(file.problem, "dtype");
  const iterations = positive(file.problem, "iterations")!;
  const shape: RunShape = {
    cells: num(file.problem, "nx")! * num(file.problem, "ny")!,
    iterations,
    every: 1,
    roundTrips: true,
  };
  const assumed = ({ role, phrase }: Role, kind: Kind, every: number, cold: boolean): Bar[] => {
    const way = assumedWay(card, kind, dtype);
    const asked = { ...shape, every };
    const { run, ends } = predictWay(way, asked);
    if (run.beyond.length > 0) return [];
    const total = (each: Prediction) => (cold ? each.cold : each.warm);
    const trips = 1 + visitsOf(way, asked);
    const context = contextSeconds(card);
    const setUp = cold ? { context, pin: run.setup - context } : {};
    const copies = { h2d: trips * run.copyIn, d2h: trips * run.copyOut };
    const seconds = total(run);
    const known = Object.values({ ...setUp, ...copies }).reduce((sum, each) => sum + each, 0);
    return [
      {
        role: `assumed: ${role}`,
        phrase,
        name: way.backend,
        seconds,
        parts: { ...setUp, ...copies, compute: seconds - known },
        row: null,
        ends: [total(ends!.best), total(ends!.worst)],
      },
    ];
  };
  return [
    ...assumed(copying(1), naiveKind, 1, false),
    ...assumed(staying, pinnedKind, 0, false),
    ...assumed(begunCold, pinnedKind, 0, true),
  ];
}

export const lengthOf = ({ seconds, ends }: Bar): string =>
  fromTo(...(ends ?? ([seconds, seconds] as const)));

/** Single runs that differ by less than a tenth, or than the middle halves of their steps, decide nothing. */
function alike(a: Bar, b: Bar): boolean {
  const spread = ({ row }: Bar) =>
    row?.quartiles ? Math.log(row.quartiles.q3 / row.quartiles.q1) : 0;
  const apart = Math.abs(Math.log(a.seconds / b.seconds));
  return apart < Math.max(Math.log(1.1), spread(a), spread(b));
}

/** Assumed ones to two digits. */
function ratioText(low: number, high: number): string {
  const [from, to] = [low, high].map((value) => String(Number(value.toPrecision(2))));
  if (low === high) return figure(low);
  return from === to ? from! : `${from} to ${to}`;
}

/** How long it takes against the CPU's. */
function against(each: Bar, cpu: Bar): string {
  if (each.ends === null && alike(each, cpu)) return "about as long";
  const [low, high] = (each.ends ?? [each.seconds, each.seconds]).map(
    (end) => end / cpu.seconds,
  ) as [number, number];
  if (low >= 1) return `${ratioText(low, high)} times as long`;
  if (high <= 1) return `${ratioText(1 / high, 1 / low)} times as fast`;
  return "faster or slower: the assumed figures leave it open";
}

/** Where most of a run goes; copies in both directions are one thing. */
function mostlyOf({ parts, seconds: whole }: Bar): string {
  const { h2d = 0, d2h = 0, ...others } = parts;
  const [first] = Object.entries({ ...others, copies: h2d + d2h }).sort(([, a], [, b]) => b - a);
  const share = first === undefined ? 0 : Math.round((100 * first[1]) / whole);
  return share > 50 && first![0] !== "not divided" ? `, ${share} % ${first![0]}` : "";
}

export const sentenceOf = (story: Story, card: Card | null): string =>
  concluded(story.file, findingOf(story, card));

function findingOf(story: Story, card: Card | null): string {
  const [cpu, ...others] = story.measured as [Bar, ...Bar[]];
  const parts = (bars: Bar[]) =>
    bars
      .map((each) => `${lengthOf(each)} ${each.phrase} (${against(each, cpu)}${mostlyOf(each)})`)
      .join(", ");
  const onCpu = `${problemText(story.file)}: ${lengthOf(cpu)} on the CPU (${shortened(cpu.name)}${mostlyOf(cpu)})`;
  const gpus = [...new Set(others.map(({ row }) => shortened(row?.kernel ?? "")))].join(" and ");
  if (story.gpu) return `${onCpu}; on the GPU (${gpus}) ${parts(others)}.`;
  const measured = `${[onCpu, ...(others.length > 0 ? [parts(others)] : [])].join(", ")}. No GPU was measured`;
  if (card === null) return `${measured}.`;
  const assumed = assumedBars(story, card);
  return assumed.length === 0
    ? `${measured}, and the memory of the ${markOf(card)} may not hold this run.`
    : `${measured}; assumed, the ${card.short} takes ${parts(assumed)}.`;
}
