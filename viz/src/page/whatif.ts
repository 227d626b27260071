// The what-if panel: sliders, and beside them what the recorded profile of a machine predicts.
import { type Profile, readProfile } from "../data/model";
import { readResultFile, type ResultFile } from "../data/results";
import {
  comparable,
  measuredRuns,
  type Predicted,
  predictAll,
  sentence,
  type Setting,
  tableOf,
} from "../data/scenario";
import { csvOf } from "../data/table";
import { count } from "../data/units";
import { bars, crossover, timeline } from "../pictures/whatif";
import { ChartView } from "./chart_view";
import { chooser, slider } from "./controls";
import { button, download, el } from "./dom";
import { tableView } from "./table_view";

/** Of bench/results/: profiles that come with every page. */
const recorded: unknown[] = Object.values(
  import.meta.glob("../../../bench/results/*-profile.json", { eager: true, import: "default" }),
);

const counts = [1, 2, 5]
  .flatMap((digit) => [0, 1, 2, 3, 4, 5].map((power) => digit * 10 ** power))
  .sort((a, b) => a - b);

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

const gridName = (side: number) => `${side}x${side}`;

function profilesOf(files: ResultFile[]): Profile[] {
  const shipped = recorded.map((json, index) =>
    readResultFile({ ...(json as object), file: `recorded profile ${index + 1}` }),
  );
  return [...files, ...shipped].flatMap((file) => readProfile(file) ?? []);
}

/** Grids that the panel offers: what was recorded, and as far again on both sides. */
function sidesOf(profile: Profile): number[] {
  const largest = Math.max(...profile.ways.map((way) => way.grids[way.grids.length - 1]!.side));
  const smallest = Math.min(...profile.ways.map((way) => way.grids[0]!.side));
  return usualSides.filter((side) => side >= smallest / 2 && side <= 2 * largest);
}

/** The same question to a profile, as near as it can answer it. */
function askedOf(profile: Profile, question: Omit<Setting, "profile">): Setting {
  const dtypes = profile.ways.map((way) => way.dtype);
  const sides = sidesOf(profile);
  return {
    ...question,
    profile,
    dtype: dtypes.includes(question.dtype) ? question.dtype : dtypes[0]!,
    side: sides[nearest(sides, question.side)] ?? question.side,
  };
}

function controlsOf(
  profiles: Profile[],
  setting: Setting,
  change: (part: Partial<Setting>) => void,
): HTMLElement[] {
  const { profile } = setting;
  const machines = [...new Set(profiles.map((each) => each.machine))];
  const ofMachine = (machine: string) => profiles.filter((each) => each.machine === machine);
  const same = ofMachine(profile.machine);
  const transfers = same.map(
    ({ transfer, source }) =>
      `${transfer}${same.length > 1 ? ` (${source})` : ", the only one recorded"}`,
  );
  const dtypes = [...new Set(profile.ways.map((way) => way.dtype))];
  const sides = sidesOf(profile);
  const everies = [0, ...counts];
  const step = (every: number) => (every === 1 ? "every step" : `every ${every} steps`);
  return [
    chooser("Device profile", machines, machines.indexOf(profile.machine), (index) =>
      change({ profile: ofMachine(machines[index]!)[0]! }),
    ),
    chooser("Transfer mode", transfers, same.indexOf(profile), (index) =>
      change({ profile: same[index]! }),
    ),
    chooser("Type", dtypes, dtypes.indexOf(setting.dtype), (index) =>
      change({ dtype: dtypes[index]! }),
    ),
    slider("Grid", sides, sides.indexOf(setting.side), gridName, (side) => change({ side })),
    slider("Iterations", counts, nearest(counts, setting.iterations), count, (iterations) =>
      change({ iterations }),
    ),
    slider(
      "Copy to the host",
      everies,
      everies.indexOf(setting.every),
      (every) => (every === 0 ? "never" : step(every)),
      (every) => change({ every }),
    ),
  ];
}

const noProfile = () =>
  el(
    "p",
    {},
    "There is no profile of a machine in this page, of a GPU or of a CPU, so nothing is predicted. ",
    el("code", {}, "diffbench calibrate --out profile.json"),
    " records one; name it with the other files of ",
    el("code", {}, "diffbench report"),
    ".",
  );

/** What stands round the charts, and follows the sliders with them. */
function textsOf(setting: Setting, all: Predicted[]): { source: string; left: string } {
  const { source, machine, date, transfer } = setting.profile;
  const hidden = all.length - comparable(all).length;
  return {
    source: `Profile ${source}: ${machine}, ${date}, copies ${transfer}. A warm run is both copies and the steps; the model is that of diffbench advise.`,
    left:
      hidden > 0
        ? `${hidden} backend${hidden === 1 ? "" : "s"} more than 30 times as slow: in the table only.`
        : "",
  };
}

export function whatIf(files: ResultFile[]): HTMLElement {
  const section = el(
    "section",
    { class: "card", id: "what-if", "aria-labelledby": "what-if-title" },
    el("h2", { id: "what-if-title" }, "What if?"),
  );
  const profiles = profilesOf(files);
  if (profiles.length === 0) {
    section.append(noProfile());
    return section;
  }
  const start = { dtype: "float32", side: 640, iterations: 1000, every: 0 };
  let setting = askedOf(profiles[0]!, start);
  let all: Predicted[] = [];

  const told = el("p", { class: "reading", role: "status" });
  const controls = el("div", { class: "controls" });
  const source = el("p", { class: "provenance" });
  const left = el("p", { class: "muted" });
  const table = el("details", {}, el("summary", {}, "Table of the predictions"));
  const fillTable = () => {
    if (!table.open) return;
    const view = tableView(tableOf(all), "Table of the predictions");
    table.replaceChildren(table.firstElementChild!, view);
  };
  table.addEventListener("toggle", fillTable);
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
      (palette, narrow) =>
        crossover(setting, measuredRuns(files, setting), files[0]?.names ?? [], palette, narrow),
      "Predicted warm runs against the grid, dashed, and measured ones as points. The table has the numbers.",
      440,
    ),
  ];

  function show(): void {
    all = predictAll(setting);
    told.textContent = sentence(setting, all);
    section.classList.toggle("extrapolated", (all[0]?.run.beyond.length ?? 0) > 0);
    const texts = textsOf(setting, all);
    source.textContent = texts.source;
    left.textContent = texts.left;
    fillTable();
    for (const chart of charts) chart.redraw();
  }
  function fillControls(): void {
    controls.replaceChildren(
      ...controlsOf(profiles, setting, (part) => {
        setting = { ...setting, ...part };
        if (part.profile !== undefined) {
          setting = askedOf(part.profile, setting);
          fillControls();
        }
        show();
      }),
    );
  }

  const hint = "Hollow and dashed: predicted. Solid: measured, from the files of this page.";
  const save = button("Save CSV", () =>
    download("what-if.csv", new Blob([csvOf(tableOf(all))], { type: "text/csv" })),
  );
  fillControls();
  show();
  section.append(
    told,
    controls,
    el("p", { class: "muted" }, hint),
    ...charts.map((chart) => chart.element),
    left,
    el("div", { class: "actions" }, save),
    table,
    source,
  );
  return section;
}
