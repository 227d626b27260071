// A run on one time axis: what the host did, phase by phase, and beside it how long each engine of
// the device worked. The file has durations, not moments: phases stand in the order in which a run
// goes through them, and an engine's work begins with the phase that gives it its work.
import {
  type PhaseName,
  type Phases,
  phaseNames,
  type ResultFile,
  type Row,
} from "../data/results";
import { seconds } from "../data/units";
import {
  baseOption,
  categoryAxis,
  heightOfBars,
  type ItemPlace,
  nameWidth,
  stretchOfRow,
  valueAxis,
} from "./chart";
import { type ledgerParts, phaseColour } from "./palette";
import { rowsWithPhases } from "./ledger";
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

const kinds = ["warm", "cold"] as const;

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

/** Those that overlap directly below those that do not, the device's before the CPU's. */
function chosenRows(file: ResultFile): Row[] {
  const rows = rowsWithPhases(file);
  const onDevice = rows.filter((row) => (row.warm ?? row.cold)?.busy);
  const others = rows.filter((row) => !onDevice.includes(row));
  return [...onDevice, ...others].slice(0, mostRows);
}

export function timeline(file: ResultFile): Picture | Missing | null {
  if (file.experiment !== "comparison" && file.experiment !== "residency") return null;
  const title = "Timeline of a run";
  const all = rowsWithPhases(file);
  const rows = chosenRows(file);
  if (rows.length === 0) return { id: "timeline", title, missing: "no row has phases" };
  const segmentsOfKind = kinds.map((kind) =>
    rows.flatMap((row) => {
      const phases = row[kind];
      return phases === null ? [] : segmentsOf(row.name, phases);
    }),
  );
  const device = rows.some((row) => (row.warm ?? row.cold)?.busy);
  const first = rows[0]!;
  const phases = first.warm ?? first.cold!;
  const engines =
    phases.busy === null ? null : phases.busy.h2d + phases.busy.compute + phases.busy.d2h;
  const lanesOf = (segments: Segment[]) => [
    ...new Set(segments.map((each) => `${each.row}: ${each.lane}`)),
  ];
  return {
    id: "timeline",
    title,
    reading:
      engines !== null
        ? `${first.name} kept the engines of its device busy for ${seconds(engines)} of a ${first.warm ? "warm" : "cold"} run of ${seconds(phases.wall)}.`
        : `All of these runs are on the CPU, so each has one lane; the shortest is that of ${first.name}, ${seconds(phases.wall)}. ` +
          "A timed GPU row would show its copy engines and its kernels beside the host.",
    alternative: `Lanes of coloured stretches on an axis of seconds, for ${rows.length} rows${device ? ", with the device's engines" : ""}. Phases are in the order of a run; the moments are not recorded.`,
    height: heightOfBars(Math.max(...segmentsOfKind.map((each) => lanesOf(each).length)), 28),
    table: {
      columns: [
        { name: "row" },
        { name: "run" },
        { name: "lane" },
        { name: "phase" },
        { name: "from", unit: "s", show: seconds },
        { name: "to", unit: "s", show: seconds },
      ],
      rows: segmentsOfKind.flatMap((segments, index) =>
        segments.map((each) => [
          each.row,
          kinds[index] ?? "",
          each.lane,
          each.part,
          each.start,
          each.end,
        ]),
      ),
    },
    notDrawn: all
      .filter((row) => !rows.includes(row))
      .map((row) => [
        row.name,
        `only ${mostRows} rows are drawn, those of a device and the fastest`,
      ]),
    verification: verificationOfRows(rows),
    variants: ["warm run", "cold run"],
    option: (palette, narrow, variant) => {
      const segments = segmentsOfKind[variant] ?? [];
      const lanes = lanesOf(segments);
      const parts = [...new Set(segments.map((each) => each.part))];
      return {
        ...baseOption(palette),
        grid: { left: nameWidth(lanes, narrow) + 12, right: 24, top: 40, bottom: 48 },
        xAxis: valueAxis(palette, {
          name: narrow ? "time" : "time since the beginning of the run",
          show: seconds,
          min: 0,
        }),
        yAxis: categoryAxis(palette, lanes, { inverse: true, width: nameWidth(lanes, narrow) }),
        series: parts.map((part) => ({
          name: part,
          type: "custom",
          itemStyle: { color: phaseColour(palette, part) },
          encode: { x: [1, 2], y: 0 },
          data: segments
            .filter((each) => each.part === part)
            .map((each) => ({
              name: `${each.row}: ${each.lane}`,
              value: [lanes.indexOf(`${each.row}: ${each.lane}`), each.start, each.end],
            })),
          tooltip: {
            valueFormatter: (value: unknown) =>
              Array.isArray(value)
                ? seconds(Number(value[2]) - Number(value[1]))
                : seconds(Number(value)),
          },
          renderItem: (_params: unknown, place: ItemPlace) =>
            stretchOfRow(place, { fill: place.visual("color") }),
        })),
      };
    },
  };
}
