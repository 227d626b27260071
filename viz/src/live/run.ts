// SPDX-License-Identifier: Apache-2.0
// A press of "Measure": the three ways one after the other, each first shown and proven, then timed.
// A field that is wrong has no times, nor has a GPU that is the CPU in disguise.
import { clockTick, now, type Spread, timeOf } from "./clock";
import { type Gpu, gpuSolver, openGpu } from "./gpu";
import { type GpuCosts, gpuCosts } from "./gpu_costs";
import { initialField } from "./initial";
import { digestOf, type Distance, distance, sameBits } from "./proof";
import { scriptSolver } from "./script";
import type { Setting } from "./setting";
import { breathe, type Solver } from "./solver";
import { hasWasm, wasmSolver } from "./wasm";

/** Thrown out of a run that the reader stopped. */
export class Stopped extends Error {}

/** What the card does while it runs. */
export interface Watcher {
  say(what: string): void;
  show(field: Float32Array, step: number, way: string): void;
  stopped(): boolean;
}

export interface CpuWay {
  name: string;
  /** Why there are no figures of it; null where there are. */
  missing: string | null;
  field: Float32Array<ArrayBuffer> | null;
  digest: string | null;
  step: Spread | null;
}

export interface GpuWay {
  missing: string | null;
  gpu: Pick<Gpu, "name" | "vendor" | "software"> | null;
  distance: Distance | null;
  costs: GpuCosts | null;
}

export interface Outcome {
  setting: Setting;
  date: string;
  browser: string;
  /** The step of the browser's clock, in seconds. */
  tick: number;
  script: CpuWay;
  wasm: CpuWay;
  gpu: GpuWay;
}

const frames = 25;
const frameSeconds = 0.05;

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Solves, with pictures between, and returns the last field. */
async function solve(
  solver: Solver,
  initial: Float32Array<ArrayBuffer>,
  steps: number,
  way: string,
  watcher: Watcher,
): Promise<Float32Array<ArrayBuffer>> {
  await solver.upload(initial);
  let chunk = 1;
  let field = initial;
  for (let done = 0; done < steps;) {
    const next = Math.min(chunk, steps - done);
    const begin = now();
    const took = (await solver.advance(next)) ?? now() - begin;
    done += next;
    field = await solver.download();
    watcher.show(field, done, way);
    await breathe();
    if (watcher.stopped()) throw new Stopped();
    const fitting = Math.round((next * frameSeconds) / Math.max(took, 1e-6));
    chunk = Math.max(1, Math.min(4 * chunk, fitting, Math.ceil(steps / frames)));
  }
  return field;
}

/** For timeOf: between batches the page reacts. */
const pausing = (watcher: Watcher) => async () => {
  await breathe();
  if (watcher.stopped()) throw new Stopped();
};

/** Exported for its test. */
export async function onCpu(
  name: string,
  make: () => Promise<Solver> | Solver,
  initial: Float32Array<ArrayBuffer>,
  { steps }: Setting,
  tick: number,
  watcher: Watcher,
): Promise<CpuWay> {
  const way: CpuWay = { name, missing: null, field: null, digest: null, step: null };
  try {
    const solver = await make();
    way.field = await solve(solver, initial, steps, name, watcher);
    way.digest = await digestOf(way.field);
    watcher.say(`${name}: timing`);
    const advance = async (count: number) => {
      const begin = now();
      return (await solver.advance(count)) ?? now() - begin;
    };
    const pause = pausing(watcher);
    way.step = await timeOf(advance, tick, async () => {
      await pause();
      await solver.upload(initial); // a field that has decayed has denormal cells, which take longer
    });
  } catch (error) {
    if (error instanceof Stopped) throw error;
    way.missing =
      error instanceof RangeError
        ? "the browser gives no memory for it; choose a smaller grid"
        : reason(error);
  }
  return way;
}

async function onGpu(
  initial: Float32Array<ArrayBuffer>,
  reference: Float32Array | null,
  setting: Setting,
  tick: number,
  watcher: Watcher,
): Promise<GpuWay> {
  const way: GpuWay = { missing: null, gpu: null, distance: null, costs: null };
  let device: GPUDevice | null = null;
  try {
    watcher.say("WebGPU: looking for an adapter");
    const gpu = await openGpu(setting);
    device = gpu.device;
    way.gpu = { name: gpu.name, vendor: gpu.vendor, software: gpu.software };
    const solver = await gpuSolver(gpu, setting);
    const field = await solve(solver, initial, setting.steps, "WebGPU", watcher);
    if (reference === null) throw new Error("there is no correct field to compare its field with");
    const largest = setting.start === "block" ? 0.005 : 1; // of the fields in initial.ts
    way.distance = await distance(field, reference, setting.steps, largest);
    if (way.distance.right && !gpu.software) {
      watcher.say("WebGPU: timing");
      way.costs = await gpuCosts(gpu, solver, setting, initial, tick, pausing(watcher));
    }
  } catch (error) {
    if (error instanceof Stopped) throw error;
    way.missing = reason(error);
  } finally {
    device?.destroy();
  }
  return way;
}

/** Of two fields that should have the same bits and do not, one is wrong: neither has times. */
async function holdTogether(script: CpuWay, wasm: CpuWay): Promise<boolean> {
  if (script.field === null || wasm.field === null) return true;
  if (await sameBits(script.field, wasm.field)) return true;
  for (const way of [script, wasm]) {
    way.missing = "its field and that of the other way on the CPU differ, so one of them is wrong";
    way.step = null;
  }
  return false;
}

/** Throws Stopped, or an Error (one line) when nothing can be run. */
export async function run(setting: Setting, watcher: Watcher): Promise<Outcome> {
  let initial: Float32Array<ArrayBuffer>;
  try {
    initial = await initialField(setting);
  } catch {
    throw new Error("The browser gives no memory for the field; choose a smaller grid");
  }
  watcher.show(initial, 0, "The start");
  await breathe();
  const tick = clockTick();
  await breathe();
  const cpu = (name: string, make: () => Promise<Solver> | Solver) =>
    onCpu(name, make, initial, setting, tick, watcher);
  const wasm = await cpu("WebAssembly SIMD", () => {
    if (!hasWasm)
      throw new Error("this build was made without it, as clang or wasm-ld was not found");
    return wasmSolver(setting);
  });
  const script = await cpu("plain JavaScript", () => scriptSolver(setting));
  const agree = await holdTogether(script, wasm);
  const reference = agree ? (wasm.field ?? script.field) : null;
  const gpu = await onGpu(initial, reference, setting, tick, watcher);
  return {
    setting,
    date: new Date().toISOString(),
    browser: navigator.userAgent,
    tick,
    script,
    wasm,
    gpu,
  };
}
