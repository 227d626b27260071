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
import { seconds } from "../data/units";
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
import { type Run, runsByKind, withoutRuns, doubtOf } from "./ledger";
import { type ledgerParts, phaseColour } from "./palette";
import { drawing } from "./picture";
import { verificationOfRows } from "./proof";
import { teller } from "./tooltip";

const mostRows = 8;

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

interface View {
  kind: Run["kind"];
  by: Segment["by"];
  runs: Run[];
  drawn: Run[];
  segments: Segment[];
}

function viewsOf(file: ResultFile): View[] {
  return (["moments", "order"] as const).flatMap((by) =>
    runsByKind(file).flatMap(({ kind, runs }): View[] => {
      const placed = (run: Run) => (by === "order" ? inOrder(run.phases) : inTime(run.row, kind));
      const able = runs.filter((run) => placed(run).length > 0);
      const drawn = chosenRows(able, namedOf(file), mostRows);
      const segments = drawn.flatMap((run) =>
        placed(run).map((each) => ({ ...each, row: run.row.name, kind, by })),
      );
      return by === "order" || drawn.length > 0 ? [{ kind, by, runs, drawn, segments }] : [];
    }),
  );
}

function reading({ runs, drawn, kind, by }: View): string {
  const [first] = drawn;
  if (first === undefined) return `No verified row has a ${kind} run.`;
  const onDevice = drawn.find((run) => run.phases.busy !== null);
  const why = doubtOf(runs);
  const shortest =
    why === ""
      ? `the shortest is that of ${first.row.name}, ${seconds(first.seconds)}`
      : `the shortest is not settled (${why}); that of ${first.row.name} took ${seconds(first.seconds)}`;
  const told =
    onDevice === undefined
      ? `All of these ${kind} runs are on the CPU, so each has one lane; ${shortest}. ` +
        "A timed GPU row would show its copy engines and its kernels beside the host."
      : `${onDevice.row.name} kept the engines of its device busy for ${seconds(busyOf(onDevice))} of a ${kind} run of ${seconds(onDevice.seconds)}.`;
  const placed =
    by === "order"
      ? " Phases stand in order, not at their moments."
      : ` Moments of the first parts of its first ${kind} run, which need not be the median one.` +
        (onDevice === undefined
          ? ""
          : " The length of an engine's work is the device's own figure; its place follows from the host's calls.");
  return told + placed + standInSentence(drawn.map((run) => run.row));
}

function busyOf({ phases }: Run): number {
  const { h2d, compute, d2h } = phases.busy!;
  return h2d + compute + d2h;
}

const laneName = (each: Segment) => `${each.row}: ${each.lane}`;
const lanesOf = (segments: Segment[]) => [...new Set(segments.map(laneName))];
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

export const timeline = drawing("timeline", ["comparison", "residency"], (file) => {
  const views = viewsOf(file);
  if (!views.some((view) => view.drawn.length > 0)) return "no row has phases and a proof";
  const device = views.some((view) => view.drawn.some((run) => run.phases.busy !== null));
  const moments = views.some((view) => view.by === "moments");
  return {
    reading: (variant) => reading(views[variant]!),
    alternative: `Lanes of coloured stretches on an axis of seconds, for at most ${mostRows} rows${device ? ", with the device's engines" : ""}.${moments ? "" : " Phases are in the order of a run; the moments are not recorded (--trace records them)."}`,
    height: heightOfBars(Math.max(...views.map((view) => lanesOf(view.segments).length)), 28),
    table: tableOf(
      columns,
      views.flatMap(({ segments }) => segments),
    ),
    notDrawn: (variant) => {
      const { kind, by, runs, drawn } = views[variant]!;
      const why = ({ row }: Run) => {
        if (row.verified !== true) return whyNotChosen(row);
        if (by === "moments" && inTime(row, kind).length === 0)
          return `the file has no moments of a ${kind} run of it`;
        return whyNotChosen(row);
      };
      return [
        ...runs
          .filter((run) => !drawn.includes(run))
          .map((run): [string, string] => [run.row.name, why(run)]),
        ...withoutRuns(file, kind),
      ];
    },
    verification: verificationOfRows([
      ...new Set(views.flatMap(({ drawn }) => drawn.map(({ row }) => row))),
    ]),
    variants: views.map(({ kind, by }) => `${kind} run${moments ? `, ${by}` : ""}`),
    zooms: true,
    option: (palette, narrow, variant) => {
      const { segments, by } = views[variant]!;
      const lanes = lanesOf(segments);
      const parts = [...new Set(segments.map((each) => each.part))];
      const inLong =
        by === "order"
          ? "durations of the phases in the order of a run"
          : "time since the run began";
      const inShort = by === "order" ? "durations in order" : "time";
      return {
        ...inRows(palette, narrow, { names: lanes }),
        tooltip: tooltip(palette, "item"),
        xAxis: valueAxis(palette, {
          name: `${narrow ? inShort : inLong}${by === "order" ? " (order, not moments)" : ""}`,
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
              name: laneName(each),
              value: stretchValues(lanes.indexOf(laneName(each)), each.start, each.end),
              told: tell(`${laneName(each)}, ${part}`, each),
            })),
          renderItem: (_params, place) =>
            stretchOfRow(place as ItemPlace, { fill: place.visual("color") }),
        })),
      };
    },
  };
});
