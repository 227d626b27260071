// SPDX-License-Identifier: Apache-2.0
// What shows that a field is right: its digest where the bits must be the program's, and its
// distance to such a field where WGSL does not promise them.
import { inPieces } from "./solver";

/** The first 32 bits behind the point of the roots of the first primes (FIPS 180-4). */
const primes = Array.from({ length: 312 }, (_each, number) => number).filter(
  (number) =>
    number > 1 && !Array.from({ length: number }).some((_none, by) => by > 1 && number % by === 0),
);
const behindPoint = (value: number) => Math.floor((value % 1) * 2 ** 32) | 0;
const initialState = primes.slice(0, 8).map((prime) => behindPoint(Math.sqrt(prime)));
const roundConstants = Int32Array.from(primes, (prime) => behindPoint(Math.cbrt(prime)));

const schedule = new Int32Array(64);
/** The 16 words from `first` on into the state. */
function compress(state: Int32Array, words: Uint32Array, first: number): void {
  const w = schedule;
  for (let i = 0; i < 16; ++i) {
    const word = words[first + i]!; // of memory, where the lowest byte comes first
    w[i] = (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
  }
  for (let i = 16; i < 64; ++i) {
    const [x, y] = [w[i - 15]!, w[i - 2]!];
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as number[] as [
    ...[number, number, number, number],
    ...[number, number, number, number],
  ];
  for (let i = 0; i < 64; ++i) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + roundConstants[i]! + w[i]!) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((each, index) => (state[index]! += each));
}

/**
 * SHA-256 of the cells, row by row, as the program's field.sha256. The browser's own (crypto.subtle) copies a
 * field of 256 MiB at once, which stops the page for most of a second, and is not there for every page.
 */
export async function digestOf(field: Float32Array<ArrayBuffer>): Promise<string> {
  const words = new Uint32Array(field.buffer, field.byteOffset, field.length);
  const state = Int32Array.from(initialState);
  const blocks = Math.floor(words.length / 16);
  await inPieces(blocks, (from, to) => {
    for (let block = from; block < to; ++block) compress(state, words, 16 * block);
  });
  const rest = words.subarray(16 * blocks);
  const last = new Uint32Array(rest.length < 14 ? 16 : 32);
  last.set(rest);
  last[rest.length] = 0x80; // the lowest byte
  const length = new DataView(last.buffer, 4 * (last.length - 2));
  length.setBigUint64(0, 32n * BigInt(words.length));
  for (let first = 0; first < last.length; first += 16) compress(state, last, first);
  return [...state].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
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
