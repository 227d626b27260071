// SPDX-License-Identifier: Apache-2.0
// Timing with a browser's clock, which is coarse on purpose: batches long enough for its steps.

/** Seconds an operation: the median of some batches, the fastest and the slowest of them. */
export interface Spread {
  median: number;
  low: number;
  high: number;
  batches: number;
  /** Operations in each batch. */
  operations: number;
}

export const now = () => performance.now() / 1000;

/** The smallest step of the clock, in seconds, of those seen within a frame or so. */
export function clockTick(): number {
  let smallest = Infinity;
  const begin = now();
  for (let last = begin, seen = 0; seen < 50 && last - begin < 0.03;) {
    const here = now();
    if (here > last) {
      smallest = Math.min(smallest, here - last);
      last = here;
      ++seen;
    }
  }
  return smallest;
}

export const shortestBatch = 0.03;
export const longestBatch = 1;
export const ticksOfBatch = 50;
export const batches = 5;

/** How long a batch must last: each of its ends errs by a tick of the clock. */
export const batchSeconds = (tick: number) =>
  Math.min(longestBatch, Math.max(shortestBatch, ticksOfBatch * tick));

/**
 * `batch` does so many operations and returns the seconds that they took. It is called with more of
 * them until they last long enough, then for the batches that count; `between` before each.
 */
export async function timeOf(
  batch: (operations: number) => Promise<number>,
  tick: number,
  between: () => Promise<void>,
): Promise<Spread> {
  const enough = batchSeconds(tick);
  let operations = 1;
  for (let took = 0; ; operations *= took > enough / 8 ? 2 : 8) {
    await between();
    took = await batch(operations);
    if (took >= enough) break;
  }
  const samples: number[] = [];
  while (samples.length < batches) {
    await between();
    samples.push((await batch(operations)) / operations);
  }
  samples.sort((a, b) => a - b);
  return {
    median: samples[(batches - 1) / 2]!,
    low: samples[0]!,
    high: samples[batches - 1]!,
    batches,
    operations,
  };
}

/** The seconds until what `act` does is done. */
export async function lasting(act: () => Promise<void> | void): Promise<number> {
  const begin = now();
  await act();
  return now() - begin;
}
