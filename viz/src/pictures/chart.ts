// SPDX-License-Identifier: Apache-2.0
// What the charts have in common: axes, tooltips, whiskers.
import type {
  CustomSeriesOption,
  CustomSeriesRenderItemAPI,
  TooltipComponentOption,
  XAXisComponentOption,
  YAXisComponentOption,
} from "echarts";
import { shortened } from "../data/units";
import type { ChartOption, Guide } from "./option";
import type { Palette } from "./palette";
import { written } from "./tooltip";

const lettersInLegend = (width: number) => Math.min(40, Math.floor((width - 60) / letterWidth));

export function baseOption(palette: Palette) {
  return {
    animation: false,
    backgroundColor: palette.surface,
    textStyle: { color: palette.text, fontFamily: "system-ui, sans-serif", fontSize: 13 },
    color: palette.series,
    legend: {
      top: 0,
      textStyle: { color: palette.text, fontSize: 13 },
    },
    tooltip: {
      confine: true,
      backgroundColor: palette.surface,
      borderColor: palette.line,
      textStyle: { color: palette.text, fontSize: 13 },
    },
  };
}

/** Of the point under the pointer, or of all that stand at its place on the axis. */
export const tooltip = (palette: Palette, trigger: "item" | "axis"): TooltipComponentOption => ({
  ...baseOption(palette).tooltip,
  trigger,
  formatter: written,
  // Lines break where a phone has no room for them.
  extraCssText: "max-width: min(92vw, 40rem); white-space: normal;",
});

/** How many lines a legend of these names takes in a chart so many pixels wide. */
export function legendLines(names: string[], width: number): number {
  const [padding, symbol, gap] = [10, 30, 10]; // those of ECharts
  let lines = 0;
  let end = Infinity;
  for (const name of names) {
    const item = symbol + letterWidth * Math.min(name.length, lettersInLegend(width));
    if (end + gap + item > width - padding) {
      ++lines;
      end = item;
    } else end += gap + item;
  }
  return lines;
}

export type Drawing = Partial<Pick<ChartOption, "legend" | "grid">> & {
  series?: { name: string }[];
};

/**
 * The option with its grid below all lines of its legend, and the pixels by which the chart must be
 * higher for that. Pictures leave room for one line.
 */
export function belowLegend<T extends Drawing>(
  option: T,
  width: number,
): { option: T; extra: number } {
  const { legend, grid, series = [] } = option;
  if (legend === undefined || legend.show === false) return { option, extra: 0 };
  const names = legend.data?.map(String) ?? [...new Set(series.map(({ name }) => name))];
  const extra = lineOfLegend * Math.max(0, legendLines(names, width) - 1);
  const formatter = (name: string) => shortened(name, lettersInLegend(width));
  return {
    option: {
      ...option,
      legend: { ...legend, formatter },
      grid: { ...grid, top: Number(grid?.top ?? 40) + extra },
    },
    extra,
  };
}
/** Room for one line of it. */
export const legendHeight = 36;
/** An item of 14 pixels and the gap of ECharts. */
const lineOfLegend = 24;

function axisLook(palette: Palette, name: string) {
  return {
    name,
    nameLocation: "middle" as const,
    nameTextStyle: { color: palette.muted, fontSize: 13 },
    axisLabel: { color: palette.text, fontSize: 12, hideOverlap: true, padding: [0, 3] },
    axisLine: { lineStyle: { color: palette.muted } },
    splitLine: { lineStyle: { color: palette.line } },
  };
}

interface AxisOptions {
  name: string;
  log?: boolean;
  /** Of the labels. */
  show?: (value: number) => string;
  min?: number;
  max?: number;
  /** Of the ticks of a logarithmic axis; 2 suits bytes. */
  base?: number;
  /** Whole numbers only. */
  whole?: boolean;
  /** It need not begin at 0. */
  scale?: boolean;
}

