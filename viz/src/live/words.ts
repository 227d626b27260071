// SPDX-License-Identifier: Apache-2.0
// What the card says of an outcome.
import { type Column, inSeconds, type Table, tableOf } from "../data/table";
import { bytesPerSecond, cellsPerSecond, figure, seconds, times } from "../data/units";
import { batches, longestBatch, shortestBatch, type Spread, ticksOfBatch } from "./clock";
import { type Part, parts } from "./gpu_costs";
import { type Distance, tiny } from "./proof";
import type { CpuWay, GpuWay, Outcome } from "./run";

const many = (value: number, what: string) =>
  `${value.toLocaleString("en")} ${what}${value === 1 ? "" : "s"}`;

const stepsOf = (period: number) => (period === 1 ? "step" : `${period} steps`);

const spreadColumns = <T>(name: string, spreadOf: (each: T) => Spread): Column<T>[] => [
  inSeconds(name, (each) => spreadOf(each).median),
  inSeconds("fastest batch", (each) => spreadOf(each).low),
  inSeconds("slowest batch", (each) => spreadOf(each).high),
];

/** Beyond the spread of both. */
const faster = (one: Spread, other: Spread) => one.high < other.low;

/** All timed ways: name, and seconds a step. */
function timedSteps({ script, wasm, gpu }: Outcome): [string, Spread][] {
  const cpu = [script, wasm].flatMap((way): [string, Spread][] =>
    way.step === null ? [] : [[way.name, way.step]],
  );
  if (gpu.costs === null) return cpu;
  const trips = gpu.costs.roundTrips.map(({ period, step }): [string, Spread] => [
    `WebGPU, to the host and back every ${stepsOf(period)}`,
    step,
  ]);
  return [...cpu, ...trips, ["WebGPU, the field stays", gpu.costs.parts.step]];
}

/** Times of a step, each with its rate, and what a whole run comes to. */
export function stepsTable(outcome: Outcome): Table {
  const { nx, ny, steps } = outcome.setting;
  const timed = timedSteps(outcome);
  const first = timed[0]?.[1].median ?? NaN;
  const columns: Column<[string, Spread]>[] = [
    { name: "way", of: ([name]) => name },
    ...spreadColumns("time of a step", ([, step]: [string, Spread]) => step),
    {
      name: "rate",
      unit: "cells/s",
      show: cellsPerSecond,
      of: ([, { median }]) => (nx * ny) / median,
    },
    inSeconds(`${steps} steps`, ([, { median }]) => steps * median),
    {
      name: `against ${timed[0]?.[0] ?? "the first"}`,
      show: times,
      of: ([, { median }]) => first / median,
    },
  ];
  return tableOf(columns, timed);
}

const meanings: Record<Part, string> = {
  upload: "writeBuffer, until the GPU has it",
  launch: "encode and submit one step (of a small grid), without waiting: time of the page alone",
  sync: "onSubmittedWorkDone with nothing left to do: the way to the GPU's process and back",
  step: "one of many steps that were submitted together",
  download: "copy to a buffer that can be mapped, mapAsync, and a copy into the page's memory",
};

interface Timed {
  name: string;
  spread: Spread;
  bytes: number | undefined;
  what: string;
}

const partColumns: Column<Timed>[] = [
  { name: "part", of: ({ name }) => name },
  ...spreadColumns("time", ({ spread }: Timed) => spread),
  {
    name: "rate",
    unit: "B/s",
    show: bytesPerSecond,
    of: ({ bytes, spread }) => (bytes === undefined ? null : bytes / spread.median),
  },
  { name: "what is timed", of: ({ what }) => what },
];

/** What the parts of a run on the GPU cost. */
export function partsTable({ setting, gpu }: Outcome): Table | null {
  if (gpu.costs === null) return null;
  const fieldBytes = 4 * setting.nx * setting.ny;
  const moved: Partial<Record<Part, number>> = {
    upload: fieldBytes,
    download: fieldBytes,
    step: 2 * fieldBytes,
  };
  const { costs } = gpu;
  const rows: Timed[] = parts.map((part) => ({
    name: part,
    spread: costs.parts[part],
    bytes: moved[part],
    what: meanings[part],
  }));
  if (costs.stepOnDevice !== null)
    rows.push({
      name: "step, on the GPU's clock",
      spread: costs.stepOnDevice,
      bytes: moved.step,
      what: "timestamp queries",
    });
  return tableOf(partColumns, rows);
}

/** Without a GPU; null where neither way has a time. */
function ofCpu(...ways: CpuWay[]): string | null {
  const [best, other] = ways
    .flatMap(({ name, step }) => (step === null ? [] : [{ name, step }]))
    .sort((a, b) => a.step.median - b.step.median);
  if (best === undefined) return null;
  const against =
    other === undefined
      ? ""
      : faster(best.step, other.step)
        ? `, ${times(other.step.median / best.step.median)} as fast as ${other.name}`
        : `; whether ${other.name} is slower is not clear: their batches overlap`;
  return `On this CPU, on one thread, a step takes ${seconds(best.step.median)} by ${best.name}${against}. Whether a GPU would be faster is not known: none was timed.`;
}

