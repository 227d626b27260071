// SPDX-License-Identifier: Apache-2.0
// What each part of a run on the GPU costs, and what a step costs when the field goes to the host
// and back every k steps: the live card's `residency`.
import { lasting, type Spread, timeOf } from "./clock";
import { type Gpu, type GpuSolver, gpuSolver } from "./gpu";
import type { Setting } from "./setting";

export const parts = ["upload", "launch", "sync", "step", "download"] as const;
export type Part = (typeof parts)[number];

/** Steps between round trips. */
export const periods = [1, 10, 100];

export interface GpuCosts {
  /** Seconds an operation. */
  parts: Record<Part, Spread>;
  /** A step by the GPU's own clock; null where the browser does not let a page read it. */
  stepOnDevice: Spread | null;
  /** Seconds a step, by the steps between round trips. */
  roundTrips: { period: number; step: Spread }[];
}

/** Copies that may wait in the browser at a time: enough to hide the sync, little enough to hold. */
const waitingBytes = 64 * 2 ** 20;

/** Steps of one submission: a system takes a GPU away that does not answer for seconds. */
const most = 256;

class ClockStands extends Error {}

async function stepOnDevice(
  { device, unlessLost }: Gpu,
  solver: GpuSolver,
  tick: number,
  between: () => Promise<void>,
): Promise<Spread | null> {
  if (!device.features.has("timestamp-query")) return null;
  const times = device.createQuerySet({ type: "timestamp", count: 2 });
  const resolved = device.createBuffer({
    size: 16,
    usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC,
  });
  const staging = device.createBuffer({
    size: 16,
    usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
  });
  const once = async (steps: number) => {
    solver.launch(steps, times);
    const encoder = device.createCommandEncoder();
    encoder.resolveQuerySet(times, 0, 2, resolved, 0);
    encoder.copyBufferToBuffer(resolved, 0, staging, 0, 16);
    device.queue.submit([encoder.finish()]);
    await unlessLost(staging.mapAsync(GPUMapMode.READ));
    const [begin = 0n, end = 0n] = new BigUint64Array(staging.getMappedRange());
    staging.unmap();
    return Number(end - begin) * 1e-9;
  };
  let still = 0; // batches of a clock that stands would never last long enough
  return timeOf(
    async (steps) => {
      let took = 0;
      for (let left = steps; left > 0; left -= most) took += await once(Math.min(left, most));
      if (!(took > 0) && ++still > 5) throw new ClockStands();
      return took;
    },
    tick,
    between,
  ).catch((error: unknown) => {
    if (error instanceof ClockStands) return null;
    throw error;
  });
}

/** `tick` and `between` are timeOf's. */
export async function gpuCosts(
  gpu: Gpu,
  solver: GpuSolver,
  setting: Setting,
  field: Float32Array<ArrayBuffer>,
  tick: number,
  between: () => Promise<void>,
): Promise<GpuCosts> {
  const copies = Math.max(1, Math.floor(waitingBytes / field.byteLength));
  /** Each batch begins with the start, as on the CPU. */
  async function startAgain(): Promise<void> {
    await between();
    solver.upload(field);
    await solver.sync();
  }
  const time = (batch: (operations: number) => Promise<number>) => timeOf(batch, tick, startAgain);
  const timed = (batch: (operations: number) => Promise<void>) =>
    time((operations) => lasting(() => batch(operations)));

  async function uploads(count: number): Promise<void> {
    for (let i = 0; i < count; ++i) {
      solver.upload(field);
      if ((i + 1) % copies === 0) await solver.sync();
    }
    await solver.sync();
  }
  async function advance(steps: number): Promise<void> {
    for (let left = steps; left > 0; left -= most) solver.launch(Math.min(left, most));
    await solver.sync();
  }
  async function roundTrips(count: number, period: number): Promise<void> {
    let cells = field;
    for (let i = 0; i < count; ++i) {
      solver.upload(cells);
      solver.launch(period);
      cells = await solver.download();
    }
  }
  const upload = await timed(uploads);
  // What it costs to submit does not depend on the grid; thousands of steps of a large one would.
  const small = await gpuSolver(gpu, { ...setting, nx: 32, ny: 32 });
  const launch = await time(async (count) => {
    const took = await lasting(() => {
      for (let i = 0; i < count; ++i) small.launch(1);
    });
    await small.sync();
    return took;
  });
  const sync = await timed(async (count) => {
    for (let i = 0; i < count; ++i) await solver.sync();
  });
  const steps = await timed(advance);
  const download = await timed(async (count) => {
    for (let i = 0; i < count; ++i) await solver.download();
  });
  const costs: GpuCosts = {
    parts: { upload, launch, sync, step: steps, download },
    stepOnDevice: await stepOnDevice(gpu, solver, tick, startAgain),
    roundTrips: [],
  };
  for (const period of periods) {
    const round = await timed((count) => roundTrips(count, period));
    const share = (seconds: number) => seconds / period;
    costs.roundTrips.push({
      period,
      step: {
        ...round,
        median: share(round.median),
        low: share(round.low),
        high: share(round.high),
      },
    });
  }
  return costs;
}
