// The what-if panel: sliders, and beside them what the recorded profile of a machine predicts. All of
// it is predicted and drawn hollow and dashed; measured runs that fit lie over it as solid points.
import type { EChartsCoreOption } from "echarts/core";
import { text } from "../data/json";
import {
  longestCall,
  predict,
  type Prediction,
  type Profile,
  readProfile,
  type Way,
} from "../data/model";
import { readResultFile, type ResultFile, type Row } from "../data/results";
import { csvOf, type Table } from "../data/table";
import { count, figure, seconds } from "../data/units";
import {
  baseOption,
  categoryAxis,
  logLimits,
  nameWidth,
  plainLine,
  valueAxis,
} from "../pictures/chart";
import { type Palette, phaseColour, seriesColour } from "../pictures/palette";
import { readRows } from "../pictures/crossover";
import { ChartView } from "./chart_view";
import { button, download, el } from "./dom";
import { tableView } from "./table_view";

/** Of bench/results/: profiles that come with every page. */
const recorded: unknown[] = Object.values(
  import.meta.glob("../../../bench/results/*-profile.json", { eager: true, import: "default" }),
);

const counts = [1, 2, 5]
  .flatMap((digit) => [0, 1, 2, 3, 4, 5].map((power) => digit * 10 ** power))
  .sort((a, b) => a - b);

interface Setting {
  profile: Profile;
  dtype: string;
  side: number;
  iterations: number;
  /** Steps between two copies to the host; 0: none. */
  every: number;
}
interface Predicted {
  way: Way;
  run: Prediction;
}

export function profilesOf(files: ResultFile[]): Profile[] {
  const shipped = recorded.map((json, index) =>
    readResultFile({ ...(json as object), file: `recorded profile ${index + 1}` }),
  );
  return [...files, ...shipped].flatMap((file) => readProfile(file) ?? []);
}

function predictAll({ profile, dtype, side, iterations, every }: Setting): Predicted[] {
  return profile.ways
    .filter((way) => way.dtype === dtype)
    .map((way) => ({ way, run: predict(way, side * side, iterations, every) }))
    .sort((a, b) => a.run.warm - b.run.warm);
}