/** Batches that far apart were disturbed. */
const wide = 2;

/** The lesson, of this machine. */
export function sentence({ script, wasm, gpu }: Outcome): string | null {
  if (gpu.costs === null) return ofCpu(script, wasm);
  const cpu = [script, wasm]
    .filter((way): way is CpuWay & { step: Spread } => way.step !== null)
    .sort((a, b) => a.step.median - b.step.median)[0];
  const stays = gpu.costs.parts.step;
  const everyStep = gpu.costs.roundTrips[0]!.step;
  const moved =
    `A step on the GPU takes ${seconds(stays.median)} while the field stays there and ` +
    `${seconds(everyStep.median)} when it goes to the host and back every step` +
    (faster(stays, everyStep) ? "" : ", but their batches overlap");
  if (cpu === undefined) return `${moved}.`;
  const paying = gpu.costs.roundTrips.find(({ step }) => faster(step, cpu.step));
  const from =
    paying !== undefined
      ? `With a round trip every ${stepsOf(paying.period)} the GPU is ahead`
      : faster(stays, cpu.step)
        ? "The GPU is ahead only where the field stays for longer than any round trip that was tried"
        : faster(cpu.step, stays)
          ? "The GPU is not ahead here, whatever is copied"
          : "Which is ahead is not clear: their batches overlap";
  return `${moved}. ${cpu.name}, one thread, takes ${seconds(cpu.step.median)}. ${from}.`;
}

/** Of WebGPU's field. "within", never "bit for bit". */
export function nearness(found: Distance): string {
  if (!found.right)
    return `WebGPU's field is WRONG, so it has no times: ${
      found.nonfinite > 0
        ? `${many(found.nonfinite, "cell")} are not finite`
        : `it differs by up to ${figure(found.largest)}, and rounding explains ${figure(found.bound)} at most`
    }.`;
  const normal = found.differing - found.tinyDiffering;
  const near =
    `WebGPU's field is within ${many(found.ulps, "unit")} in the last place: ` +
    `${normal.toLocaleString("en")} of ${many(found.cells, "cell")} differ.`;
  const below =
    found.tinyDiffering === 0
      ? ""
      : ` Of cells below ${figure(tiny)}, ${found.tinyDiffering.toLocaleString("en")} differ, by at most ${figure(found.tinyLargest)}.`;
  return near + below;
}

export const whyNotTheSameBits =
  "(A unit in the last place is the distance from one float32 to the next. To contract is to round a product and the sum that it goes into once, in the place of twice.) WGSL lets a GPU contract a product and a sum into one rounding and flush denormals to zero, and a page cannot forbid it; so this says how close the fields are, never that they are equal bit for bit.";

const sharedMemory: Record<string, string> = {
  apple: "This GPU shares the CPU's memory: there is no bus that a copy could cross.",
  intel:
    "Most GPUs of this vendor share the CPU's memory: then there is no bus that a copy could cross.",
};

/** What the figures of the GPU are not. */
export function labels(outcome: Outcome): string[] {
  const {
    gpu: { gpu, costs },
    tick,
  } = outcome;
  const scattered = timedSteps(outcome)
    .filter(([, { low, high }]) => high >= wide * low)
    .map(
      ([name, { low, high }]) =>
        `${name}: the fastest batch has ${seconds(low)} a step, the slowest ${seconds(high)}. Something else ran; measure again.`,
    );
  const clock =
    `Medians of ${batches} batches; each begins at the start of the run, and bringing the start back is not timed. The browser's clock steps by ${seconds(tick)}; batches last as long as ` +
    `${ticksOfBatch} of its steps, at least ${seconds(shortestBatch)} and at most ${seconds(longestBatch)} or little more.`;
  if (gpu === null || costs === null) return [...scattered, clock];
  return [
    ...scattered,
    clock,
    sharedMemory[gpu.vendor.toLowerCase()] ??
      "The browser does not tell whether this GPU has memory of its own. An integrated one shares the CPU's: then there is no bus that a copy could cross.",
    "A page reaches the GPU through a process of the browser: part of each copy, launch and sync is the browser's own, so a program's are shorter.",
    ...(costs.stepOnDevice === null
      ? ["This browser lets no page read the GPU's clock, so steps are timed from outside."]
      : []),
  ];
}

/** Of WebGPU: what ran, or why there is nothing. */
export function gpuLines({ missing, gpu, distance }: GpuWay): string[] {
  const adapter = gpu === null ? [] : [`WebGPU adapter: ${gpu.name}.`];
  const software = gpu?.software
    ? [
        "This adapter computes on the CPU (software): it shows that the kernel is right, and gets no times.",
      ]
    : [];
  return [
    ...adapter,
    ...software,
    ...(missing === null ? [] : [`WebGPU has no figures: ${missing}.`]),
    ...(distance === null ? [] : [`${nearness(distance)} ${whyNotTheSameBits}`]),
  ];
}

/** Of both ways on the CPU. */
export const cpuLines = ({ script, wasm }: Outcome): string[] =>
  [wasm, script].flatMap(({ name, missing }) =>
    missing === null ? [] : [`${name} has no figures: ${missing}.`],
  );
