// SPDX-License-Identifier: Apache-2.0
// From when on a GPU pays, in sentences: from which grid, warm and cold, and with how few copies. What was
// measured is said first, then what the profile of a machine predicts, then what is assumed of a card.
import { assumedWays, type Card } from "./assumed";
import { concludes } from "./conclusion";
import { type Crossing, crossingsOf, intervalText, measures, same } from "./crossings";
import { at, list, num, readable, text } from "./json";
import { predict, type Prediction, type Profile, type RunShape, type Way } from "./model";
import { type ResultFile, type Row, staysInPlace } from "./results";
import { profilesOf, stepsText } from "./scenario";
import { figure, shortened } from "./units";

const rough = (value: number) => String(Number(value.toPrecision(2)));
const fromTo = (low: number, high: number) =>
  rough(low) === rough(high) ? rough(low) : `${rough(low)} to ${rough(high)}`;
const listed = (parts: string[]) =>
  parts.length < 2 ? parts.join() : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;

interface Found {
  /** It is of a GPU that was measured. */
  gpu: boolean;
  sentence: string;
}

// --- a sweep

const deviceIn = (sweep: ResultFile, name: string) =>
  list(sweep.data, "points")
    .flatMap((point) => list(at(point, "result"), "results"))
    .map((row) => [text(row, "backend"), text(row, "device")])
    .find(([backend]) => backend === name)?.[1];

function crossingPlace(crossing: Crossing): string {
  const { from, along: axis, measure } = crossing;
  const unit = axis === "grid" ? "a grid side of " : "";
  const steps = axis === "grid" ? "" : " iterations";
  const interval = intervalText(crossing);
  const span = interval === "" ? "" : ` (${interval})`;
  const place =
    from === 0
      ? axis === "grid"
        ? "on every grid"
        : "with any number of iterations"
      : Number.isFinite(from)
        ? `from ${unit}${figure(from)}${steps}${span}`
        : axis === "grid"
          ? "on no grid"
          : "with no number of iterations";
  return `${place} in ${measures[measure].name}`;
}

/** Of the crossings along an axis those at the last values of the others, and of those the runs, if any. */
function ofSweep(sweep: ResultFile): Found[] {
  const axes = at(sweep.data, "axes") ?? {};
  const last = Object.fromEntries(
    Object.keys(axes).map((name) => [
      readable(name),
      readable(String(list(axes, name).at(-1) ?? "")),
    ]),
  );
  const here = crossingsOf(sweep.data).filter((crossing) => same(crossing.at, last));
  const axis = (["grid", "iters"] as const).find((each) =>
    here.some((crossing) => crossing.along === each),
  );
  const told = here.filter((crossing) => crossing.along === axis);
  const runs = told.filter(({ measure }) => measure !== "step");
  const [first] = told;
  if (first === undefined) return [];
  const gpu = first.devices || deviceIn(sweep, first.challenger) === "cuda";
  const setting = Object.entries(first.at).map((each) => each.join(" "));
  const rows = first.devices
    ? "the best row of the GPU beats the best of the CPU"
    : `${shortened(first.challenger)}${gpu ? " on the GPU" : ""} beats ${shortened(first.champion)}`;
  const sentence =
    `Measured: ${rows} ` +
    listed((runs.length > 0 ? runs : told).map(crossingPlace)) +
    `${setting.length > 0 ? ` (${setting.join(", ")})` : ""}.`;
  return [{ gpu, sentence }];
}

// --- residency

/** With how few copies the field on a GPU beats the best row on the CPU; without a GPU what copies within the host cost. */
function ofResidency(file: ResultFile): Found[] {
  const timed = file.rows
    .filter((row) => row.verified === true && row.seconds !== null)
    .sort((a, b) => a.seconds! - b.seconds!);
  const cpu = timed.find((row) => row.device === "cpu" && staysInPlace(row));
  const trips = timed
    .filter((row) => row.roundtripEvery !== null)
    .sort((a, b) => a.roundtripEvery! - b.roundtripEvery!);
  if (cpu === undefined || trips.length === 0) return [];
  const onGpu = trips.filter((row) => row.device === "cuda");
  if (onGpu.length === 0) return [{ gpu: false, sentence: withinHost(trips) }];
  const paying = onGpu.find((row) => beats(row, cpu));
  const sentence =
    paying === undefined
      ? `Measured: no GPU beats ${shortened(cpu.name)} where the field goes to the host and back every ${stepsText(onGpu.at(-1)!.roundtripEvery!)} or more often.`
      : `Measured: ${shortened(paying.kernel)} on the GPU beats ${shortened(cpu.name)} where the field goes to the host and back every ${stepsText(paying.roundtripEvery!)} or more rarely.`;
  return [{ gpu: true, sentence }];
}

/** Beyond the intervals of both. */
const beats = ({ interval: a }: Row, { interval: b }: Row) =>
  a !== null && b !== null && a.high < b.low;

function withinHost(trips: Row[]): string {
  const ratio = (row: Row) => num(row.json, "times_resident") ?? NaN;
  const often = trips[0]!;
  const cheap = trips.find((row) => ratio(row) <= 1.1);
  return (
    `Measured without a GPU: a copy of the field within the host every ${stepsText(often.roundtripEvery!)} makes a step ${figure(ratio(often))} times as long` +
    (cheap === undefined
      ? "."
      : `; every ${stepsText(cheap.roundtripEvery!)} it costs a tenth at most.`)
  );
}