/** Measured warm runs by this setting's iterations, type and machine, at any grid. */
function measuredRuns(files: ResultFile[], setting: Setting): { row: Row; side: number }[] {
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

function sentence(setting: Setting, all: Predicted[]): string {
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

const partsOfRun: [string, string, (run: Prediction) => number][] = [
  ["copy in", "h2d", (run) => run.copyIn],
  ["steps", "compute", (run) => run.steps],
  ["copies on the way", "sync", (run) => run.snapshots],
  ["copy out", "d2h", (run) => run.copyOut],
];

/** Hollow and dashed: predicted. */
const hollow = (colour: string, palette: Palette) => ({
  color: `${colour}${palette.dark ? "55" : "33"}`,
  borderColor: colour,
  borderWidth: 1.5,
  borderType: "dashed",
});

/** What is much slower would make the rest a line. */
const drawnBars = (all: Predicted[]) => all.filter(({ run }) => run.warm <= 30 * all[0]!.run.warm);

function bars(all: Predicted[], palette: Palette, narrow: boolean): EChartsCoreOption {
  const drawn = drawnBars(all);
  const names = drawn.map(({ way }) => way.backend);
  return {
    ...baseOption(palette),
    tooltip: {
      ...baseOption(palette).tooltip,
      trigger: "axis",
      axisPointer: { type: "shadow" },
      valueFormatter: (value: unknown) => seconds(Number(value)),
    },
    grid: { left: nameWidth(names, narrow) + 12, right: 28, top: 40, bottom: 48 },
    xAxis: valueAxis(palette, { name: "predicted warm run", show: seconds, min: 0 }),
    yAxis: categoryAxis(palette, names, { inverse: true, width: nameWidth(names, narrow) }),
    series: partsOfRun.map(([name, phase, part]) => ({
      name,
      type: "bar",
      stack: "run",
      barMaxWidth: 22,
      itemStyle: hollow(phaseColour(palette, phase), palette),
      data: drawn.map(({ run }) => part(run)),
    })),
  };
}

/** Copies and calls in turns; more than can be seen become one stretch. */
function stretches(
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

function timeline(
  setting: Setting,
  all: Predicted[],
  palette: Palette,
  narrow: boolean,
): EChartsCoreOption {
  const gpu = all.find(({ way }) => way.device !== "cpu");
  const drawn = [...new Set([...all.slice(0, 3), ...(gpu ? [gpu] : [])])];
  const names = drawn.map(({ way }) => way.backend);
  const runs = drawn.map((each) => stretches(setting, each));
  return {
    ...baseOption(palette),
    grid: { left: nameWidth(names, narrow) + 12, right: 28, top: 40, bottom: 48 },
    xAxis: valueAxis(palette, {
      name: narrow ? "predicted time" : "predicted time since the beginning of a warm run",
      show: seconds,
      min: 0,
    }),
    yAxis: categoryAxis(palette, names, { inverse: true, width: nameWidth(names, narrow) }),
    series: partsOfRun.map(([name, phase]) => ({
      name,
      type: "custom",
      itemStyle: { color: phaseColour(palette, phase) },
      encode: { x: [1, 2], y: 0 },
      data: runs.flatMap((run, index) =>
        run
          .filter((each) => each.part === name)
          .map((each) => ({ name: names[index] ?? "", value: [index, each.start, each.end] })),
      ),
      tooltip: {
        valueFormatter: (value: unknown) =>
          Array.isArray(value) ? seconds(Number(value[2]) - Number(value[1])) : "",
      },
      renderItem: (
        _params: unknown,
        api: { value: (dimension: number) => number; coord: (point: number[]) => [number, number] },
      ) => {
        const [x1, y] = api.coord([api.value(1), api.value(0)]);
        const [x2] = api.coord([api.value(2), api.value(0)]);
        const { color, borderColor } = hollow(phaseColour(palette, phase), palette);
        return {
          type: "rect",
          shape: { x: x1, y: y - 10, width: Math.max(1, x2 - x1), height: 20 },
          style: { fill: color, stroke: borderColor, lineWidth: 1, lineDash: [3, 2] },
        };
      },
    })),
  };
}

function crossover(
  setting: Setting,
  measured: { row: Row; side: number }[],
  palette: Palette,
  narrow: boolean,
): EChartsCoreOption {
  const ways = setting.profile.ways.filter((way) => way.dtype === setting.dtype);
  const smallest = Math.min(...ways.map((way) => way.grids[0]!.side));
  const largest = Math.max(...ways.map((way) => way.grids[way.grids.length - 1]!.side));
  const sides = Array.from(
    { length: 60 },
    (_each, index) => (smallest / 2) * ((4 * largest) / smallest) ** (index / 59),
  );
  const curve = (way: Way) =>
    sides.map((side) => [side, predict(way, side * side, setting.iterations, setting.every).warm]);
  const curves = ways.map(curve);
  const heights = [
    ...curves.flat().map((point) => point[1]!),
    ...measured.map(({ row }) => row.warm!.wall),
  ];
  return {
    ...baseOption(palette),
    tooltip: {
      ...baseOption(palette).tooltip,
      valueFormatter: (value: unknown) =>
        Array.isArray(value) ? seconds(Number(value[1])) : String(value),
    },
    grid: { left: narrow ? 66 : 84, right: 28, top: 56, bottom: 52 },
    xAxis: valueAxis(palette, {
      name: narrow
        ? "side of the grid"
        : "side of the grid (cells); shaded: not recorded, extrapolated",
      log: true,
      show: figure,
      min: sides[0]!,
      max: sides[59]!,
    }),
    yAxis: valueAxis(palette, {
      name: "warm run",
      log: true,
      show: seconds,
      gap: narrow ? 50 : 66,
      ...logLimits(heights),
    }),
    series: [
      ...ways.map((way, index) => ({
        name: way.backend,
        type: "line",
        symbol: "none",
        lineStyle: {
          type: "dashed",
          width: way.device === "cpu" ? 1.5 : 2.5,
          color: seriesColour(palette, index),
        },
        itemStyle: { color: seriesColour(palette, index) },
        data: curves[index] ?? [],
        ...(index === 0
          ? {
              markLine: {
                ...plainLine,
                lineStyle: { color: palette.text, type: "solid" },
                label: { color: palette.text, formatter: `${setting.side}x${setting.side}` },
                data: [{ xAxis: setting.side }],
              },
              markArea: {
                silent: true,
                itemStyle: { color: palette.muted, opacity: 0.18 },
                data: [
                  [{ xAxis: sides[0] }, { xAxis: smallest }],
                  [{ xAxis: largest }, { xAxis: sides[59] }],
                ],
              },
            }
          : {}),
      })),
      ...(measured.length === 0
        ? []
        : [
            {
              name: "measured",
              type: "scatter",
              symbolSize: 9,
              z: 5,
              itemStyle: { color: palette.text },
              data: measured.map(({ row, side }) => ({
                name: `${row.name}, measured`,
                value: [side, row.warm!.wall],
              })),
            },
          ]),
    ],
  };
}

function tableOf(all: Predicted[]): Table {
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

function slider(
  label: string,
  values: number[],
  start: number,
  show: (value: number) => string,
  change: (value: number) => void,
): HTMLElement {
  const output = el("output", {}, show(values[start] ?? 0));
  const input = el("input", {
    type: "range",
    min: "0",
    max: String(values.length - 1),
    step: "1",
    value: String(start),
    "aria-label": label,
    "aria-valuetext": show(values[start] ?? 0),
  });
  input.addEventListener("input", () => {
    const value = values[Number(input.value)] ?? 0;
    output.textContent = show(value);
    input.setAttribute("aria-valuetext", show(value));
    change(value);
  });
  return el("label", {}, el("span", {}, `${label}: `, output), input);
}

function chooser(
  label: string,
  names: string[],
  chosen: number,
  change: (index: number) => void,
): HTMLElement {
  const select = el(
    "select",
    {},
    ...names.map((name, index) =>
      el("option", { value: String(index), ...(index === chosen ? { selected: "" } : {}) }, name),
    ),
  );
  select.addEventListener("change", () => change(select.selectedIndex));
  select.disabled = names.length < 2;
  return el("label", {}, el("span", {}, `${label}: `), select);
}

const nearest = (values: number[], wanted: number) =>
  values.reduce(
    (best, value, index) =>
      Math.abs(Math.log(value / wanted)) < Math.abs(Math.log(values[best]! / wanted))
        ? index
        : best,
    0,
  );

const usualSides = [
  4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 640, 768, 1024, 1536, 2048, 3072,
  4096, 6144, 8192, 16384, 32768, 65536,
];

export function whatIf(files: ResultFile[]): HTMLElement {
  const section = el(
    "section",
    { class: "card", id: "what-if", "aria-labelledby": "what-if-title" },
    el("h2", { id: "what-if-title" }, "What if?"),
  );
  const profiles = profilesOf(files);
  if (profiles.length === 0) {
    section.append(
      el(
        "p",
        {},
        "There is no profile of a machine in this page, of a GPU or of a CPU, so nothing is predicted. ",
        el("code", {}, "diffbench calibrate --out profile.json"),
        " records one; name it with the other files of ",
        el("code", {}, "diffbench report"),
        ".",
      ),
    );
    return section;
  }
  const machines = [...new Set(profiles.map((profile) => profile.machine))];
  const ofMachine = (machine: string) => profiles.filter((profile) => profile.machine === machine);
  const startingAt = (profile: Profile): Setting => {
    const dtype = profile.ways[0]!.dtype;
    return { profile, dtype, side: 640, iterations: 1000, every: 0 };
  };
  let setting = startingAt(profiles[0]!);
  let all: Predicted[] = [];

  const told = el("p", { class: "reading", role: "status" });
  const controls = el("div", { class: "controls" });
  const table = el("details", {}, el("summary", {}, "Table of the predictions"));
  const source = el("p", { class: "provenance" });
  const left = el("p", { class: "muted" });
  const charts = [
    new ChartView(
      (palette, narrow) => bars(all, palette, narrow),
      "Predicted warm runs as bars, divided into copies and steps. The table has the numbers.",
      320,
    ),
    new ChartView(
      (palette, narrow) => timeline(setting, all, palette, narrow),
      "Predicted course of the fastest runs on an axis of time. The table has the numbers.",
      240,
    ),
    new ChartView(
      (palette, narrow) => crossover(setting, measuredRuns(files, setting), palette, narrow),
      "Predicted warm runs against the grid, dashed, and measured ones as points. The table has the numbers.",
      440,
    ),
  ];
  const fillTable = () => {
    if (table.open)
      table.replaceChildren(
        table.firstElementChild!,
        tableView(tableOf(all), "Table of the predictions"),
      );
  };
  table.addEventListener("toggle", fillTable);

  function update(change: Partial<Setting>): void {
    setting = { ...setting, ...change };
    all = predictAll(setting);
    told.textContent = sentence(setting, all);
    section.classList.toggle("extrapolated", (all[0]?.run.beyond.length ?? 0) > 0);
    const { profile } = setting;
    source.textContent = `Profile ${profile.source}: ${profile.machine}, ${profile.date}, copies ${profile.transfer}. A warm run is both copies and the steps; the model is that of diffbench advise.`;
    const hidden = all.length - drawnBars(all).length;
    left.textContent =
      hidden > 0
        ? `${hidden} backend${hidden === 1 ? "" : "s"} more than 30 times as slow: in the table only.`
        : "";
    fillTable();
    for (const chart of charts) chart.redraw();
  }

  function fillControls(): void {
    const { profile } = setting;
    const same = ofMachine(profile.machine);
    const dtypes = [...new Set(profile.ways.map((way) => way.dtype))];
    const largest = Math.max(...profile.ways.map((way) => way.grids[way.grids.length - 1]!.side));
    const smallest = Math.min(...profile.ways.map((way) => way.grids[0]!.side));
    const sides = usualSides.filter((side) => side >= smallest / 2 && side <= 2 * largest);
    const choose = (next: Profile) => {
      const keeps = next.ways.some((way) => way.dtype === setting.dtype);
      update({ profile: next, ...(keeps ? {} : { dtype: next.ways[0]!.dtype }) });
      fillControls();
    };
    setting.side = sides[nearest(sides, setting.side)] ?? setting.side;
    const everies = [0, ...counts];
    controls.replaceChildren(
      chooser("Device profile", machines, machines.indexOf(profile.machine), (index) =>
        choose(ofMachine(machines[index] ?? "")[0] ?? profile),
      ),
      chooser(
        "Transfer mode",
        same.map(
          (each) =>
            `${each.transfer}${same.length > 1 ? ` (${each.source})` : ", the only one recorded"}`,
        ),
        same.indexOf(profile),
        (index) => choose(same[index] ?? profile),
      ),
      chooser("Type", dtypes, dtypes.indexOf(setting.dtype), (index) =>
        update({ dtype: dtypes[index] ?? setting.dtype }),
      ),
      slider(
        "Grid",
        sides,
        sides.indexOf(setting.side),
        (side) => `${side}x${side}`,
        (side) => update({ side }),
      ),
      slider("Iterations", counts, nearest(counts, setting.iterations), count, (iterations) =>
        update({ iterations }),
      ),
      slider(
        "Copy to the host",
        everies,
        everies.indexOf(setting.every),
        (every) => (every === 0 ? "never" : every === 1 ? "every step" : `every ${every} steps`),
        (every) => update({ every }),
      ),
    );
  }

  fillControls();
  update({});
  section.append(
    told,
    controls,
    el(
      "p",
      { class: "muted" },
      "Hollow and dashed: predicted. Solid: measured, from the files of this page.",
    ),
    ...charts.map((chart) => chart.element),
    left,
    el(
      "div",
      { class: "actions" },
      button("Save CSV", () =>
        download("what-if.csv", new Blob([csvOf(tableOf(all))], { type: "text/csv" })),
      ),
    ),
    table,
    source,
  );
  return section;
}
