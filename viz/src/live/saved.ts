// SPDX-License-Identifier: Apache-2.0
// The file that keeps an outcome. Its kind is its own: no member of a result file is in it, and
// `diffbench report` and `compare` refuse it, since a browser's times do not stand beside a program's.
import type { Spread } from "./clock";
import type { CpuWay, Outcome } from "./run";
import { commandOf } from "./setting";

/** Seconds an operation, as in result files. */
const spreadOf = (spread: Spread | null) =>
  spread && {
    seconds: spread.median,
    fastest_seconds: spread.low,
    slowest_seconds: spread.high,
    batches: spread.batches,
    operations_per_batch: spread.operations,
  };

const cpuWay = ({ name, missing, digest, step }: CpuWay) => ({
  name,
  missing,
  field_sha256: digest,
  step: spreadOf(step),
});

export function savedFile({ setting, date, browser, tick, script, wasm, gpu }: Outcome): string {
  const { costs, distance } = gpu;
  const live = {
    schema: 1,
    date,
    browser,
    clock_step_seconds: tick,
    setting,
    same_field_by: commandOf(setting),
    cpu: [cpuWay(wasm), cpuWay(script)],
    gpu: {
      missing: gpu.missing,
      adapter: gpu.gpu,
      field: distance && {
        cells: distance.cells,
        nonfinite: distance.nonfinite,
        differing: distance.differing,
        max_ulps: distance.ulps,
        tiny_differing: distance.tinyDiffering,
        tiny_max_difference: distance.tinyLargest,
        max_difference: distance.largest,
        bound: distance.bound,
        right: distance.right,
      },
      parts:
        costs &&
        Object.fromEntries(
          Object.entries(costs.parts).map(([part, spread]) => [part, spreadOf(spread)]),
        ),
      step_on_device: spreadOf(costs?.stepOnDevice ?? null),
      round_trips:
        costs?.roundTrips.map(({ period, step }) => ({ period, step: spreadOf(step) })) ?? null,
    },
  };
  return JSON.stringify({ diffbench_live: live }, null, 2) + "\n";
}