/** Even figures on a logarithmic axis: powers of the base, and what lies between where they are few. */
export function logTicks(min: number, max: number, base: number): number[] {
  const exponent = (value: number) => Math.log(value) / Math.log(base);
  const powers = exponent(max) - exponent(min);
  if (!Number.isFinite(powers)) return [];
  const between = base !== 10 || powers > 2.2 ? [1] : powers > 0.7 ? [1, 2, 5] : tenths;
  const stride = Math.ceil(powers / 10);
  const ticks: number[] = [];
  for (let power = Math.floor(exponent(min)); power <= exponent(max); ++power)
    if (power % stride === 0) ticks.push(...between.map((each) => each * base ** power));
  return ticks.filter((tick) => tick >= min && tick <= max);
}
const tenths = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];

/** "10 ms" for "10.0 ms": on an axis all figures are even. */
const withoutZeros = (label: string) =>
  label.replace(/\.(\d*?)0+(?!\d)/, (_all, kept: string) => (kept ? `.${kept}` : ""));

export function valueAxis(
  palette: Palette,
  options: AxisOptions,
): XAXisComponentOption & YAXisComponentOption {
  const { name, log, show, min, max, base, whole, scale } = options;
  const ticks =
    log && min !== undefined && max !== undefined
      ? { customValues: logTicks(min, max, base ?? 10) }
      : {};
  const look = axisLook(palette, name);
  const shared = {
    ...look,
    nameGap: 30,
    // Few enough for a phone.
    splitNumber: 4,
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    axisLabel: {
      ...look.axisLabel,
      ...ticks,
      ...(show ? { formatter: (value: number) => withoutZeros(show(value)) } : {}),
    },
    axisTick: ticks,
    minorSplitLine: { show: false },
  };
  return log
    ? { ...shared, type: "log" }
    : {
        ...shared,
        type: "value",
        ...(whole ? { minInterval: 1 } : {}),
        scale: scale ?? false,
        // Of shares: 0, 25, 50, 75, 100 %.
        ...(min === 0 && max === 1 ? { interval: 0.25 } : {}),
      };
}

export function categoryAxis(palette: Palette, names: string[], name = "") {
  const look = axisLook(palette, name);
  return {
    ...look,
    type: "category" as const,
    data: names,
    nameGap: 30,
    splitLine: { show: false },
    axisTick: { show: false },
  };
}

const letterWidth = 7;

export interface Row {
  name: string;
  /** Set before the name in bold. */
  figure?: string;
}
/** A phone has no room for figure and name in one line. */
export const inTwoLines = (width: number) => width < 500;
export const margins = { left: 22, right: 34, top: 14, bottom: 46 };
/** Of a chart with so many rows. */
export const heightOfRows = (rows: number, width: number) =>
  margins.top + margins.bottom + (inTwoLines(width) ? 60 : 44) * rows;
/** How wide rows are in a chart of that width. */
export const widthOfRows = (width: number) => width - margins.left - margins.right;

/** What pictures of rows share: each says in place what it is, above what is drawn of it; a tooltip for all of a row. */
export function inRows(
  palette: Palette,
  width: number,
  rows: Row[],
): Omit<ChartOption, "xAxis" | "series"> {
  const axis = categoryAxis(
    palette,
    rows.map(({ name }) => name),
  );
  const letters = Math.floor(widthOfRows(width) / letterWidth);
  const ground = { backgroundColor: palette.surface }; // lines of the grid end there
  return {
    ...baseOption(palette),
    legend: { show: false },
    tooltip: { ...tooltip(palette, "axis"), axisPointer: { type: "shadow" } },
    grid: margins,
    yAxis: {
      ...axis,
      inverse: true,
      axisLine: { show: false },
      axisLabel: {
        ...axis.axisLabel,
        interval: 0,
        hideOverlap: false,
        inside: true,
        margin: 0,
        align: "left",
        verticalAlign: "bottom",
        padding: [0, 0, 9, 0],
        formatter: (_name: string, index: number) => {
          const { name, figure } = rows[index]!;
          const two = inTwoLines(width);
          return figure === undefined
            ? `{name|${shortened(name, letters)}}`
            : `{figure|${figure}}${two ? "\n" : "{name|  }"}{name|${shortened(name, two ? letters : letters - figure.length - 4)}}`;
        },
        rich: {
          figure: {
            ...ground,
            fontWeight: "bold",
            fontSize: 14,
            lineHeight: 18,
            color: palette.text,
          },
          name: { ...ground, fontSize: 12, lineHeight: 15 },
        },
      },
      z: 10,
    },
  };
}

