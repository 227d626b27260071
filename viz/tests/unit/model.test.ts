// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { colourOf, readFilm } from "../../src/data/field";
import { predict, readProfile, stepsSeconds, type Way } from "../../src/data/model";
import { readResultFile, type Phases } from "../../src/data/results";
import { efficiency } from "../../src/pictures/scaling";
import { inOrder } from "../../src/pictures/timeline";

const grid = (side: number, step: number) => ({
  side,
  threads: 1,
  setup: 3e-3,
  copyIn: 1e-4,
  copyOut: 2e-4,
  calls: [
    { steps: 1, seconds: 2 * step },
    { steps: 5, seconds: 6 * step },
  ],
});
const way: Way = {
  backend: "a",
  device: "cpu",
  dtype: "float32",
  grids: [grid(64, 1e-6), grid(128, 4e-6)],
};

const shape = (cells: number, iterations: number, every = 0, roundTrips = false) => ({
  cells,
  iterations,
  every,
  roundTrips,
});

describe("the model", () => {
  it("is straight between calls and goes on with the last slope, over two intervals", () => {
    expect(stepsSeconds(way.grids[0]!, 3)).toBeCloseTo(4e-6, 12);
    expect(stepsSeconds(way.grids[0]!, 105)).toBeCloseTo(106e-6, 12);
    const calls = [1, 4, 28, 64].map((steps, i) => ({ steps, seconds: [10, 13, 61, 61][i]! }));
    expect(stepsSeconds({ ...way.grids[0]!, calls }, 64)).toBe(61);
    expect(stepsSeconds({ ...way.grids[0]!, calls }, 124)).toBeCloseTo(13 + 120 * 0.8, 9);
  });

  it("adds up, with a power of the cells between grids", () => {
    const run = predict(way, shape(64 * 128, 5));
    expect(run.steps).toBeCloseTo(12e-6, 10); // the geometric mean of 6 and 24 us
    expect(run.warm).toBeCloseTo(run.copyIn + run.steps + run.copyOut, 12);
    expect(run.beyond).toEqual([]);
  });

  it("charges every snapshot with a copy and a call of its own", () => {
    const run = predict(way, shape(64 * 64, 5, 2));
    expect(run.visits).toBeCloseTo(2 * 2e-4, 12);
    expect(run.steps).toBeCloseTo(2 * 3e-6 + 2e-6, 12);
  });

  it("charges every round trip with both copies, and none on the CPU", () => {
    const gpu = { ...way, device: "cuda" as const };
    const run = predict(gpu, shape(64 * 64, 5, 2, true));
    expect(run.visits).toBeCloseTo(2 * 3e-4, 12);
    expect(run.warm).toBeCloseTo(run.copyIn + run.steps + run.visits + run.copyOut, 12);
    expect(run.steps).toBe(predict(gpu, shape(64 * 64, 5, 2)).steps);
    expect(predict(gpu, shape(64 * 64, 5, 6, true)).visits).toBe(0);
    expect(predict(way, shape(64 * 64, 5, 1, true))).toEqual(predict(way, shape(64 * 64, 5)));
  });

  it("says when it leaves what was recorded", () => {
    expect(predict(way, shape(256 * 256, 5)).beyond).toEqual([
      "the largest recorded grid is 128x128",
    ]);
    expect(predict(way, shape(10, 5)).beyond).toEqual(["the smallest recorded grid is 64x64"]);
  });

  it("refuses profiles that are broken", () => {
    const file = (calls: unknown) =>
      readResultFile({
        diffbench: {
          experiment: "calibrate",
          calibrate: {
            ways: [
              {
                backend: "a",
                grids: [
                  { side: 64, setup_seconds: 0, copy_in_seconds: 0, copy_out_seconds: 0, calls },
                ],
              },
            ],
          },
        },
      });
    const calls = [
      { steps: 1, seconds: 1 },
      { steps: 2, seconds: 2 },
    ];
    expect(readProfile(file(calls))).not.toBeNull();
    expect(readProfile(file(calls.slice(1)))).toBeNull();
    expect(readProfile(file([...calls].reverse()))).toBeNull();
    expect(readProfile(file([calls[0], { steps: 2, seconds: null }]))).toBeNull();
  });
});

describe("the timeline", () => {
  const parts = {
    context: null,
    alloc: null,
    pin: null,
    h2d: 1,
    launch: 1,
    compute: null,
    sync: 4,
    d2h: 2,
    free: null,
  };
  const phases: Phases = {
    parts,
    unexplained: 0,
    wall: 8,
    busy: { h2d: 0.5, compute: 4, d2h: 1.5 },
  };

  it("ends with the wall time and starts engines with their phases", () => {
    const segments = inOrder(phases);
    expect(Math.max(...segments.map((each) => each.end))).toBe(phases.wall);
    expect(segments.find((each) => each.lane === "compute")).toMatchObject({ start: 1, end: 5 });
    expect(segments.find((each) => each.lane === "D2H engine")).toMatchObject({
      start: 6,
      end: 7.5,
    });
  });
});

describe("laws of scaling", () => {
  it("are those of docs/lab.md", () => {
    expect(efficiency("Amdahl", 0.5, 3)).toBe(0.5);
    expect(efficiency("Gustafson", 0.5, 2)).toBe(0.75);
  });
});

describe("the film", () => {
  it("gives back values, and NaN for what is not finite", () => {
    const cells = btoa(String.fromCharCode(0, 0, 0xfe, 0xff, 0xff, 0xff));
    const film = readFilm({
      nx: 3,
      ny: 1,
      block: 1,
      width: 3,
      height: 1,
      low: 1,
      high: 2,
      frames: [{ step: 0, cells }],
    });
    expect([...film!.frame(0)]).toEqual([1, 2, NaN]);
    expect(readFilm({ frames: [] })).toBeNull();
  });

  it("is grey where there is no number", () => {
    expect(colourOf(NaN)).toEqual([128, 128, 128]);
    expect(colourOf(0)).toEqual([68, 1, 84]);
    expect(colourOf(2)).toEqual([253, 231, 37]);
  });
});
