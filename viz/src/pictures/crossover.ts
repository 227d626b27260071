// From a sweep: time against the grid and against the iterations, by each row, with the crossing
// that the program computed and its interval.
import { at, list, positive, text, type Json } from "../data/json";
import { readRow, type ResultFile, type Row } from "../data/results";
import { count, figure, quantity, seconds } from "../data/units";
import { baseOption, logLimits, plainLine, valueAxis } from "./chart";
import { seriesColour } from "./palette";
import type { Missing, Picture } from "./picture";
import { verificationOfRows } from "./proof";

const measures = ["step", "warm", "cold"] as const;
type Measure = (typeof measures)[number];
const measureNames: Record<Measure, string> = {
  step: "a step, all in place",
  warm: "a warm run",
  cold: "a cold run",
};
const mostRows = 10;

interface Point {
  /** By axis: "grid" -> "64". */
  values: Record<string, string>;
  side: number | null;
  iterations: number | null;
  rows: Row[];
}

interface Crossing {
  along: string;
  at: Record<string, string>;
  measure: string;
  champion: string;
  challenger: string;
  wins: string;
  from: number | null;
  low: number | null;
  high: number | null;
}

interface View {
  name: string;
  along: "grid" | "iters";
  measure: Measure;
  /** The other axes, at the largest value of each. */
  fixed: Record<string, string>;
}

function pointsOf(data: Json, axes: string[]): Point[] {
  return list(data, "points").map((point) => {
    const values = list(point, "values");
    const result = at(point, "result");
    const [nx, ny] = [positive(result, "problem", "nx"), positive(result, "problem", "ny")];
    return {
      values: Object.fromEntries(axes.map((axis, index) => [axis, String(values[index] ?? "")])),
      side: nx === null || ny === null ? null : Math.sqrt(nx * ny),
      iterations: positive(result, "problem", "iterations"),
      rows: list(result, "results").map(readRow),
    };
  });
}

function crossingsOf(data: Json): Crossing[] {
  return list(data, "crossovers").map((crossing) => ({
    along: text(crossing, "along"),
    at: Object.fromEntries(
      Object.entries(at(crossing, "at") ?? {}).map(([name, value]) => [name, String(value)]),
    ),
    measure: text(crossing, "measure"),
    champion: text(crossing, "champion"),
    challenger: text(crossing, "challenger"),
    wins: text(crossing, "wins"),
    from: positive(crossing, "from"),
    low: positive(crossing, "low"),
    high: positive(crossing, "high"),
  }));
}

const measured = (row: Row, measure: Measure): number | null =>
  measure === "step" ? row.seconds : (row[measure]?.wall ?? null);

const same = (a: Record<string, string>, b: Record<string, string>) =>
  Object.entries(a).every(([name, value]) => b[name] === value);

function viewsOf(axes: [string, string[]][], points: Point[]): View[] {
  const lastOf = (except: string) =>
    Object.fromEntries(
      axes
        .filter(([name]) => name !== except)
        .map(([name, values]) => [name, values[values.length - 1] ?? ""]),
    );
  return (["grid", "iters"] as const).flatMap((along) => {
    const values = axes.find(([name]) => name === along)?.[1] ?? [];
    if (values.length < 2) return [];
    const fixed = lastOf(along);
    return measures
      .filter((measure) =>
        points.some(
          (point) =>
            same(fixed, point.values) && point.rows.some((row) => measured(row, measure) !== null),
        ),
      )
      .map((measure) => ({
        name: `${measureNames[measure]}, by ${along === "grid" ? "grid" : "iterations"}`,
        along,
        measure,
        fixed,
      }));
  });
}

function crossingText(crossing: Crossing): string {
  const { challenger, champion } = crossing;
  if (crossing.from === null)
    return crossing.wins === "everywhere"
      ? `${challenger} beats ${champion} everywhere in the sweep`
      : `${challenger} beats ${champion} nowhere in the sweep`;
  const what = crossing.along === "grid" ? "a grid side of" : "";
  const interval =
    crossing.low !== null && crossing.high !== null
      ? ` (interval ${figure(crossing.low)} to ${figure(crossing.high)})`
      : "";
  return `${challenger} starts to beat ${champion} at ${what} ${figure(crossing.from)}${crossing.along === "grid" ? "" : " iterations"}${interval}`.replace(
    "  ",
    " ",
  );
}

