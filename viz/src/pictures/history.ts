// SPDX-License-Identifier: Apache-2.0
// Runs of one experiment on one machine, one after another: a strip for each backend with its time in
// every run, and where `diffbench compare` says that it changed.
import { num, text } from "../data/json";
import type { ComparedRow, Pair } from "../data/pairs";
import type * as schema from "../data/result_schema";
import type { ResultFile } from "../data/results";
import { figure, percent, seconds, shortened, times } from "../data/units";
import { type Column, inSeconds, tableOf } from "../data/table";
import type { XAXisComponentOption } from "echarts";
import { baseOption, plainLine, tooltip, valueAxis, whiskers } from "./chart";
import { chosenRows } from "./choice";
import type { ChartOption, Series } from "./option";
import { kindColour, type Look, seriesColour, type Palette } from "./palette";
import type { Picture } from "./picture";
import { teller } from "./tooltip";
import { looks } from "./verdicts";

const mostDrawn = 8;

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
  const chosen = chosenRows(timed, [newest.baseline], mostDrawn).map(({ row }) => row.name);
  const wanted = [...new Set([...changed, ...chosen, ...strips.map(({ name }) => name)])];
  return strips.filter(({ name }) => wanted.slice(0, mostDrawn).includes(name));
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

const [stripHeight, stripGap, head] = [62, 34, 24];
const heightOf = (strips: number) => head + strips * (stripHeight + stripGap);

/** Where the runs stand: at their dates, or in their order where a file has none. */
function placesOf(points: Point[]): { dates: boolean; at: number[] } {
  const at = points.map(({ date }) => Date.parse(date.replace(/(\d\d)(\d\d)$/, "$1:$2")));
  const dates = at.every((place, index) => index === 0 || place > at[index - 1]!);
  return dates && at.every(Number.isFinite)
    ? { dates, at }
    : { dates: false, at: points.map((_point, index) => index + 1) };
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

function seriesOf(strip: Strip, index: number, places: number[], palette: Palette): Series[] {
  const look: Look = { color: kindColour(palette, strip.gpu ? "GPU" : "CPU"), type: "solid" };
  const axes = { xAxisIndex: index, yAxisIndex: index };
  return [
    {
      ...whiskers(
        strip.name,
        strip.points.flatMap(({ low, high }, at) =>
          low === null || high === null
            ? []
            : [
                {
                  at: places[at]!,
                  low: low / strip.first,
                  high: high / strip.first,
                  colour: look.color,
                },
              ],
        ),
        false,
      ),
      ...axes,
    },
    {
      name: strip.name,
      type: "line",
      ...axes,
      symbol: "circle",
      symbolSize: (_value: unknown, { dataIndex }: { dataIndex: number }) =>
        strip.points[dataIndex] && isBreak(strip.points[dataIndex]) ? 13 : 7,
      lineStyle: { ...look, width: 1.5 },
      itemStyle: { color: look.color },
      data: strip.points.map((point, at) => {
        const { symbol, colour, turned } = looks[point.verdict ?? "UNCLEAR"];
        return {
          value: [places[at]!, point.relative],
          told: tell(strip.name, [strip.name, point], told),
          ...(isBreak(point)
            ? {
                symbol,
                ...(turned === undefined ? {} : { symbolRotate: turned }),
                itemStyle: { color: seriesColour(palette, colour) },
              }
            : {}),
        };
      }),
      markLine: {
        ...plainLine,
        lineStyle: { color: palette.muted, type: "dashed" },
        label: { show: false },
        data: strip.points.flatMap((point, at) => (isBreak(point) ? [{ xAxis: places[at]! }] : [])),
      },
    },
  ];
}

/** Of the axis that strips of a kind share, with the first run in sight. */
function limitsOf(strips: Strip[]): { min: number; max: number } {
  const values = strips.flatMap(({ points }) =>
    points.flatMap(({ relative }) => (relative === null ? [] : [relative])),
  );
  const [low, high] = [Math.min(0.95, ...values), Math.max(1.05, ...values)];
  return { min: Math.floor(20 * low) / 20, max: Math.ceil(20 * high) / 20 };
}

function drawing(strips: Strip[], palette: Palette): ChartOption {
  const { dates, at } = placesOf(strips[0]?.points ?? []);
  const air = (at.at(-1)! - at[0]!) / 40 || 0.5;
  const height = heightOf(strips.length);
  const top = (index: number) => head + index * (stripHeight + stripGap);
  return {
    ...baseOption(palette),
    legend: { show: false },
    tooltip: tooltip(palette, "item"),
    grid: strips.map((_strip, index) => ({
      left: 84,
      right: 36,
      top: top(index),
      bottom: height - top(index) - stripHeight,
    })),
    xAxis: strips.map((_strip, index): XAXisComponentOption => {
      const axis = valueAxis(palette, {
        name: "",
        show: (run) => `run ${run}`,
        whole: true,
        min: at[0]! - air,
        max: at.at(-1)! + air,
      });
      const shown = index === strips.length - 1;
      return dates
        ? ({
            ...axis,
            type: "time",
            gridIndex: index,
            axisLabel: { color: palette.text, fontSize: 12, hideOverlap: true, show: shown },
          } as XAXisComponentOption)
        : { ...axis, gridIndex: index, axisLabel: { ...axis.axisLabel, show: shown } };
    }),
    yAxis: strips.map((strip, index) => ({
      ...valueAxis(palette, {
        name: `${shortened(strip.name, 40)}, ${seconds(strip.first)} at first`,
        show: percent,
        ...limitsOf(strips.filter(({ gpu }) => gpu === strip.gpu)),
      }),
      gridIndex: index,
      nameLocation: "end",
      nameGap: 8,
      nameTextStyle: { color: palette.text, fontSize: 13, fontWeight: "bold", align: "left" },
      splitNumber: 2,
    })),
    series: strips.flatMap((strip, index) => seriesOf(strip, index, at, palette)),
  };
}

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
