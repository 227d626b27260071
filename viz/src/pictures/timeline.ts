// A run on one time axis: what the host did, phase by phase, and beside it how long each engine of
// the device worked. The file has durations, not moments: phases stand in the order in which a run
// goes through them, and an engine's work begins with the phase that gives it its work.
import { type PhaseName, type Phases, phaseNames, type ResultFile } from "../data/results";
import { seconds } from "../data/units";
import {
  baseOption,
  categoryAxis,
  heightOfBars,
  type ItemPlace,
  nameWidth,
  stretchOfRow,
  stretchSeries,
  stretchValues,
  valueAxis,
} from "./chart";
import { chosenRows, whyNotChosen } from "./choice";
import { type ledgerParts, phaseColour } from "./palette";
import { type Run, runsByKind, withoutRuns } from "./ledger";
import type { Missing, Picture } from "./picture";
import { verificationOfRows } from "./proof";

const mostRows = 8;

type Part = (typeof ledgerParts)[number];
interface Segment {
  row: string;
  lane: string;
  part: Part;
  start: number;
  end: number;
}

/** The phase at whose beginning an engine can start. */
const startOf: Record<"h2d" | "compute" | "d2h", PhaseName[]> = {
  h2d: ["h2d"],
  compute: ["launch", "compute"],
  d2h: ["d2h"],
};

export function segmentsOf(row: string, phases: Phases): Segment[] {
  const segments: Segment[] = [];
  let now = 0;
  for (const part of [...phaseNames, "unexplained"] as const) {
    const length = part === "unexplained" ? phases.unexplained : phases.parts[part];
    if (length === null || length <= 0) continue;
    segments.push({ row, lane: "host", part, start: now, end: now + length });
    now += length;
  }
  if (phases.busy === null) return segments;
  for (const engine of ["h2d", "compute", "d2h"] as const) {
    const length = phases.busy[engine];
    if (length <= 0) continue;
    const host = segments.find((each) => startOf[engine].includes(each.part as PhaseName));
    const start = host?.start ?? 0;
    const lane = engine === "compute" ? "compute" : `${engine.toUpperCase()} engine`;
    segments.push({ row, lane, part: engine, start, end: start + length });
  }
  return segments;
}

function reading(runs: Run[], kind: Run["kind"]): string {
  const [first] = runs;
  if (first === undefined) return `No verified row has a ${kind} run.`;
  const onDevice = runs.find((run) => run.phases.busy !== null);
  if (onDevice === undefined)
    return (
      `All of these ${kind} runs are on the CPU, so each has one lane; the shortest is that of ${first.row.name}, ${seconds(first.seconds)}. ` +
      "A timed GPU row would show its copy engines and its kernels beside the host."
    );
  const { h2d, compute, d2h } = onDevice.phases.busy!;
  return `${onDevice.row.name} kept the engines of its device busy for ${seconds(h2d + compute + d2h)} of a ${kind} run of ${seconds(onDevice.seconds)}.`;
}

export function timeline(file: ResultFile): Picture | Missing | null {
  if (file.experiment !== "comparison" && file.experiment !== "residency") return null;
  const title = "Timeline of a run";
  const views = runsByKind(file).map(({ kind, runs }) => {
    const drawn = chosenRows(runs, [file.baseline], mostRows);
    const segments = drawn.flatMap((run) => segmentsOf(run.row.name, run.phases));
    return { kind, runs, drawn, segments };
  });
  if (!views.some((view) => view.drawn.length > 0))
    return { id: "timeline", title, missing: "no row has phases and a proof" };
  const lanesOf = (segments: Segment[]) => [
    ...new Set(segments.map((each) => `${each.row}: ${each.lane}`)),
  ];
  const device = views.some((view) => view.drawn.some((run) => run.phases.busy !== null));
  return {
    id: "timeline",
    title,
    reading: (variant) => reading(views[variant]!.drawn, views[variant]!.kind),
    alternative: `Lanes of coloured stretches on an axis of seconds, for at most ${mostRows} rows${device ? ", with the device's engines" : ""}. Phases are in the order of a run; the moments are not recorded.`,
    height: heightOfBars(Math.max(...views.map((view) => lanesOf(view.segments).length)), 28),
    table: {
      columns: [
        { name: "row" },
        { name: "run" },
        { name: "lane" },
        { name: "phase" },
        { name: "from", unit: "s", show: seconds },
        { name: "to", unit: "s", show: seconds },
      ],
      rows: views.flatMap(({ kind, segments }) =>
        segments.map((each) => [each.row, kind, each.lane, each.part, each.start, each.end]),
      ),
    },
    notDrawn: (variant) => [
      ...views[variant]!.runs.filter((run) => !views[variant]!.drawn.includes(run)).map(
        ({ row }): [string, string] => [
          row.name,
          row.verified === true
            ? `only ${mostRows} rows are drawn: the best of CPU and GPU, the baseline, the naive port, then the fastest`
            : whyNotChosen(row),
        ],
      ),
      ...withoutRuns(file, views[variant]!.kind),
    ],
    verification: verificationOfRows([
      ...new Set(views.flatMap(({ drawn }) => drawn.map(({ row }) => row))),
    ]),
    variants: views.map(({ kind }) => `${kind} run`),
    option: (palette, narrow, variant) => {
      const { segments } = views[variant]!;
      const lanes = lanesOf(segments);
      const parts = [...new Set(segments.map((each) => each.part))];
      return {
        ...baseOption(palette),
        grid: { left: nameWidth(lanes, narrow) + 12, right: 24, top: 40, bottom: 48 },
        xAxis: valueAxis(palette, {
          name: narrow
            ? "durations in order, no moments"
            : "durations of the phases in the order of a run (order, not moments)",
          show: seconds,
          min: 0,
        }),
        yAxis: categoryAxis(palette, lanes, { inverse: true, width: nameWidth(lanes, narrow) }),
        series: parts.map((part) => ({
          ...stretchSeries,
          name: part,
          itemStyle: { color: phaseColour(palette, part) },
          data: segments
            .filter((each) => each.part === part)
            .map((each) => ({
              name: `${each.row}: ${each.lane}`,
              value: stretchValues(
                lanes.indexOf(`${each.row}: ${each.lane}`),
                each.start,
                each.end,
              ),
            })),
          renderItem: (_params: unknown, place: ItemPlace) =>
            stretchOfRow(place, { fill: place.visual("color") }),
        })),
      };
    },
  };
}
