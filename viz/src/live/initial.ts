// SPDX-License-Identifier: Apache-2.0
// The initial fields, to the bit those of the program (solver/src/initial.cpp).
import type { Setting } from "./setting";
import { inPieces } from "./solver";

/**
 * MT19937-64 (Nishimura, "Tables of 64-bit Mersenne twisters", ACM TOMACS 2000), which C++ calls
 * std::mt19937_64: the next 64 bits, as their upper and lower half. In halves, because the
 * arithmetic of BigInt takes several times as long; only seeding needs products of 64 bits.
 */
export function mersenneTwister(seed: bigint): () => [number, number] {
  const [size, middle] = [312, 156];
  const high = new Uint32Array(size);
  const low = new Uint32Array(size);
  let state = BigInt.asUintN(64, seed);
  for (let i = 0; i < size; ++i) {
    if (i > 0)
      state = BigInt.asUintN(64, 6364136223846793005n * (state ^ (state >> 62n)) + BigInt(i));
    high[i] = Number(state >> 32n);
    low[i] = Number(state & 0xffffffffn);
  }

  function twist(): void {
    for (let i = 0; i < size; ++i) {
      const next = (i + 1) % size;
      const other = (i + middle) % size;
      // The upper 33 bits of this word with the lower 31 of the next, moved down by one.
      const top = high[i]!;
      const bottom = (low[i]! & 0x80000000) | (low[next]! & 0x7fffffff);
      const odd = low[next]! & 1 ? 1 : 0;
      high[i] = high[other]! ^ (top >>> 1) ^ (odd * 0xb5026f5a);
      low[i] = low[other]! ^ ((top << 31) | (bottom >>> 1)) ^ (odd * 0xa96619e9);
    }
  }

  let index = size;
  return () => {
    if (index === size) {
      twist();
      index = 0;
    }
    let [top, bottom] = [high[index]!, low[index]!];
    ++index;
    // x ^= x >> 29, masked; x ^= x << 17, masked; x ^= x << 37, masked; x ^= x >> 43
    bottom ^= ((top << 3) | (bottom >>> 29)) & 0x55555555;
    top ^= (top >>> 29) & 0x55555555;
    top ^= ((top << 17) | (bottom >>> 15)) & 0x71d67fff;
    bottom ^= (bottom << 17) & 0xeda60000;
    top ^= (bottom << 5) & 0xfff7eee0;
    bottom ^= top >>> 11;
    return [top >>> 0, bottom >>> 0];
  };
}

function block(nx: number, ny: number): Float32Array<ArrayBuffer> {
  const cells = new Float32Array(nx * ny);
  // As Python's int(0.4 * n): a product of doubles, cut off.
  const [left, right] = [Math.trunc(0.4 * nx), Math.trunc(0.5 * nx)];
  for (let y = Math.trunc(0.4 * ny); y < Math.trunc(0.5 * ny); ++y)
    cells.fill(0.005, y * nx + left, y * nx + right);
  return cells;
}

/** Throws a RangeError when there is no memory for it. */
export async function initialField({ nx, ny, start }: Setting): Promise<Float32Array<ArrayBuffer>> {
  if (start === "block") return block(nx, ny);
  const next = mersenneTwister(1n); // the default of --seed
  const cells = new Float32Array(nx * ny);
  await inPieces(cells.length, (from, to) => {
    for (let cell = from; cell < to; ++cell) {
      const [top, bottom] = next();
      cells[cell] = (top * 2 ** 21 + (bottom >>> 11)) * 2 ** -53;
    }
  });
  return cells;
}
