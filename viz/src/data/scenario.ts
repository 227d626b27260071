// SPDX-License-Identifier: Apache-2.0
// What a recorded profile says about one run, and beside it what is assumed of a card that nobody measured.
import {
  predict,
  type Prediction,
  type Profile,
  readProfile,
  type RunShape,
  type Way,
} from "./model";
import { readResultFile, type ResultFile } from "./results";
import { seconds } from "./units";

export interface Predicted {
  way: Way;
  run: Prediction;
  /** At both ends of what is assumed; null where nothing is. */
  ends: { best: Prediction; worst: Prediction } | null;
}

export function predictWay(way: Way, shape: RunShape): Predicted {
  const ends = way.assumed && {
    best: predict(way.assumed.best, shape),
    worst: predict(way.assumed.worst, shape),
  };
  return { way, run: predict(way, shape), ends: ends ?? null };
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
