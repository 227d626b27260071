// SPDX-License-Identifier: Apache-2.0
// A run on one time axis: what the host did, phase by phase, and beside it how long each engine of
// the device worked. With --trace a file has the moments of the first parts of a run. Without, it has
// durations: phases stand in the order in which a run goes through them, and an engine's work begins with
// the phase that gives it its work.
import { list, num, text } from "../data/json";
import {
  type PhaseName,
  type Phases,
  phaseNames,
  type ResultFile,
  type Row,
} from "../data/results";
import { type Column, inSeconds, tableOf } from "../data/table";
import { seconds, shortened } from "../data/units";
import {
  heightOfBars,
  inRows,
  type ItemPlace,
  stretchOfRow,
  stretchSeries,
  stretchValues,
  tooltip,
  valueAxis,
} from "./chart";
import { chosenRows, namedOf, standInSentence, whyNotChosen } from "./choice";
import { type Run, runsByKind, withoutRuns } from "./ledger";
import { type ledgerParts, phaseColour } from "./palette";
import { drawing } from "./picture";
import { verificationOfRows } from "./proof";
import { teller } from "./tooltip";

/** More rows than that nobody chooses from; the reader can add one. */
const mostRows = 24;

type Part = (typeof ledgerParts)[number];
export interface Segment {
  row: string;
  kind: Run["kind"];
  /** Of the moments of a run, or of its phases in order. */
  by: "moments" | "order";
  lane: string;
  part: Part;
  start: number;
  end: number;
}
type Engine = "h2d" | "compute" | "d2h";
const laneOf = (engine: Engine) =>
  engine === "compute" ? "compute" : `${engine.toUpperCase()} engine`;

/** The phase at whose beginning an engine can start. */
const startOf: Record<Engine, PhaseName[]> = {
  h2d: ["h2d"],
  compute: ["launch", "compute"],
  d2h: ["d2h"],
};

type Placed = Pick<Segment, "lane" | "part" | "start" | "end">;

export function inOrder(phases: Phases): Placed[] {
  const segments: Placed[] = [];
  let now = 0;
  for (const part of [...phaseNames, "unexplained"] as const) {
    const length = part === "unexplained" ? phases.unexplained : phases.parts[part];
    if (length === null || length <= 0) continue;
    segments.push({ lane: "host", part, start: now, end: now + length });
    now += length;
  }
  if (phases.busy === null) return segments;
  for (const engine of ["h2d", "compute", "d2h"] as const) {
    const length = phases.busy[engine];
    if (length <= 0) continue;
    const host = segments.find((each) => startOf[engine].includes(each.part as PhaseName));
    const start = host?.start ?? 0;
    segments.push({ lane: laneOf(engine), part: engine, start, end: start + length });
  }
  return segments;
}

/** Empty without --trace. */
export function inTime(row: Row, kind: Run["kind"]): Placed[] {
  const segments = list(row.json, "moments", kind).flatMap((moment): Placed[] => {
    const [start, end] = [num(moment, "begin"), num(moment, "end")];
    const part = phaseNames.find((name) => name === text(moment, "phase"));
    const lane = text(moment, "lane");
    if (start === null || end === null || start < 0 || end < start || part === undefined) return [];
    const engine = (["h2d", "compute", "d2h"] as const).find((each) => each === lane);
    return [{ lane: engine === undefined ? "host" : laneOf(engine), part, start, end }];
  });
  // Lanes in one order, the host's first.
  return segments.sort((a, b) => Number(b.lane === "host") - Number(a.lane === "host"));
}

/** A run of one row on an axis of its own: what takes a thousand times as long elsewhere hides nothing. */
interface View {
  run: Run;
  by: Segment["by"];
}

const placedOf = ({ run, by }: View): Placed[] =>
  by === "order" ? inOrder(run.phases) : inTime(run.row, run.kind);
const segmentsOf = (view: View): Segment[] =>
  placedOf(view).map((each) => ({
    ...each,
    row: view.run.row.name,
    kind: view.run.kind,
    by: view.by,
  }));

/** Those that keep a device busy first, else the fastest; of each row its moments first, then its warm run. */
function viewsOf(file: ResultFile): View[] {
  const kinds = runsByKind(file);
  const chosen = kinds.flatMap(({ runs }) => chosenRows(runs, namedOf(file), mostRows));
  const rows = [...new Set(chosen.map(({ row }) => row))].sort(
    (a, b) => Number(b.warm?.busy != null) - Number(a.warm?.busy != null),
  );
  return rows.flatMap((row) =>
    (["moments", "order"] as const).flatMap((by) =>
      kinds.flatMap(({ runs }) => {
        const run = runs.find((each) => each.row === row);
        return run !== undefined && placedOf({ run, by }).length > 0 ? [{ run, by }] : [];
      }),
    ),
  );
}