/** A series of stretches: the row, and where each begins and ends. */
export const stretchSeries = { type: "custom" as const, encode: { x: [1, 2], y: 0 } };
export const stretchValues = (row: number, start: number, end: number) => [row, start, end];

/** What ECharts hands to the drawing of an item of a custom series. */
export type ItemPlace = Required<
  Pick<CustomSeriesRenderItemAPI, "value" | "coord" | "size" | "visual">
>;

/** A stretch of time in a row: the item's values are row, start and end. */
export function stretchOfRow(place: ItemPlace, style: object) {
  const [row, start, end] = [0, 1, 2].map((dimension) => Number(place.value(dimension)));
  const [x1, y] = place.coord([start!, row!]) as [number, number];
  const [x2] = place.coord([end!, row!]) as [number, number];
  const [, lane] = place.size([0, 1]) as number[];
  const height = Math.min(14, 0.7 * lane!);
  return {
    type: "rect" as const,
    shape: { x: x1, y: y - height / 2, width: Math.max(1, x2 - x1), height },
    style,
  };
}

/** A line that marks a value. By default ECharts rounds it to two digits after the point. */
export const plainLine = { symbol: "none", silent: true, precision: -1 };

/** Limits of a logarithmic axis with air at both ends. */
export function logLimits(values: number[]): { min: number; max: number } {
  const positive = values.filter((value) => value > 0);
  if (positive.length === 0) return { min: 0.1, max: 10 };
  const low = Math.min(...positive);
  const high = Math.max(...positive);
  // A file may hold the largest and the smallest of numbers.
  return {
    min: Math.max(Number.MIN_VALUE, low / 1.25),
    max: Math.min(Number.MAX_VALUE, high * 1.25),
  };
}

export interface Whisker {
  /** On the axis of categories or of x values. */
  at: number;
  low: number;
  high: number;
  colour: string;
}

/** Lines from low to high with small ends, lying or standing. */
export function whiskers(name: string, each: Whisker[], lying: boolean, width = 1.5): Guide {
  const renderItem: CustomSeriesOption["renderItem"] = (params, api) => {
    const ends = [1, 2].map((dimension) => {
      const value = Number(api.value(dimension));
      const at = Number(api.value(0));
      return api.coord?.(lying ? [value, at] : [at, value]);
    });
    const [a, b] = ends as [[number, number], [number, number]];
    const stroke = each[params.dataIndex]?.colour ?? "gray";
    const line = (x1: number, y1: number, x2: number, y2: number) => ({
      type: "line" as const,
      shape: { x1, y1, x2, y2 },
      style: { stroke, lineWidth: width },
    });
    const cap = ([x, y]: [number, number]) =>
      lying ? line(x, y - 4, x, y + 4) : line(x - 4, y, x + 4, y);
    return { type: "group", children: [line(...a, ...b), cap(a), cap(b)] };
  };
  return {
    name,
    type: "custom",
    silent: true,
    z: 1,
    tooltip: { show: false },
    encode: lying ? { x: [1, 2], y: 0 } : { x: 0, y: [1, 2] },
    data: each.map(({ at, low, high }) => [at, low, high]),
    renderItem,
  };
}

/** The shape tells a GPU from a CPU, the colour a backend from the others. A diamond means nothing else. */
export const pointOf = (gpu: boolean) => ({
  symbol: gpu ? "diamond" : "circle",
  symbolSize: gpu ? 10 : 7,
});
