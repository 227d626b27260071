// From a sweep: time against the grid and against the iterations, by each row, with the crossing
// that the program computed and its interval.
import { concludes } from "../data/conclusion";
import { at, flag, list, num, positive, readable, text, word, type Json } from "../data/json";
import type * as schema from "../data/result_schema";
import { readRow, type Row } from "../data/results";
import { count, figure, quantity, seconds } from "../data/units";
import { type Column, inSeconds, tableOf } from "../data/table";
import { type Line, logLimits, logLines, plainLine } from "./chart";
import { chosenRows, whyNotChosen } from "./choice";
import { lookOf, type Palette } from "./palette";
import { drawing } from "./picture";
import { verificationOfRows } from "./proof";
import { teller } from "./tooltip";

type Measure = schema.Crossing["measure"];
const measures: Record<Measure, { name: string; secondsOf: (row: Row) => number | null }> = {
  step: { name: "a step, all in place", secondsOf: (row) => row.seconds },
  "warm run": { name: "a warm run", secondsOf: (row) => row.warm?.wall ?? null },
  "cold run": { name: "a cold run", secondsOf: (row) => row.cold?.wall ?? null },
};
const along: Record<schema.Crossing["along"], { name: string; axis: string; last: string }> = {
  grid: { name: "grid", axis: "side of the grid (cells)", last: "the largest grid" },
  iters: { name: "iterations", axis: "iterations", last: "the most iterations" },
};
type Along = keyof typeof along;
const wins: Record<schema.Crossing["wins"], number | null> = {
  everywhere: 0,
  from: null,
  nowhere: Infinity,
};
const mostRows = 10;

interface Point {
  /** By axis: "grid" -> "64". */
  values: Record<string, string>;
  side: number | null;
  iterations: number | null;
  baseline: string;
  rows: Row[];
}

interface Crossing {
  along: Along;
  at: Record<string, string>;
  measure: Measure;
  champion: string;
  challenger: string;
  /** Where the challenger begins to win: 0 where it wins everywhere, Infinity where nowhere. */
  from: number;
  /** The interval of `from`, with the same two special values. */
  low: number;
  high: number;
  /** false: they change places more than once, and `from` is the last of those places. */
  single: boolean;
}

interface View {
  name: string;
  along: Along;
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
      values: Object.fromEntries(
        axes.map((axis, index) => [axis, readable(String(values[index] ?? ""))]),
      ),
      side: nx === null || ny === null ? null : Math.sqrt(nx * ny),
      iterations: positive(result, "problem", "iterations"),
      baseline: text(result, "baseline"),
      rows: list(result, "results").map(readRow),
    };
  });
}

function crossingsOf(data: Json): Crossing[] {
  return list(data, "crossovers").flatMap((crossing) => {
    const axis = word(crossing, along, "along");
    const measure = word(crossing, measures, "measure");
    const where = word(crossing, wins, "wins");
    if (axis === null || measure === null || where === null) return [];
    // JSON has no infinity: null stands for it.
    const size = (end: "from" | "low" | "high") => num(crossing, end) ?? Infinity;
    return [
      {
        along: axis,
        at: Object.fromEntries(
          Object.entries(at(crossing, "at") ?? {}).map(([name, value]) => [
            readable(name),
            readable(String(value)),
          ]),
        ),
        measure,
        champion: text(crossing, "champion"),
        challenger: text(crossing, "challenger"),
        from: wins[where] ?? size("from"),
        low: size("low"),
        high: size("high"),
        single: flag(crossing, "single") !== false,
      },
    ];
  });
}

/** It lies within what was measured. */
const crosses = (crossing: Crossing | undefined): boolean =>
  crossing !== undefined && crossing.from > 0 && crossing.from < Infinity;

const same = (a: Record<string, string>, b: Record<string, string>) =>
  Object.entries(a).every(([name, value]) => b[name] === value);

