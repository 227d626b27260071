// SPDX-License-Identifier: Apache-2.0
// What every way to solve the problem is to the card, and how long work is cut into pieces between which the
// page reacts.
import { now } from "./clock";

export interface Solver {
  /** Brings the field there; the steps before are forgotten. */
  upload(cells: Float32Array): Promise<void> | void;
  /** Done when the promise is. Seconds that it took, without the pauses; of one that makes none, nothing. */
  advance(steps: number): Promise<number | void>;
  /** The field as it is, in memory of its own. */
  download(): Promise<Float32Array<ArrayBuffer>>;
}

/** Lets the page react, and paint. (setTimeout waits 4 ms each time when it is called in turns.) */
export function breathe(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** Work for so long, then a pause: a frame is late by that at most. */
const pieceSeconds = 0.02;
let resumed = 0;

/** Seconds of a pause, where one is due. */
async function pauseIfDue(): Promise<number> {
  const begin = now();
  if (begin - resumed < pieceSeconds) return 0;
  await breathe();
  resumed = now();
  return resumed - begin;
}

/**
 * `work` does `count` things, from one to before another, in pieces as large as fit. Seconds that it took
 * without the pauses.
 */
export async function inPieces(
  count: number,
  work: (from: number, to: number) => void,
): Promise<number> {
  const begin = now();
  let [paused, size] = [0, 1];
  for (let from = 0; from < count;) {
    const to = Math.min(count, from + size);
    const start = now();
    work(from, to);
    const took = now() - start;
    from = to;
    // Of a coarse clock a piece may take nothing: at most four times as much next time.
    const fitting = took > 0 ? (pieceSeconds / 2 / took) * size : Infinity;
    size = Math.max(1, Math.floor(Math.min(4 * size, fitting)));
    paused += await pauseIfDue();
  }
  return now() - begin - paused;
}