// --- a profile, and a card

const sides = Array.from({ length: 81 }, (_each, index) => 16 * 2 ** (index / 8)); // to 16384
const periods = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

type Kind = "warm" | "cold";
const best = (ways: Way[], shape: RunShape, kind: Kind): number =>
  Math.min(...ways.map((way) => withinRecord(predict(way, shape))[kind]));
/** What lies beyond the record, or a card's memory, is no time. */
const withinRecord = (run: Prediction) =>
  run.beyond.length > 0 ? { warm: Infinity, cold: Infinity } : run;

/** The first value from which on `faster` holds to the end; null: it does not at the end. */
function from(values: number[], faster: (value: number) => boolean): number | null {
  const last = values.map(faster).lastIndexOf(false);
  return values[last + 1] ?? null;
}

interface Rivals {
  cpus: Way[];
  /** At the best and at the worst of what is known of them. */
  gpus: [Way[], Way[]];
}

function gridsOf({ cpus, gpus }: Rivals, iterations: number, kind: Kind): string {
  const shape = (side: number): RunShape => ({
    cells: side * side,
    iterations,
    every: 0,
    roundTrips: false,
  });
  const known = sides.filter(
    (side) =>
      best(cpus, shape(side), kind) < Infinity && best(gpus[1], shape(side), kind) < Infinity,
  );
  const [low, high] = gpus.map((ways) =>
    from(known, (side) => best(ways, shape(side), kind) < best(cpus, shape(side), kind)),
  ) as [number | null, number | null];
  const run = `in a ${kind} run`;
  const largest = rough(known.at(-1) ?? NaN);
  if (low === null) return `${run} on no grid up to ${largest}`;
  if (high === null) return `${run} from a grid side of ${rough(low)} at best`;
  if (low === known[0] && high === known[0]) return `${run} on every grid`;
  return `${run} from a grid side of ${fromTo(low, high)}`;
}

function periodOf({ cpus, gpus }: Rivals, iterations: number, side: number): string | null {
  const shape = (every: number): RunShape => ({
    cells: side * side,
    iterations,
    every,
    roundTrips: true,
  });
  const cpu = best(cpus, shape(0), "warm");
  const able = periods.filter((every) => every <= iterations);
  const [low, high] = gpus.map((ways) =>
    from(able, (every) => best(ways, shape(every), "warm") < cpu),
  );
  if (low == null || high == null || cpu === Infinity) return null;
  const often = low === high ? stepsText(low) : `${low} to ${stepsText(high)}`;
  return `at ${side}x${side} with a round trip of the field every ${often} or more rarely`;
}

export interface Asked {
  dtype: string;
  iterations: number;
  side: number;
}

const known = (profile: Profile, dtype: string) =>
  profile.ways.filter((way) => way.dtype === dtype);

function ofProfile(profile: Profile, card: Card | null, asked: Asked): string[] {
  const { dtype, iterations, side } = asked;
  const cpus = known(profile, dtype).filter(({ device }) => device === "cpu");
  const recorded = known(profile, dtype).filter(({ device }) => device === "cuda");
  const assumed = card === null ? [] : assumedWays(card, dtype);
  const ends = (end: "best" | "worst") => assumed.map((way) => way.assumed![end]);
  const gpus: Rivals["gpus"] =
    recorded.length > 0 ? [recorded, recorded] : [ends("best"), ends("worst")];
  if (cpus.length === 0 || gpus[0].length === 0) return [];
  const largest = assumed[0]?.assumed?.largest ?? Infinity;
  const rivals = { cpus, gpus };
  const parts = [
    gridsOf(rivals, iterations, "warm"),
    gridsOf(rivals, iterations, "cold"),
    side <= largest ? periodOf(rivals, iterations, side) : null,
  ].filter((part) => part !== null);
  const who =
    recorded.length > 0
      ? `Predicted: the GPU of ${profile.source} beats its CPU`
      : `Assumed: an ${card!.short} beats the CPU of ${profile.source}`;
  return [`${who} ${listed(parts)}, in ${iterations} ${dtype} iterations.`];
}

/** What lesson 1 runs, where the page has no run of its own. */
export const usualRun: Asked = { dtype: "float32", iterations: 1000, side: 640 };

/** What may be concluded, one sentence a source; empty where the page has nothing of it. */
export function whenOf(files: ResultFile[], card: Card | null, asked: Asked): string[] {
  const of = (experiment: ResultFile["experiment"]) =>
    files.filter((file) => file.experiment === experiment && concludes(file));
  // Two rows of the CPU say nothing of a GPU.
  const sweeps = of("sweep")
    .flatMap(ofSweep)
    .filter(({ gpu }) => gpu)
    .slice(0, 1);
  const copies = of("residency").flatMap(ofResidency).slice(0, 1);
  const told = files.some(({ experiment }) =>
    ["comparison", "residency", "sweep", "calibrate", "advise"].includes(experiment),
  );
  const profile = told ? profilesOf(files).find(concludes) : undefined;
  const predicted = profile === undefined ? [] : ofProfile(profile, card, asked);
  const measured = [...sweeps, ...copies];
  return [
    ...(card === null && measured.some(({ gpu }) => gpu) ? [] : predicted),
    ...measured.map(({ sentence }) => sentence),
  ];
}
