// SPDX-License-Identifier: Apache-2.0
// The live card's arithmetic, without a browser. The WebAssembly is that of the last build of the page.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { batchSeconds, type Spread, timeOf } from "../../src/live/clock";
import type { GpuCosts } from "../../src/live/gpu_costs";
import { initialField, mersenneTwister } from "../../src/live/initial";
import { digestOf, distance, sameBits } from "../../src/live/proof";
import { onCpu, type Outcome } from "../../src/live/run";
import { scriptSolver } from "../../src/live/script";
import { inPieces } from "../../src/live/solver";
import { boundaries, commandOf, factor, readGrid, type Setting } from "../../src/live/setting";
import { labels, nearness, sentence } from "../../src/live/words";
import { hasWasm, wasmSolver } from "../../src/live/wasm";

const small = (part: Partial<Setting>): Setting => ({
  nx: 16,
  ny: 16,
  steps: 9,
  boundary: "periodic",
  start: "random",
  ...part,
});

it("draws the random numbers of the C++ standard", () => {
  const next = mersenneTwister(5489n); // its default; [rand.predef] names the 10000th
  let drawn = next();
  for (let i = 1; i < 10_000; ++i) drawn = next();
  expect((BigInt(drawn[0]) << 32n) | BigInt(drawn[1])).toBe(9981545732273789042n);
});

/** One step as the design says it, cell by cell. */
function stepped(cells: Float32Array, { nx, ny, boundary }: Setting): Float32Array {
  const f = Math.fround;
  const at = (x: number, y: number) => {
    const isOutside = x < 0 || y < 0 || x >= nx || y >= ny;
    if (isOutside && boundary === "dirichlet") return 0;
    const place = (i: number, n: number) =>
      boundary === "periodic" ? (i + n) % n : Math.min(n - 1, Math.max(0, i));
    return cells[place(y, ny) * nx + place(x, nx)]!;
  };
  return cells.map((u, i) => {
    const [x, y] = [i % nx, Math.floor(i / nx)];
    const sum = f(f(f(at(x, y - 1) + at(x, y + 1)) + at(x - 1, y)) + at(x + 1, y));
    return f(u + f(factor * f(sum - f(4 * u))));
  });
}

describe.each(boundaries)("under %s", (boundary) => {
  it.each([
    [16, 16],
    [17, 19],
    [30, 21],
    [83, 18],
  ])("both ways on the CPU have the bits of the plainest loop on %ix%i", async (nx, ny) => {
    expect(hasWasm, "build the program first, with clang and wasm-ld").toBe(true);
    const setting = small({ nx, ny, boundary });
    let wanted: Float32Array = await initialField(setting);
    for (let i = 0; i < setting.steps; ++i) wanted = stepped(wanted, setting);
    for (const solver of [await wasmSolver(setting), scriptSolver(setting)]) {
      await solver.upload(await initialField(setting));
      await solver.advance(4);
      await solver.download(); // and goes on from there
      await solver.advance(setting.steps - 4);
      expect(await sameBits(await solver.download(), wanted)).toBe(true);
    }
  });
});

it("holds fields against each other to the unit in the last place", async () => {
  const of = (...values: number[]) => Float32Array.from(values);
  const next = 1 + 2 ** -23;
  expect(await distance(of(1, 2, 3), of(1, 2, 3), 1, 3)).toMatchObject({
    differing: 0,
    right: true,
  });
  expect(await distance(of(next, -next), of(1, -1), 1, 1)).toMatchObject({ differing: 2, ulps: 1 });
  expect(await distance(of(0, 1e-40), of(1e-40, -1e-40), 1, 1)).toMatchObject({
    ulps: 0,
    tinyDiffering: 2,
    right: true,
  });
  expect((await distance(of(1.001), of(1), 1, 1)).right).toBe(false);
  for (const bad of [NaN, Infinity])
    expect(await distance(of(bad), of(1), 1000, 1)).toMatchObject({ nonfinite: 1, right: false });
  expect((await distance(of(1), of(1), 1, NaN)).right).toBe(false);
  expect((await distance(of(1), of(1, 1), 1, 1)).right).toBe(false);
  expect(nearness(await distance(of(NaN), of(1), 1, 1))).toContain("WRONG");
  expect(nearness(await distance(of(next), of(1), 1, 1))).toMatch(
    /^WebGPU's field is within 1 unit in/,
  );
});

it("times each batch of steps from the start on", async () => {
  const start = Float32Array.of(1, 2);
  let age = 0;
  const began: number[] = [];
  const solver = {
    upload: (field: Float32Array) => void (age = field === start ? 0 : NaN),
    async advance(steps: number) {
      began.push(age);
      age += steps;
      await new Promise((resolve) => setTimeout(resolve, steps));
    },
    download: async () => start,
  };
  const watcher = { say: () => {}, show: () => {}, stopped: () => false };
  const way = await onCpu("a way", () => solver, start, small({ steps: 1 }), 1e-3, watcher);
  expect(way.missing).toBe(null);
  expect(began.length).toBeGreaterThan(5);
  expect(began.every((each) => each === 0)).toBe(true);
});