function viewsOf(axes: [string, string[]][], points: Point[]): View[] {
  const lastOf = (except: string) =>
    Object.fromEntries(
      axes
        .filter(([name]) => name !== except)
        .map(([name, values]) => [name, values[values.length - 1] ?? ""]),
    );
  return (Object.keys(along) as Along[]).flatMap((axis) => {
    const values = axes.find(([name]) => name === axis)?.[1] ?? [];
    if (values.length < 2) return [];
    const fixed = lastOf(axis);
    return (Object.keys(measures) as Measure[])
      .filter((measure) =>
        points.some(
          (point) =>
            same(fixed, point.values) &&
            point.rows.some((row) => measures[measure].secondsOf(row) !== null),
        ),
      )
      .map((measure) => ({
        name: `${measures[measure].name}, by ${along[axis].name}`,
        along: axis,
        measure,
        fixed,
      }));
  });
}

const sizeText = (size: number) =>
  size === 0 ? "everywhere" : Number.isFinite(size) ? figure(size) : "nowhere";

function crossingText(crossing: Crossing): string {
  const { challenger, champion, from, low, high, single } = crossing;
  const where =
    crossing.along === "grid" ? `a grid side of ${figure(from)}` : `${figure(from)} iterations`;
  const told = crosses(crossing)
    ? `${challenger} starts to beat ${champion} at ${where}`
    : from === 0
      ? `${challenger} beats ${champion} everywhere in the sweep`
      : `${challenger} does not beat ${champion} at ${along[crossing.along].last} of the sweep`;
  const interval = low === high ? "" : ` (interval ${sizeText(low)} to ${sizeText(high)})`;
  return told + interval + (single ? "" : "; they change places more than once");
}

/** An open end of the interval is where the axis ends. */
function marksOf(
  crossing: Crossing,
  axis: { min: number; max: number },
  palette: Palette,
): NonNullable<Line["marks"]> {
  const { challenger, from, low, high, single } = crossing;
  const markLine: NonNullable<Line["marks"]>["markLine"] = {
    ...plainLine,
    lineStyle: { color: palette.text, type: "dashed" },
    label: {
      color: palette.text,
      formatter: `${challenger} wins from ${figure(from)}${single ? "" : ", the last crossing"}`,
      position: "insideEndTop",
    },
    data: [{ xAxis: from }],
  };
  const markArea: NonNullable<Line["marks"]>["markArea"] = {
    silent: true,
    itemStyle: { color: palette.muted, opacity: 0.25 },
    data: [[{ xAxis: Math.max(low, axis.min) }, { xAxis: Math.min(high, axis.max) }]],
  };
  return {
    ...(crosses(crossing) ? { markLine } : {}),
    ...(low < high ? { markArea } : {}),
  };
}

function sentenceOf(view: View, crossing: Crossing | undefined): string {
  const setting = Object.entries(view.fixed).map(([name, value]) => ` at ${name} ${value}`);
  const told = crossing === undefined ? "the file has no crossing" : crossingText(crossing);
  return `For ${measures[view.measure].name}${setting.join(" and")}, ${told}.`;
}

