// What shows that a field is right: its digest where the bits must be the program's, and its
// distance to such a field where WGSL does not promise them.
import { inPieces } from "./solver";

/** SHA-256 of the cells, row by row, as the program's field.sha256; null where the browser has none. */
export async function digestOf(field: Float32Array<ArrayBuffer>): Promise<string | null> {
  // Pages that the browser does not trust (not from https or a file) have no crypto.subtle.
  if (crypto.subtle === undefined) return null;
  const digest = await crypto.subtle.digest("SHA-256", field);
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Also of NaN and of zeros: bits, not values. */
export async function sameBits(a: Float32Array, b: Float32Array): Promise<boolean> {
  const bits = (field: Float32Array) =>
    new Uint32Array(field.buffer, field.byteOffset, field.length);
  const [left, right] = [bits(a), bits(b)];
  let same = left.length === right.length;
  if (same)
    await inPieces(left.length, (from, to) => {
      for (let cell = from; cell < to; ++cell) if (left[cell] !== right[cell]) same = false;
    });
  return same;
}

/** Below it flushed denormals tell, so the last place means little; the difference itself is told. */
export const tiny = 2 ** -100;

export interface Distance {
  cells: number;
  nonfinite: number;
  /** Cells that are not equal. */
  differing: number;
  /** The most units in the last place, of cells that are not tiny in both fields. */
  ulps: number;
  /** Of those that are: how many differ, and the most. */
  tinyDiffering: number;
  tinyLargest: number;
  largest: number;
  /** What `largest` may be. */
  bound: number;
  right: boolean;
}

/** Numbers float32 values so that neighbours differ by one. */
const places = new Float32Array(1);
const placeBits = new Int32Array(places.buffer);
function placeOf(value: number): number {
  places[0] = value;
  const bits = placeBits[0]!;
  return bits < 0 ? -(bits & 0x7fffffff) : bits;
}

/**
 * An evaluation of a step errs by less than 2^-21 of the largest value (seven roundings, those of
 * the sum and the Laplacian times a factor of at most 1/4), and a stable step carries errors on
 * without growth; so two evaluations of it part by less than 2^-20 of that value a step.
 */
export async function distance(
  field: Float32Array,
  reference: Float32Array,
  steps: number,
  largestValue: number,
): Promise<Distance> {
  const found = {
    cells: reference.length,
    nonfinite: 0,
    differing: 0,
    ulps: 0,
    tinyDiffering: 0,
    tinyLargest: 0,
    largest: 0,
    bound: steps * largestValue * 2 ** -20,
  };
  const compare = (cell: number) => {
    const wanted = reference[cell]!;
    const value = field[cell] ?? NaN;
    if (!Number.isFinite(value)) ++found.nonfinite;
    if (value === wanted || !Number.isFinite(value)) return;
    const difference = Math.abs(value - wanted);
    ++found.differing;
    found.largest = Math.max(found.largest, difference);
    if (Math.abs(value) < tiny && Math.abs(wanted) < tiny) {
      ++found.tinyDiffering;
      found.tinyLargest = Math.max(found.tinyLargest, difference);
    } else found.ulps = Math.max(found.ulps, Math.abs(placeOf(value) - placeOf(wanted)));
  };
  await inPieces(reference.length, (from, to) => {
    for (let cell = from; cell < to; ++cell) compare(cell);
  });
  return {
    ...found,
    right:
      field.length === reference.length && found.nonfinite === 0 && found.largest <= found.bound,
  };
}
