// SPDX-License-Identifier: Apache-2.0
// The proof of what a picture shows, in a line.
import type { Row } from "../data/results";
import { shortened } from "../data/units";

/** `rows` are those of the table. */
export function verificationOfRows(rows: Row[]): string {
  const proved = rows.filter((row) => row.verified === true);
  if (rows.length === 0) return "";
  if (proved.length === rows.length)
    return `${rows.length} of ${rows.length} timed rows verified: bit for bit the field of the reference (a scalar loop in NumPy's order of operations).`;
  const others = rows.filter((row) => row.verified !== true).map((row) => row.name);
  return `${proved.length} of ${rows.length} timed rows verified. Not verified: ${others.map((name) => shortened(name)).join(", ")}.`;
}