export function crossover(file: ResultFile): Picture | Missing | null {
  if (file.experiment !== "sweep") return null;
  const title = "Crossover: time against grid and iterations";
  const axes = Object.entries(at(file.data, "axes") ?? {}).map(
    ([name, values]): [string, string[]] => [name, Array.isArray(values) ? values.map(String) : []],
  );
  const points = pointsOf(
    file.data,
    axes.map(([name]) => name),
  );
  const crossings = crossingsOf(file.data);
  const crossingOf = (view: View) =>
    crossings.find(
      (each) =>
        each.along === view.along && each.measure === view.measure && same(each.at, view.fixed),
    );
  // Where there is a crossing is what is worth seeing first.
  const crosses = (view: View) => (crossingOf(view)?.from == null ? 1 : 0);
  const views = viewsOf(axes, points).sort((a, b) => crosses(a) - crosses(b));
  if (views.length === 0)
    return {
      id: "crossover",
      title,
      missing: "it needs at least two grids or iteration counts with times",
    };
  const rows = points.flatMap((point) => point.rows.filter((row) => row.seconds !== null));
  const names = [...new Set(rows.map((row) => row.name))];
  const device = new Map(rows.map((row) => [row.name, row]));
  const label = (name: string) => {
    const row = device.get(name);
    return row?.device === "cpu"
      ? `${name} (${row.threads ?? "?"} thread${row.threads === 1 ? "" : "s"})`
      : `${name} (GPU)`;
  };
  const told = views.map(crossingOf).find((each) => each !== undefined);
  const untimed = [...new Set(points.flatMap((point) => point.rows.map((row) => row.name)))].filter(
    (name) => !names.includes(name),
  );
  return {
    id: "crossover",
    title,
    reading:
      told === undefined
        ? file.sentence || "No crossing was asked for: --cross A,B says from where B beats A."
        : `By ${told.measure}, ${crossingText(told)}.`,
    alternative: `Lines of time on logarithmic axes, one for each of ${Math.min(mostRows, names.length)} rows; a shaded stretch marks the interval of the crossing.`,
    height: 460,
    table: {
      columns: [
        ...axes.map(([name]) => ({ name })),
        { name: "row" },
        { name: "threads", show: count },
        { name: "step", unit: "s", show: seconds },
        { name: "warm run", unit: "s", show: seconds },
        { name: "cold run", unit: "s", show: seconds },
        { name: "proof" },
      ],
      rows: points.flatMap((point) =>
        point.rows
          .filter((row) => row.seconds !== null)
          .map((row) => [
            ...axes.map(([name]) => point.values[name] ?? ""),
            row.name,
            row.threads,
            row.seconds,
            row.warm?.wall ?? null,
            row.cold?.wall ?? null,
            row.verification,
          ]),
      ),
    },
    notDrawn: [
      ...untimed.map((name): [string, string] => [name, "has no time anywhere in the sweep"]),
      ...names.slice(mostRows).map((name): [string, string] => [name, "in the table only"]),
      ...axes
        .filter(
          ([name, values]) =>
            values.length > 1 && views.some((view) => view.fixed[name] !== undefined),
        )
        .map(([name, values]): [string, string] => [
          `${name} ${values.slice(0, -1).join(", ")}`,
          `where ${name} is not the axis, its last value (${values[values.length - 1]}) is drawn`,
        ]),
    ],
    verification: verificationOfRows(
      rows.filter((row, index) => rows.findIndex((each) => each.name === row.name) === index),
    ),
    variants: views.map((view) => view.name),
    option: (palette, _narrow, variant) => {
      const view = views[variant] ?? views[0]!;
      const here = points.filter((point) => same(view.fixed, point.values));
      const x = (point: Point) => (view.along === "grid" ? point.side : point.iterations);
      const lines = names.slice(0, mostRows).map((name) => ({
        name,
        data: here
          .flatMap((point): [number, number][] => {
            const row = point.rows.find((each) => each.name === name);
            const value = row === undefined ? null : measured(row, view.measure);
            const place = x(point);
            return value === null || place === null ? [] : [[place, value]];
          })
          .sort((a, b) => a[0] - b[0]),
      }));
      const crossing = crossingOf(view);
      const marks =
        crossing?.from == null
          ? {}
          : {
              markLine: {
                ...plainLine,
                lineStyle: { color: palette.text, type: "dashed" },
                label: {
                  color: palette.text,
                  formatter: `${crossing.challenger} wins from ${figure(crossing.from)}`,
                  position: "insideEndTop",
                },
                data: [{ xAxis: crossing.from }],
              },
              ...(crossing.low !== null && crossing.high !== null
                ? {
                    markArea: {
                      silent: true,
                      itemStyle: { color: palette.muted, opacity: 0.25 },
                      data: [[{ xAxis: crossing.low }, { xAxis: crossing.high }]],
                    },
                  }
                : {}),
            };
      return {
        ...baseOption(palette),
        tooltip: {
          ...baseOption(palette).tooltip,
          trigger: "axis",
          valueFormatter: (value: unknown) => (typeof value === "number" ? seconds(value) : "-"),
        },
        grid: { left: 84, right: 24, top: 56, bottom: 52 },
        xAxis: valueAxis(palette, {
          name: view.along === "grid" ? "side of the grid (cells)" : "iterations",
          log: true,
          show: quantity,
          ...logLimits(lines.flatMap((line) => line.data.map((point) => point[0]))),
        }),
        yAxis: valueAxis(palette, {
          name: `time of ${measureNames[view.measure]}`,
          log: true,
          show: seconds,
          gap: 66,
          ...logLimits(lines.flatMap((line) => line.data.map((point) => point[1]))),
        }),
        series: lines.map((line, index) => {
          const gpu = device.get(line.name)?.device !== "cpu";
          return {
            name: label(line.name),
            type: "line",
            symbol: gpu ? "diamond" : "circle",
            symbolSize: gpu ? 10 : 7,
            itemStyle: { color: seriesColour(palette, index) },
            lineStyle: {
              color: seriesColour(palette, index),
              width: 2,
              type: index >= palette.series.length ? "dashed" : "solid",
            },
            data: line.data,
            ...(index === 0 ? marks : {}),
          };
        }),
      };
    },
  };
}
