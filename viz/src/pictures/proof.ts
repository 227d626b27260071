// The proof of what a picture shows, in a line.
import type { Row } from "../data/results";

export function verificationOfRows(rows: Row[]): string {
  const proved = rows.filter((row) => row.verified === true);
  if (rows.length === 0) return "";
  if (proved.length === rows.length)
    return `All ${rows.length} rows shown have, bit for bit, the field of the reference (a scalar loop in NumPy's order of operations).`;
  const others = rows.filter((row) => row.verified !== true).map((row) => row.name);
  return `Verified: ${proved.length} of ${rows.length} rows shown. Not verified: ${others.join(", ")}.`;
}
