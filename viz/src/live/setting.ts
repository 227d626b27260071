// SPDX-License-Identifier: Apache-2.0
// What the live card solves: the program's problem with dt = 0.1, D = 1, h = 1, in float32.

/** In the order of `ends_of` in solver/wasm/row_solver.cpp and of the codes in step.wgsl. */
export const boundaries = ["periodic", "dirichlet", "neumann"] as const;
export const starts = ["block", "random"] as const;

export interface Setting {
  nx: number;
  ny: number;
  steps: number;
  boundary: (typeof boundaries)[number];
  start: (typeof starts)[number];
}

export const usual: Setting = {
  nx: 640,
  ny: 640,
  steps: 1000,
  boundary: "periodic",
  start: "block",
};

/** dt D / h^2, rounded once. */
export const factor = Math.fround(0.1);
/** Cells outside the grid under dirichlet. */
export const outside = 0;

export const extentLimits = { low: 16, high: 16_384 };
export const stepLimits = { low: 1, high: 100_000 };

interface Limits {
  low: number;
  high: number;
}
const within = ({ low, high }: Limits, value: number) => value >= low && value <= high;

/** "640" or "800x600", as the program's --grid. Throws an Error (one line) for anything else. */
export function readGrid(typed: string): Pick<Setting, "nx" | "ny"> {
  const found = /^\s*(\d+)(?:x(\d+))?\s*$/i.exec(typed);
  const [nx, ny] = [Number(found?.[1]), Number(found?.[2] ?? found?.[1])];
  const { low, high } = extentLimits;
  if (!within(extentLimits, nx) || !within(extentLimits, ny))
    throw new Error(`Grid ${typed}: give N or NXxNY, whole numbers from ${low} to ${high}`);
  return { nx, ny };
}

export function readSteps(typed: string): number {
  const steps = /^\s*\d+\s*$/.test(typed) ? Number(typed) : NaN;
  const { low, high } = stepLimits;
  if (!within(stepLimits, steps))
    throw new Error(`Steps ${typed}: give a whole number from ${low} to ${high}`);
  return steps;
}

/** What prints the digest of the same field, made by the program. */
export function commandOf({ nx, ny, steps, boundary, start }: Setting): string {
  const grid = nx === ny ? String(nx) : `${nx}x${ny}`;
  const others =
    (boundary === usual.boundary ? "" : ` --boundary ${boundary}`) +
    (start === usual.start ? "" : ` --init ${start}`);
  return `diffbench --grid ${grid} --iters ${steps}${others} --backend simd --json - | grep sha256`;
}
