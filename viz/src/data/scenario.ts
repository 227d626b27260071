// What a recorded profile says about one run that somebody imagines: a grid, iterations, and copies to
// the host on the way. All of it is predicted; measured runs of the same kind stand beside it.
import { text } from "./json";
import { longestCall, predict, type Prediction, type Profile, type Way } from "./model";
import { readRows, type ResultFile, type Row } from "./results";
import type { Table } from "./table";
import { seconds } from "./units";

export interface Setting {
  profile: Profile;
  dtype: string;
  side: number;
  iterations: number;
  /** Steps between two copies to the host; 0: none. */
  every: number;
}
export interface Predicted {
  way: Way;
  run: Prediction;
}

export function predictAll({ profile, dtype, side, iterations, every }: Setting): Predicted[] {
  return profile.ways
    .filter((way) => way.dtype === dtype)
    .map((way) => ({ way, run: predict(way, side * side, iterations, every) }))
    .sort((a, b) => a.run.warm - b.run.warm);
}

/** Measured warm runs by this setting's iterations, type and machine, at any grid. */
export function measuredRuns(files: ResultFile[], setting: Setting): { row: Row; side: number }[] {
  if (setting.every > 0) return [];
  return files
    .filter((file) => {
      const get = (name: string) => text(file.context, name);
      const machine = `${get("cpu_model")}, ${get("usable_cpus")} usable CPUs; CUDA: ${get("cuda")}`;
      return machine === setting.profile.machine;
    })
    .flatMap(readRows)
    .filter(
      ({ row, dtype, iterations, boundary }) =>
        dtype === setting.dtype &&
        iterations === setting.iterations &&
        boundary === "periodic" &&
        row.roundtripEvery === null &&
        row.snapshotEvery === null &&
        row.warm !== null,
    )
    .map(({ row, side }) => ({ row, side }));
}

export function sentence(setting: Setting, all: Predicted[]): string {
  const best = all[0];
  if (best === undefined) return "The profile has nothing of this type.";
  const { side, iterations, every, profile } = setting;
  const copies =
    every > 0 ? `, a copy to the host every ${every === 1 ? "step" : `${every} steps`}` : "";
  const beyond = best.run.beyond.length > 0 ? ` EXTRAPOLATED: ${best.run.beyond.join("; ")}.` : "";
  const longest = longestCall(best.way, side * side);
  const call = every > 0 ? Math.min(every, iterations) : iterations;
  const longer =
    call > longest
      ? ` The longest recorded call is of ${longest} steps; the others are taken to cost what its last ones did.`
      : "";
  const device = profile.ways.some((way) => way.device !== "cpu");
  const gpu = all.find(({ way }) => way.device !== "cpu");
  const aboutGpu = !device
    ? " No GPU was recorded in this profile, so nothing is said about one."
    : gpu === undefined || gpu === best
      ? ""
      : ` The best on the GPU, ${gpu.way.backend}, takes ${seconds(gpu.run.warm)}.`;
  return (
    `Predicted, not measured: ${best.way.backend} is the fastest for ${side}x${side} ${setting.dtype}, ` +
    `${iterations} iteration${iterations === 1 ? "" : "s"}${copies}: ${seconds(best.run.warm)} warm, ${seconds(best.run.cold)} cold.${beyond}${longer}${aboutGpu}`
  );
}

export const partsOfRun: [string, string, (run: Prediction) => number][] = [
  ["copy in", "h2d", (run) => run.copyIn],
  ["steps", "compute", (run) => run.steps],
  ["copies on the way", "sync", (run) => run.snapshots],
  ["copy out", "d2h", (run) => run.copyOut],
];

/** Those whose bars can stand beside each other: what is much slower would make the rest a line. */
export const comparable = (all: Predicted[]) =>
  all.filter(({ run }) => run.warm <= 30 * all[0]!.run.warm);

/** Copies and calls in turns; more than can be seen become one stretch. */
export function stretches(
  setting: Setting,
  { run }: Predicted,
): { part: string; start: number; end: number }[] {
  const { iterations, every } = setting;
  const copies = every > 0 && every <= iterations ? Math.floor(iterations / every) : 0;
  const result: { part: string; start: number; end: number }[] = [];
  let now = 0;
  const add = (part: string, length: number) => {
    result.push({ part, start: now, end: now + length });
    now += length;
  };
  add("copy in", run.copyIn);
  if (copies === 0 || copies > 60) {
    add("steps", run.steps);
    if (run.snapshots > 0) add("copies on the way", run.snapshots);
  } else {
    const share = every / iterations;
    for (let i = 0; i < copies; ++i) {
      add("steps", run.steps * share);
      add("copies on the way", run.snapshots / copies);
    }
    const rest = run.steps * (1 - copies * share);
    if (rest > 0) add("steps", rest);
  }
  add("copy out", run.copyOut);
  return result;
}

export function tableOf(all: Predicted[]): Table {
  const time = { unit: "s", show: seconds };
  return {
    columns: [
      { name: "backend" },
      { name: "device" },
      { name: "warm run, predicted", ...time },
      { name: "cold run, predicted", ...time },
      { name: "set-up", ...time },
      ...partsOfRun.map(([name]) => ({ name, ...time })),
      { name: "beyond the record" },
    ],
    rows: all.map(({ way, run }) => [
      way.backend,
      way.device,
      run.warm,
      run.cold,
      run.setup,
      ...partsOfRun.map(([, , part]) => part(run)),
      run.beyond.join("; "),
    ]),
  };
}