it("has the SHA-256 of a field, however it fills the last block", async () => {
  for (const cells of [1, 12, 13, 14, 15, 16, 17, 30, 1000]) {
    const field = Float32Array.from({ length: cells }, (_each, index) => Math.sin(index) / 3);
    const wanted = createHash("sha256").update(new Uint8Array(field.buffer)).digest("hex");
    expect(await digestOf(field), `${cells} cells`).toBe(wanted);
  }
});

it("works in pieces that leave nothing out, and lets others run between them", async () => {
  const pieces: [number, number][] = [];
  let others = 0;
  const timer = setInterval(() => ++others);
  const took = await inPieces(40, (from, to) => {
    pieces.push([from, to]);
    const end = performance.now() + 4 * (to - from);
    while (performance.now() < end);
  });
  clearInterval(timer);
  expect(pieces[0]![0]).toBe(0);
  expect(pieces.at(-1)![1]).toBe(40);
  pieces.slice(1).forEach(([from], index) => expect(from).toBe(pieces[index]![1]));
  expect(pieces.length).toBeGreaterThan(5);
  expect(others).toBeGreaterThan(1);
  expect(took).toBeGreaterThanOrEqual(0.16);
});

it("concludes from the CPU alone where there is no GPU, and says where batches scatter", () => {
  const alone = outcome(1, [1, 1, 1]);
  alone.gpu.costs = null;
  expect(sentence(alone)).toBe(
    "On this CPU, on one thread, a step takes 100 us by WebAssembly SIMD, 10.0x as fast as plain JavaScript. Whether a GPU would be faster is not known: none was timed.",
  );
  alone.script.step = { ...spread(1.1e-4), low: 0.9e-4, high: 1.8e-4 };
  expect(sentence(alone)).toContain("is not clear");
  expect(labels(alone)[0]).toContain(
    "plain JavaScript: the fastest batch has 90.0 us a step, the slowest 180 us.",
  );
  alone.script.step = alone.wasm.step = null;
  expect(sentence(alone)).toBeNull();
});

it("times batches of fifty steps of the clock or more", async () => {
  const calls: number[] = [];
  const batch = async (operations: number) => {
    calls.push(operations);
    return operations * 1e-4 * (calls.length % 2 ? 1 : 1.1);
  };
  const spread = await timeOf(batch, 0.005, async () => {});
  expect(spread.operations * 1e-4).toBeGreaterThanOrEqual(0.22);
  expect(calls.slice(-5)).toEqual(Array(5).fill(spread.operations));
  expect([spread.low, spread.high]).toEqual([expect.closeTo(1e-4, 10), expect.closeTo(1.1e-4, 10)]);
  expect(batchSeconds(1e-6)).toBe(0.03);
  expect(batchSeconds(0.1)).toBe(1);
});

const spread = (median: number): Spread => ({
  median,
  low: 0.9 * median,
  high: 1.1 * median,
  batches: 5,
  operations: 1,
});
function outcome(stays: number, [each, ten, hundred]: [number, number, number]): Outcome {
  const costs: GpuCosts = {
    parts: {
      upload: spread(1e-3),
      launch: spread(1e-5),
      sync: spread(1e-4),
      step: spread(stays),
      download: spread(2e-3),
    },
    stepOnDevice: null,
    roundTrips: [
      { period: 1, step: spread(each) },
      { period: 10, step: spread(ten) },
      { period: 100, step: spread(hundred) },
    ],
  };
  const way = { missing: null, field: null, digest: null };
  return {
    setting: small({}),
    date: "",
    browser: "",
    tick: 1e-4,
    script: { ...way, name: "plain JavaScript", step: spread(1e-3) },
    wasm: { ...way, name: "WebAssembly SIMD", step: spread(1e-4) },
    gpu: {
      missing: null,
      gpu: { name: "apple m1", vendor: "apple", software: false },
      distance: null,
      costs,
    },
  };
}

it("says from where on the GPU is ahead, and not more than the batches show", () => {
  const wordsOf = (...of: Parameters<typeof outcome>) => sentence(outcome(...of));
  expect(wordsOf(1e-6, [1e-2, 1e-3, 2e-5])).toContain("With a round trip every 100 steps");
  expect(wordsOf(1e-5, [1, 1, 1])).toContain("only where the field stays");
  expect(wordsOf(1e-3, [1, 1, 1])).toContain("is not ahead here");
  expect(wordsOf(1e-3, [1, 1, 1])).not.toContain("overlap");
  expect(wordsOf(1e-3, [1.1e-3, 1, 1])).toMatch(/every step, but their batches overlap\./);
  expect(wordsOf(1.05e-4, [1, 1, 1])).toContain("not clear");
  expect(labels(outcome(1, [1, 1, 1])).join(" ")).toContain("shares the CPU's memory");
});

it("reads a grid as the program does, and names the command that has the same field", () => {
  expect(readGrid(" 800X600 ")).toEqual({ nx: 800, ny: 600 });
  for (const bad of ["", "15", "16385", "1.5e2", "-20", "20x", "x20", "20x20x20", "20 20"])
    expect(() => readGrid(bad)).toThrow(/^Grid .*: give /);
  expect(commandOf(small({ nx: 20, boundary: "neumann" }))).toBe(
    "diffbench --grid 20x16 --iters 9 --boundary neumann --init random --backend simd --json - | grep sha256",
  );
});