export const crossover = drawing("crossover", ["sweep"], (file) => {
  const axes = Object.entries(at(file.data, "axes") ?? {}).map(([name]): [string, string[]] => [
    readable(name),
    list(file.data, "axes", name).map((value) => readable(String(value))),
  ]);
  const points = pointsOf(
    file.data,
    axes.map(([name]) => name),
  );
  const crossings = concludes(file) ? crossingsOf(file.data) : [];
  const crossingOf = (view: View) =>
    crossings.find(
      (each) =>
        each.along === view.along && each.measure === view.measure && same(each.at, view.fixed),
    );
  // Where there is a crossing is what is worth seeing first.
  const views = viewsOf(axes, points).sort(
    (a, b) => Number(crosses(crossingOf(b))) - Number(crosses(crossingOf(a))),
  );
  if (views.length === 0) return "it needs at least two grids or iteration counts with times";
  const rows = points.flatMap((point) => point.rows.filter((row) => row.seconds !== null));
  const names = [...new Set(rows.map((row) => row.name))];
  const device = new Map(rows.map((row) => [row.name, row]));
  const label = (name: string) => {
    const row = device.get(name);
    return row?.device === "cpu"
      ? `${name} (${row.threads ?? "?"} thread${row.threads === 1 ? "" : "s"})`
      : `${name} (GPU)`;
  };
  const placeIn = (view: View, point: Point) =>
    view.along === "grid" ? point.side : point.iterations;
  /** By their times at the end of the axis; after them those that have none there. */
  const choices = views.map((view) => {
    const here = points
      .filter((point) => same(view.fixed, point.values))
      .sort((a, b) => (placeIn(view, b) ?? 0) - (placeIn(view, a) ?? 0));
    const crossing = crossingOf(view);
    const named = [
      ...points.slice(0, 1).map((point) => point.baseline),
      ...(crossing === undefined ? [] : [crossing.champion, crossing.challenger]),
      ...file.added,
    ];
    const timedAt = (point: Point) =>
      point.rows.flatMap((row) => {
        const time = measures[view.measure].secondsOf(row);
        return time === null ? [] : [{ row, seconds: time }];
      });
    const chosen = here.flatMap((point) => chosenRows(timedAt(point), named, mostRows));
    return [...new Set(chosen.map(({ row }) => row.name))].slice(0, mostRows);
  });
  const untimed = [...new Set(points.flatMap((point) => point.rows.map((row) => row.name)))].filter(
    (name) => !names.includes(name),
  );
  type Placed = { point: Point; row: Row };
  const columns: Column<Placed>[] = [
    ...axes.map(([name]) => ({ name, of: ({ point }: Placed) => point.values[name] ?? "" })),
    { name: "row", of: ({ row }) => row.name },
    { name: "threads", show: count, of: ({ row }) => row.threads },
    ...(Object.keys(measures) as Measure[]).map((name) =>
      inSeconds(name, ({ row }: Placed) => measures[name].secondsOf(row)),
    ),
    { name: "proof", of: ({ row }) => row.verification },
  ];
  const tell = teller(columns);
  return {
    reading: (variant) =>
      crossings.length === 0
        ? file.sentence || "No crossing was asked for: --cross A,B says where B begins to beat A."
        : sentenceOf(views[variant]!, crossingOf(views[variant]!)),
    alternative: `Lines of time on logarithmic axes, one for each of at most ${mostRows} rows; a shaded stretch marks the interval of the crossing.`,
    height: 460,
    table: tableOf(
      columns,
      points.flatMap((point) =>
        point.rows.filter((row) => row.seconds !== null).map((row) => ({ point, row })),
      ),
    ),
    notDrawn: (variant) => [
      ...untimed.map((name): [string, string] => [name, "has no time anywhere in the sweep"]),
      ...names
        .filter((name) => !choices[variant]!.includes(name))
        .map((name): [string, string] => [name, whyNotChosen(device.get(name)!)]),
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
      const view = views[variant]!;
      const here = points
        .filter((point) => same(view.fixed, point.values))
        .sort((a, b) => (placeIn(view, a) ?? 0) - (placeIn(view, b) ?? 0));
      const lines = choices[variant]!.map((name): Line => ({
        name: label(name),
        device: device.get(name)?.device !== "cpu",
        look: lookOf(palette, file.names, name),
        points: here.flatMap((point) => {
          const row = point.rows.find((each) => each.name === name);
          const place = placeIn(view, point);
          const value = row === undefined ? null : measures[view.measure].secondsOf(row);
          if (row === undefined || value === null || place === null) return [];
          const told = tell(label(name), { point, row }, [view.along, view.measure]);
          return [{ value: [place, value], told }];
        }),
      }));
      const crossing = crossingOf(view);
      const places = lines.flatMap(({ points }) => points.map(({ value }) => [value].flat()[0]!));
      const [first, ...others] = lines;
      const marks =
        crossing === undefined ? {} : { marks: marksOf(crossing, logLimits(places), palette) };
      return logLines(
        palette,
        { name: along[view.along].axis, show: quantity },
        { name: `time of ${measures[view.measure].name}`, show: seconds },
        first === undefined ? [] : [{ ...first, ...marks }, ...others],
      );
    },
  };
});
