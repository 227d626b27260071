// SPDX-License-Identifier: Apache-2.0
// Rows as a machine with a GPU would have them, made by hand: nobody measured these.

const busyOf = (device: string, wall: number) =>
  device === "cpu" ? null : { h2d: 0.25 * wall, compute: 0.5 * wall, d2h: 0.125 * wall };
const phasesOf = (wall: number) => ({
  h2d: 0.25 * wall,
  compute: 0.5 * wall,
  d2h: 0.125 * wall,
  unexplained: 0.125 * wall,
  wall,
});

/** A row whose step, warm and cold run take that long. */
export const row = (
  backend: string,
  device: string,
  [step, warm, cold]: number[],
  more: object = {},
) => ({
  backend,
  device,
  status: "ok",
  verified: { bitwise: true, steps: 2 },
  seconds_per_iteration: step,
  iterations_per_sample: 2,
  samples_seconds: [1.9 * step!, 2 * step!, 2.6 * step!],
  seconds_per_iteration_interval: { low: 0.99 * step!, high: 1.01 * step!, confidence: 0.95 },
  phases: phasesOf(warm!),
  busy: busyOf(device, warm!),
  end_to_end: { cold_phases: phasesOf(cold!), cold_busy: busyOf(device, cold!) },
  ...more,
});
export const cpus = ["scalar", "xtensor", "fused", "simd"].map((name, index) =>
  row(name, "cpu", [90 - 10 * index, 80 - 10 * index, 85 - 10 * index]),
);
/** The fastest in place is the slowest when it begins cold. */
export const gpus = Array.from({ length: 12 }, (_each, index) =>
  row(`cuda_${index}`, "cuda", [1 + index, 2 + index, 400 - index]),
);
export const naive = row("cuda_naive", "cuda", [200, 300, 300]);
export const results = [...cpus, ...gpus, naive];

/** Of `diffbench transfer`: copies that take 10 us and 10 GB/s. */
const curve = (way: string, direction: string) => ({
  way,
  direction,
  points: [1e3, 1e5, 1e7].map((bytes) => {
    const seconds_per_copy = 1e-5 + bytes / 1e10;
    return {
      bytes,
      seconds_per_copy,
      bytes_per_second: bytes / seconds_per_copy,
      verified: true,
    };
  }),
});
const ways = ["pageable", "pinned", "managed"].flatMap((way) =>
  ["h2d", "d2h"].map((direction) => ({ way, direction })),
);
export const transfer = {
  device: {
    name: "a card",
    curves: ways.map(({ way, direction }) => curve(way, direction)),
    fits: ways.map((each) => ({ ...each, latency_seconds: 1e-5, bytes_per_second: 1e10 })),
  },
};
