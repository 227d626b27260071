// SPDX-License-Identifier: Apache-2.0
// From a sweep: time against the grid and against the iterations, by each row, with the crossing
// that the program computed and its interval.
import { concludes } from "../data/conclusion";
import {
  type Along,
  along,
  crosses,
  type Crossing,
  crossingsOf,
  crossingText,
  type Measure,
  measures,
  same,
  sizeText,
} from "../data/crossings";
import { at, list, positive, readable, text, type Json } from "../data/json";
import { readRow, type Row } from "../data/results";
import { count, figure, quantity, seconds, shortened } from "../data/units";
import { type Column, inSeconds, type Table, tableOf } from "../data/table";
import { type Line, logLimits, logLines, plainLine } from "./chart";
import { chosenRows, kindsOf, whyNotChosen } from "./choice";
import { kindColour, type Palette } from "./palette";
import { drawing } from "./picture";
import { verificationOfRows } from "./proof";
import { teller } from "./tooltip";

const mostRows = 10;

interface Point {
  /** By axis: "grid" -> "64". */
  values: Record<string, string>;
  side: number | null;
  iterations: number | null;
  baseline: string;
  rows: Row[];
}

interface View {
  along: Along;
  measure: Measure;
  /** A value of each other axis. */
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

const crossingColumns: Column<Crossing>[] = [
  { name: "time of", of: ({ measure }) => measure },
  { name: "along", of: (crossing) => crossing.along },
  {
    name: "at",
    of: (crossing) =>
      Object.entries(crossing.at)
        .map((each) => each.join(" "))
        .join(", "),
  },
  { name: "from here on wins", of: ({ challenger }) => challenger },
  { name: "over", of: ({ champion }) => champion },
  { name: "from", of: ({ from }) => sizeText(from) },
  { name: "interval from", of: ({ low }) => sizeText(low) },
  { name: "to", of: ({ high }) => sizeText(high) },
  { name: "crossings", of: ({ single }) => (single ? "one" : "several, the last is meant") },
];

/** All values of these axes together; of one of them its last value first, as the largest tells the most. */
const combined = (axes: [string, string[]][]): Record<string, string>[] =>
  axes.reduce<Record<string, string>[]>(
    (all, [name, values]) =>
      [...values].reverse().flatMap((value) => all.map((each) => ({ ...each, [name]: value }))),
    [{}],
  );
/** A sweep over many axes has more of them than anybody looks at. */
const mostViews = 400;

function viewsOf(axes: [string, string[]][], points: Point[]): View[] {
  return (Object.keys(along) as Along[])
    .flatMap((axis) => {
      const values = axes.find(([name]) => name === axis)?.[1] ?? [];
      if (values.length < 2) return [];
      return combined(axes.filter(([name]) => name !== axis)).flatMap((fixed) => {
        const here = points.filter((point) => same(fixed, point.values));
        return (Object.keys(measures) as Measure[])
          .filter((measure) =>
            here.some(({ rows }) => rows.some((row) => measures[measure].secondsOf(row) !== null)),
          )
          .map((measure) => ({ along: axis, measure, fixed }));
      });
    })
    .slice(0, mostViews);
}

/** "grid 64 and dtype float32"; "" where there is no other axis. */
const settingOf = ({ fixed }: View) =>
  Object.entries(fixed)
    .map(([name, value]) => `${name} ${value}`)
    .join(" and ");
const answersOf = (view: View): string[] => [
  measures[view.measure].name,
  `by ${along[view.along].name}`,
  `at ${settingOf(view) || "all"}`,
];

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

/** The rows that the crossing is of: where it is of devices, those that are the fastest of one anywhere. */
function contendersOf(
  crossing: Crossing | undefined,
  points: Point[],
  measure: Measure,
): Set<string> {
  if (crossing === undefined) return new Set();
  if (!crossing.devices) return new Set([crossing.challenger, crossing.champion]);
  const secondsOf = (row: Row) => measures[measure].secondsOf(row) ?? Infinity;
  return new Set(
    points.flatMap(({ rows }) =>
      [true, false].flatMap((onCpu) =>
        rows
          .filter((row) => (row.device === "cpu") === onCpu && secondsOf(row) < Infinity)
          .sort((a, b) => secondsOf(a) - secondsOf(b))
          .slice(0, 1)
          .map(({ name }) => name),
      ),
    ),
  );
}

function sentenceOf(view: View, crossing: Crossing | undefined): string {
  const setting = settingOf(view);
  const told = crossing === undefined ? "the file has no crossing" : crossingText(crossing);
  return `For ${measures[view.measure].name}${setting === "" ? "" : ` at ${setting}`}, ${told}.`;
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
    ],
    verification: verificationOfRows(
      rows.filter((row, index) => rows.findIndex((each) => each.name === row.name) === index),
    ),
    variants: views.map((view) => answersOf(view).join(", ")),
    answers: { questions: ["Time of", "Axis", "At"], of: views.map(answersOf) },
    ...(crossings.length > 0
      ? { more: [["All crossings", tableOf(crossingColumns, crossings)] as [string, Table]] }
      : {}),
    option: (palette, _narrow, variant) => {
      const view = views[variant]!;
      const here = points
        .filter((point) => same(view.fixed, point.values))
        .sort((a, b) => (placeIn(view, a) ?? 0) - (placeIn(view, b) ?? 0));
      const crossing = crossingOf(view);
      const contenders = contendersOf(crossing, here, view.measure);
      const kindOf = kindsOf(choices[variant]!.map((name) => device.get(name)!));
      const lines = choices[variant]!.map((name): Line => ({
        name: label(name),
        device: device.get(name)?.device !== "cpu",
        look: {
          color: kindColour(palette, kindOf(device.get(name)!)),
          type: contenders.has(name) ? "solid" : "dashed",
        },
        beside: shortened(name, 14),
        points: here.flatMap((point) => {
          const row = point.rows.find((each) => each.name === name);
          const place = placeIn(view, point);
          const value = row === undefined ? null : measures[view.measure].secondsOf(row);
          if (row === undefined || value === null || place === null) return [];
          const told = tell(label(name), { point, row }, [view.along, view.measure]);
          return [{ value: [place, value], told }];
        }),
      }));
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
