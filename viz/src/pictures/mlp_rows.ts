// SPDX-License-Identifier: Apache-2.0
// What the rows of all measurements of networks have in common: name, time, proof.
import { flag, num, positive, text, type Json } from "../data/json";
import { isEmulated } from "../data/results";
import { percent } from "../data/units";

export const timeOf = (row: Json, name: string) => (isEmulated(row) ? null : positive(row, name));
export const nameOf = (row: Json) => text(row, "row") || text(row, "engine") || "(no name)";
/** The same whatever the threads; it decides on the colour (ResultFile.names). */
export const engineOf = (row: Json) => text(row, "racer") || nameOf(row);

export function proofOf(row: Json): string {
  const ok = flag(row, "verified", "ok");
  if (ok === null) return "not verified";
  const share = num(row, "verified", "share_of_bound");
  return ok
    ? `within the bound of rounding${share === null ? "" : ` (${percent(share)} of it)`}`
    : "WRONG";
}

export function verification(rows: Json[]): string {
  const proved = rows.filter((row) => flag(row, "verified", "ok") === true).length;
  const small = rows.filter((row) => num(row, "verified", "small_nets", "count") !== null).length;
  const before = small > 0 ? `; ${small} of them had to be right on small nets first` : "";
  return `${proved} of ${rows.length} rows were verified against the reference engine, within the bound for rounding${before}.`;
}

/** Each name with why it has no time. */
export function withoutTime(rows: Json[]): [string, string][] {
  const reason = (row: Json) =>
    text(row, "reason") || (isEmulated(row) ? "emulated device: verified, never timed" : "no time");
  return [...new Map(rows.map((row) => [nameOf(row), reason(row)]))];
}
