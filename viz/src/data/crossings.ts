// SPDX-License-Identifier: Apache-2.0
// The crossings that a sweep computed: where along an axis one row begins to beat another.
import { at, flag, list, num, readable, text, word, type Json } from "./json";
import type * as schema from "./result_schema";
import type { Row } from "./results";
import { figure, shortened } from "./units";

export type Measure = schema.Crossing["measure"];
export const measures: Record<Measure, { name: string; secondsOf: (row: Row) => number | null }> = {
  step: { name: "a step, all in place", secondsOf: (row) => row.seconds },
  "warm run": { name: "a warm run", secondsOf: (row) => row.warm?.wall ?? null },
  "cold run": { name: "a cold run", secondsOf: (row) => row.cold?.wall ?? null },
};
export const along: Record<schema.Crossing["along"], { name: string; axis: string; last: string }> =
  {
    grid: { name: "grid", axis: "side of the grid (cells)", last: "the largest grid" },
    iters: { name: "iterations", axis: "iterations", last: "the most iterations" },
  };
export type Along = keyof typeof along;
const wins: Record<schema.Crossing["wins"], number | null> = {
  everywhere: 0,
  from: null,
  nowhere: Infinity,
};
export interface Crossing {
  along: Along;
  at: Record<string, string>;
  measure: Measure;
  champion: string;
  challenger: string;
  /** They are the best rows of CPU and GPU, whichever those are, and no names of rows. */
  devices: boolean;
  /** Where the challenger begins to win: 0 where it wins everywhere, Infinity where nowhere. */
  from: number;
  /** The interval of `from`, with the same two special values. */
  low: number;
  high: number;
  /** false: they change places more than once, and `from` is the last of those places. */
  single: boolean;
}

export function crossingsOf(data: Json): Crossing[] {
  return list(data, "crossovers").flatMap((crossing) => {
    const axis = word(crossing, along, "along");
    const measure = word(crossing, measures, "measure");
    const where = word(crossing, wins, "wins");
    if (axis === null || measure === null || where === null) return [];
    // JSON has no infinity: null stands for it.
    const size = (end: "from" | "low" | "high") => num(crossing, end) ?? Infinity;
    return [
      {
        along: axis,
        at: Object.fromEntries(
          Object.entries(at(crossing, "at") ?? {}).map(([name, value]) => [
            readable(name),
            readable(String(value)),
          ]),
        ),
        measure,
        champion: text(crossing, "champion"),
        challenger: text(crossing, "challenger"),
        devices: flag(crossing, "devices") === true,
        from: wins[where] ?? size("from"),
        low: size("low"),
        high: size("high"),
        single: flag(crossing, "single") !== false,
      },
    ];
  });
}

export const same = (a: Record<string, string>, b: Record<string, string>) =>
  Object.entries(a).every(([name, value]) => b[name] === value);

/** It lies within what was measured. */
export const crosses = (crossing: Crossing | undefined): boolean =>
  crossing !== undefined && crossing.from > 0 && crossing.from < Infinity;

/** "3.2 to 5.9", "at least 89" where its end is open; "" where it has none. */
export function intervalText({ low, high }: Crossing): string {
  const open = [low === 0, !Number.isFinite(high)];
  if (low === high) return "";
  if (open[0] && open[1]) return "not settled";
  if (open[0]) return `at most ${figure(high)}`;
  return open[1] ? `at least ${figure(low)}` : `${figure(low)} to ${figure(high)}`;
}

export const sizeText = (size: number) =>
  size === 0 ? "everywhere" : Number.isFinite(size) ? figure(size) : "nowhere";

export function crossingText(crossing: Crossing): string {
  const { from, single } = crossing;
  const [challenger, champion] = [crossing.challenger, crossing.champion].map((name) =>
    shortened(name),
  );
  const where =
    crossing.along === "grid" ? `a grid side of ${figure(from)}` : `${figure(from)} iterations`;
  const told = crosses(crossing)
    ? `${challenger} starts to beat ${champion} at ${where}`
    : from === 0
      ? `${challenger} beats ${champion} everywhere in the sweep`
      : `${challenger} does not beat ${champion} at ${along[crossing.along].last} of the sweep`;
  const interval = intervalText(crossing);
  return (
    told +
    (interval === "" ? "" : ` (interval ${interval})`) +
    (single ? "" : "; they change places more than once")
  );
}
