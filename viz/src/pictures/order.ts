// SPDX-License-Identifier: Apache-2.0
// Whether it is settled which row is the fastest. A sentence that names one says so, and why not.
import { shortened } from "../data/units";
import type { Timed } from "./choice";

/** The interval of the median of a step, on the scale of the time that is drawn; null without one. */
function intervalOf({ row, seconds }: Timed): { low: number; high: number } | null {
  if (row.interval === null || row.seconds === null) return null;
  const scale = seconds / row.seconds;
  return { low: scale * row.interval.low, high: scale * row.interval.high };
}

/** A row without an interval is told apart from nothing. */
export function apart(faster: Timed, slower: Timed): boolean {
  const [a, b] = [intervalOf(faster), intervalOf(slower)];
  return a !== null && b !== null && a.high < b.low;
}

const listed = (rows: Timed[]) =>
  [
    ...rows.slice(0, 2).map(({ row }) => shortened(row.name)),
    ...(rows.length > 2 ? [`${rows.length - 2} more`] : []),
  ].join(" and ");

/** Of all verified rows from fast to slow: why the first need not be the fastest; "" where it is. */
export function doubt(ranked: Timed[]): string {
  const [first, ...others] = ranked;
  if (first === undefined || others.length === 0) return "";
  const name = shortened(first.row.name);
  if (first.row.interval === null) return `${name} has too few samples for an interval`;
  const rivals = others.filter((each) => !apart(first, each));
  const meeting = rivals.filter(({ row }) => row.interval !== null);
  if (meeting.length > 0) return `the interval of ${name} overlaps with that of ${listed(meeting)}`;
  return rivals.length === 0 ? "" : `too few samples for an interval of ${listed(rivals)}`;
}

/** The same of cold runs: how far they scatter nobody knows, so those within a tenth are not told apart. */
export function doubtOfCold(ranked: Timed[]): string {
  const [first, ...others] = ranked;
  if (first === undefined || others.length === 0) return "";
  const rivals = others.filter(({ seconds }) => !(seconds > 1.1 * first.seconds));
  return rivals.length === 0
    ? ""
    : `cold runs have no interval, and that of ${listed(rivals)} is within a tenth`;
}
