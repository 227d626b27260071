// SPDX-License-Identifier: Apache-2.0
// What a run costs, predicted from a profile (a file of `diffbench calibrate`): the same arithmetic
// as bench/model/cost_model.cpp; cost_model.hpp says what it assumes. A test of the page compares it with
// diffbench advise.
import { list, num, positive, text } from "./json";
import type * as schema from "./result_schema";
import type { ResultFile } from "./results";

export interface Call {
  steps: number;
  seconds: number;
}
export interface GridCost {
  side: number;
  threads: number;
  setup: number;
  copyIn: number;
  copyOut: number;
  calls: Call[];
}
export interface Way {
  backend: string;
  device: schema.Device | "";
  dtype: string;
  grids: GridCost[];
  /**
   * Of a card of which nothing is recorded: "assumed h200", the way at both ends of what is assumed, and the
   * side of the largest field that it surely holds.
   */
  assumed?: { card: string; best: Way; worst: Way; largest: number };
}
export interface Profile {
  machine: string;
  date: string;
  /** How copies to a device were made: "pageable", "pinned", ... */
  transfer: string;
  source: string;
  /** Other programs had CPU time while it was recorded. */
  disturbed: boolean;
  ways: Way[];
}

/** The run whose time is wanted. */
export interface RunShape {
  cells: number;
  iterations: number;
  /** Steps between two visits of the host; 0: none. */
  every: number;
  /** What a visit is: a copy to the host (false), or to the host and back, as in a naive port. */
  roundTrips: boolean;
}

export interface Prediction {
  setup: number;
  copyIn: number;
  steps: number;
  /** All copies on the way. */
  visits: number;
  copyOut: number;
  warm: number;
  cold: number;
  /** In what the run lies outside of what was recorded; empty: in nothing. */
  beyond: string[];
}

const ascending = (values: number[]) =>
  values.every((value, index) => index === 0 || value > values[index - 1]!);

function readGrid(json: unknown): GridCost | null {
  const calls = list(json, "calls").map((call) => ({
    steps: num(call, "steps") ?? NaN,
    seconds: num(call, "seconds") ?? NaN,
  }));
  const side = positive(json, "side");
  const [setup, copyIn, copyOut] = ["setup_seconds", "copy_in_seconds", "copy_out_seconds"].map(
    (name) => num(json, name),
  );
  const good =
    calls.length >= 2 &&
    calls[0]!.steps === 1 &&
    ascending(calls.map((call) => call.steps)) &&
    calls.every((call) => call.seconds >= 0);
  if (side === null || setup == null || copyIn == null || copyOut == null || !good) return null;
  return { side, threads: num(json, "threads") ?? 1, setup, copyIn, copyOut, calls };
}

/** null for a file that is no profile; what is broken in it is left out. */
export function readProfile(file: ResultFile): Profile | null {
  if (file.experiment !== "calibrate") return null;
  const ways = list(file.data, "ways").flatMap((json): Way[] => {
    const grids = list(json, "grids").map(readGrid);
    const whole = grids.filter((grid): grid is GridCost => grid !== null);
    if (
      whole.length === 0 ||
      whole.length < grids.length ||
      !ascending(whole.map((grid) => grid.side))
    )
      return [];
    return [
      {
        backend: text(json, "backend"),
        device: text(json, "device") as schema.Device | "",
        dtype: text(json, "dtype"),
        grids: whole,
      },
    ];
  });
  if (ways.length === 0) return null;
  return {
    machine: text(file.data, "machine"),
    date: text(file.context, "date"),
    transfer: text(file.data, "transfer"),
    source: file.name,
    disturbed: file.disturbed,
    ways,
  };
}

/** Seconds of so many steps in one call on that grid. */
export function stepsSeconds(grid: GridCost, steps: number): number {
  const { calls } = grid;
  const above = calls.findIndex((call) => call.steps >= steps);
  if (above === 0) return calls[0]!.seconds;
  const beyond = above < 0;
  const last = beyond ? calls.length - 1 : above;
  const [low, high] = [calls[Math.max(0, last - (beyond ? 2 : 1))]!, calls[last]!];
  const slope = Math.max(0, (high.seconds - low.seconds) / (high.steps - low.steps));
  return low.seconds + slope * (steps - low.steps);
}

const leastSeconds = 1e-9;

function atCells(way: Way, cells: number, part: (grid: GridCost) => number): number {
  const { grids } = way;
  const [first, last] = [grids[0]!, grids[grids.length - 1]!];
  const cellsOf = (grid: GridCost) => grid.side * grid.side;
  if (cells <= cellsOf(first)) return part(first);
  if (cells >= cellsOf(last)) return (part(last) * cells) / cellsOf(last);
  const index = grids.findIndex((grid) => cells < cellsOf(grid));
  const [below, above] = [grids[index - 1]!, grids[index]!];
  const fraction = Math.log(cells / cellsOf(below)) / Math.log(cellsOf(above) / cellsOf(below));
  const low = Math.log(Math.max(part(below), leastSeconds));
  const high = Math.log(Math.max(part(above), leastSeconds));
  return Math.exp(low + fraction * (high - low));
}

function firstRunStretches(iterations: number): number[] {
  const stretches = [1];
  let left = iterations - 1;
  for (const steps of [3, 12, 48]) {
    if (steps <= left) {
      stretches.push(steps);
      left -= steps;
    }
  }
  return left > 0 ? [...stretches, left] : stretches;
}

/** Whole visits of the host in a run of that way: a field on the CPU makes no round trips. */
export const visitsOf = ({ device }: Way, { iterations, every, roundTrips }: RunShape): number =>
  every > 0 && !(roundTrips && device === "cpu") ? Math.floor(iterations / every) : 0;

export function predict(way: Way, run: RunShape): Prediction {
  const { cells, iterations, every, roundTrips } = run;
  const copyIn = atCells(way, cells, (grid) => grid.copyIn);
  const copyOut = atCells(way, cells, (grid) => grid.copyOut);
  const setup = atCells(way, cells, (grid) => grid.setup);
  const call = (steps: number) => atCells(way, cells, (grid) => stepsSeconds(grid, steps));
  // Short calls were measured from the initial field on, where steps may be cheaper: stretches of a
  // run take no less than one call of all.
  const oneCall = call(iterations);
  const stretches = firstRunStretches(iterations).reduce((sum, steps) => sum + call(steps), 0);
  let first = Math.max(oneCall, stretches);
  let steps = oneCall;
  const count = visitsOf(way, run);
  const visits = count * (copyOut + (roundTrips ? copyIn : 0));
  if (count > 0) {
    const rest = iterations % every;
    steps = Math.max(oneCall, count * call(every) + (rest > 0 ? call(rest) : 0));
    first = Math.max(first, steps);
  }
  return {
    setup,
    copyIn,
    steps,
    visits,
    copyOut,
    warm: copyIn + steps + visits + copyOut,
    cold: setup + copyIn + first + visits + copyOut,
    beyond: beyondOf(way, cells),
  };
}

function beyondOf(way: Way, cells: number): string[] {
  const [first, last] = [way.grids[0]!, way.grids[way.grids.length - 1]!];
  if (way.assumed !== undefined) {
    const { card, largest } = way.assumed;
    return cells > largest ** 2
      ? [`the memory of the ${card} surely holds two fields of ${largest}x${largest} at most`]
      : [];
  }
  return [
    ...(cells > last.side ** 2 ? [`the largest recorded grid is ${last.side}x${last.side}`] : []),
    ...(cells < first.side ** 2
      ? [`the smallest recorded grid is ${first.side}x${first.side}`]
      : []),
  ];
}
