// SPDX-License-Identifier: Apache-2.0
// Runs of one experiment on one machine, one after another: a strip for each backend with its time in
// every run, and where `diffbench compare` says that it changed.
import { num, text } from "../data/json";
import type { ComparedRow, Pair } from "../data/pairs";
import type * as schema from "../data/result_schema";
import type { ResultFile } from "../data/results";
import { figure, percent, seconds, shortened, times } from "../data/units";
import { type Column, inSeconds, tableOf } from "../data/table";
import { chosenRows } from "./choice";
import { kindColour, type Palette } from "./palette";
import type { Picture } from "./picture";
import { heightOf, limitsAround, mostStrips, stripsOption } from "./strips";
import { teller } from "./tooltip";

interface Point {
  file: ResultFile;
  date: string;
  seconds: number | null;
  /** Over the first run of the strip. */
  relative: number | null;
  low: number | null;
  high: number | null;
  /** Against the run before; null in the first one, and where nothing was compared. */
  ratio: number | null;
  verdict: schema.Verdict | null;
}

interface Strip {
  name: string;
  gpu: boolean;
  /** Seconds. */
  first: number;
  points: Point[];
}

type Rows = Map<string, ComparedRow>;

function pointOf(
  file: ResultFile,
  name: string,
  to: Rows | undefined,
  from: Rows | undefined,
): Point {
  const [arrived, left] = [to?.get(name), from?.get(name)];
  const interval = file.rows.find((row) => row.name === name)?.json;
  return {
    file,
    date: text(file.context, "date"),
    seconds: arrived?.new ?? left?.old ?? null,
    relative: null,
    low: num(interval, "seconds_per_iteration_interval", "low"),
    high: num(interval, "seconds_per_iteration_interval", "high"),
    ratio: arrived?.ratio ?? null,
    verdict: arrived?.verdict ?? null,
  };
}

/** Of all rows that any pair of the chain has compared. */
function stripsOf(chain: Pair[]): Strip[] {
  const files = [
    ...chain.slice(0, 1).map(({ before }) => before),
    ...chain.map(({ after }) => after),
  ];
  const names = chain.flatMap(({ rows }) =>
    rows.filter((row) => row.ratio !== null).map((row) => row.name),
  );
  const rows = chain.map((pair): Rows => new Map(pair.rows.map((row) => [row.name, row])));
  return [...new Set(names)].map((name): Strip => {
    const points = files.map((file, index) => pointOf(file, name, rows[index - 1], rows[index]));
    const row = files.flatMap((file) => file.rows).find((each) => each.name === name);
    const first = firstOf(points);
    return {
      name,
      gpu: row !== undefined && row.device !== "cpu",
      first,
      points: points.map((point) => ({
        ...point,
        relative: point.seconds === null ? null : point.seconds / first,
      })),
    };
  });
}

/** Those with a change first: they are what a reader looks for. */
function drawnOf(strips: Strip[], newest: ResultFile): Strip[] {
  const changed = strips.filter(({ points }) => points.some(isBreak)).map(({ name }) => name);
  const timed = newest.rows.flatMap((row) =>
    row.seconds === null ? [] : [{ row, seconds: row.seconds }],
  );
  const chosen = chosenRows(timed, [newest.baseline], mostStrips).map(({ row }) => row.name);
  const wanted = [...new Set([...changed, ...chosen, ...strips.map(({ name }) => name)])];
  return strips.filter(({ name }) => wanted.slice(0, mostStrips).includes(name));
}

const isBreak = ({ verdict }: Point) => verdict === "FASTER" || verdict === "SLOWER";

function reading(strips: Strip[]): string {
  const points = strips[0]?.points ?? [];
  const day = (point: Point | undefined) => point?.date.slice(0, 10) || "an unknown day";
  const breaks = strips.flatMap(({ name, points: each }) =>
    each
      .filter(isBreak)
      .map(
        ({ verdict, ratio, file }) =>
          `${shortened(name, 30)} ${verdict} in ${shortened(file.name, 30)} (${times(ratio ?? NaN)})`,
      ),
  );
  const span = `${points.length} runs of this machine from ${day(points[0])} to ${day(points.at(-1))}`;
  if (breaks.length === 0) return `${span}: no row changed beyond doubt from one run to the next.`;
  const more = breaks.length > 4 ? `; and ${breaks.length - 4} more` : "";
  return `${span}: ${breaks.slice(0, 4).join("; ")}${more}.`;
}

/** Against the first run that has a time: strips of one kind have one axis. */
const firstOf = (points: Point[]) => points.find((point) => point.seconds !== null)?.seconds ?? NaN;

const columns: Column<[string, Point]>[] = [
  { name: "row", of: ([name]) => name },
  { name: "date", of: ([, point]) => point.date },
  { name: "file", of: ([, point]) => point.file.name },
  { name: "build", of: ([, point]) => text(point.file.context, "git_sha").slice(0, 10) },
  inSeconds("median", ([, point]) => point.seconds),
  { name: "over the first run", show: percent, of: ([, point]) => point.relative },
  inSeconds("interval from", ([, point]) => point.low),
  inSeconds("to", ([, point]) => point.high),
  { name: "over the run before", show: figure, of: ([, point]) => point.ratio },
  { name: "verdict", of: ([, point]) => point.verdict },
];
const tell = teller(columns);
const told = columns.slice(1).map(({ name }) => name);

/** Of the axis that strips of a kind share, with the first run in sight. */
const limitsOf = (strips: Strip[]) =>
  limitsAround(
    1,
    strips.flatMap(({ points }) =>
      points.flatMap(({ relative }) => (relative === null ? [] : [relative])),
    ),
  );

const drawing = (strips: Strip[], palette: Palette) =>
  stripsOption(
    strips.map((strip) => ({
      name: strip.name,
      title: `${shortened(strip.name, 40)}, ${seconds(strip.first)} at first`,
      colour: (colours) => kindColour(colours, strip.gpu ? "GPU" : "CPU"),
      limits: limitsOf(strips.filter(({ gpu }) => gpu === strip.gpu)),
      points: strip.points.map((point) => ({
        date: point.date,
        value: point.relative,
        interval:
          point.low === null || point.high === null
            ? null
            : { low: point.low / strip.first, high: point.high / strip.first },
        verdict: isBreak(point) ? point.verdict : null,
        change: isBreak(point),
        told: tell(strip.name, [strip.name, point], told),
      })),
    })),
    percent,
    palette,
  );

/** `chain` has two pairs or more, each beginning with the file that the one before ended with. */
export function history(chain: Pair[]): Picture | null {
  const newest = chain.at(-1)?.after;
  if (newest === undefined || chain.length < 2) return null;
  const strips = stripsOf(chain);
  const drawn = drawnOf(strips, newest);
  return {
    id: "history",
    title: "Run after run",
    reading: reading(strips),
    alternative:
      "A strip for each backend: the median of every run with its interval, against its first run, at the dates of the runs; a dashed line where the verdict against the run before is FASTER or SLOWER.",
    height: heightOf(drawn.length),
    table: tableOf(
      columns,
      strips.flatMap(({ name, points }) => points.map((point): [string, Point] => [name, point])),
    ),
    notDrawn: strips
      .filter((strip) => !drawn.includes(strip))
      .map(({ name }): [string, string] => [name, "in the table only"]),
    verification:
      "The rows' proofs are in their files. A change is marked where diffbench compare has a verdict on two runs that followed one another.",
    option: (palette) => drawing(drawn, palette),
  };
}