function reading({ run, by }: View): string {
  const { row, kind, phases } = run;
  const longest = [...inOrder({ ...phases, busy: null })].sort(
    (a, b) => b.end - b.start - (a.end - a.start),
  )[0];
  const busy = phases.busy === null ? null : busyOf(run);
  return (
    `A ${kind} run of ${shortened(row.name)} takes ${seconds(phases.wall)}` +
    (longest === undefined
      ? ""
      : `, of which ${seconds(longest.end - longest.start)} ${longest.part}`) +
    (busy === null
      ? row.device === "cpu"
        ? "; it is on the CPU, so it has one lane"
        : ""
      : `; it kept the engines of its device busy for ${seconds(busy)}`) +
    "." +
    (by === "order"
      ? " Phases stand in order, not at their moments."
      : ` Moments of the first parts of its first ${kind} run, which need not be the median one.` +
        (busy === null
          ? ""
          : " The length of an engine's work is the device's own figure; its place follows from the host's calls.")) +
    standInSentence([row])
  );
}

function busyOf({ phases }: Run): number {
  const { h2d, compute, d2h } = phases.busy!;
  return h2d + compute + d2h;
}

const columns: Column<Segment>[] = [
  { name: "row", of: (each) => each.row },
  { name: "run", of: (each) => each.kind },
  { name: "by", of: (each) => each.by },
  { name: "lane", of: (each) => each.lane },
  { name: "phase", of: (each) => each.part },
  inSeconds("from", (each) => each.start),
  inSeconds("to", (each) => each.end),
  inSeconds("duration", (each) => each.end - each.start),
];
const tell = teller(columns);
const mostLanes = 4; // the host, and three engines

export const timeline = drawing("timeline", ["comparison", "residency"], (file) => {
  const views = viewsOf(file);
  if (views.length === 0) return "no row has phases and a proof";
  const rows = [...new Set(views.map(({ run }) => run.row))];
  const lanesOf = (view: View) => [...new Set(placedOf(view).map(({ lane }) => lane))];
  const most = Math.max(...views.map((view) => lanesOf(view).length));
  return {
    reading: (variant) => reading(views[variant]!),
    alternative:
      "Lanes of coloured stretches on an axis of seconds: the host's, and those of a device's engines.",
    height: heightOfBars(Math.min(most, mostLanes), 30),
    table: tableOf(columns, views.flatMap(segmentsOf)),
    notDrawn: (variant) => [
      ...runsByKind(file)
        .find(({ kind }) => kind === views[variant]!.run.kind)!
        .runs.filter((run) => !rows.includes(run.row))
        .map(({ row }): [string, string] => [row.name, whyNotChosen(row)]),
      ...withoutRuns(file, views[variant]!.run.kind),
    ],
    verification: verificationOfRows(rows),
    variants: views.map(({ run, by }) => `${run.row.name}, ${run.kind} run, ${by}`),
    answers: {
      questions: ["Row", "Run", "Placed by"],
      of: views.map(({ run, by }) => [run.row.name, `${run.kind} run`, by]),
    },
    zooms: true,
    option: (palette, narrow, variant) => {
      const view = views[variant]!;
      const segments = segmentsOf(view);
      const lanes = lanesOf(view);
      const parts = [...new Set(segments.map((each) => each.part))];
      return {
        ...inRows(palette, narrow, { names: lanes }),
        tooltip: tooltip(palette, "item"),
        xAxis: valueAxis(palette, {
          name:
            view.by === "order" ? "durations (in order, not moments)" : "time since the run began",
          show: seconds,
          min: 0,
        }),
        dataZoom: [
          // The wheel scrolls the page; with Ctrl, or by two fingers, it zooms.
          {
            type: "inside",
            filterMode: "none",
            zoomOnMouseWheel: "ctrl",
            preventDefaultMouseMove: false,
          },
        ],
        series: parts.map((part) => ({
          ...stretchSeries,
          tooltip: {},
          name: part,
          clip: true,
          itemStyle: { color: phaseColour(palette, part) },
          data: segments
            .filter((each) => each.part === part)
            .map((each) => ({
              name: each.lane,
              value: stretchValues(lanes.indexOf(each.lane), each.start, each.end),
              told: tell(`${each.row}, ${each.lane}, ${part}`, each),
            })),
          renderItem: (_params, place) =>
            stretchOfRow(place as ItemPlace, { fill: place.visual("color") }),
        })),
      };
    },
  };
});
