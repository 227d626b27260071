// SPDX-License-Identifier: Apache-2.0
// Strips below each other: one for each row, with a point for every run, at its date.
import type { XAXisComponentOption } from "echarts";
import type * as schema from "../data/result_schema";
import { baseOption, plainLine, tooltip, valueAxis, whiskers } from "./chart";
import type { ChartOption, Series } from "./option";
import { type Palette, seriesColour } from "./palette";
import type { Told } from "./tooltip";
import { looks } from "./verdicts";

/** More strips than that nobody reads; the table has all. */
export const mostStrips = 8;

export interface StripPoint {
  /** ISO 8601, or "". */
  date: string;
  value: number | null;
  interval: { low: number; high: number } | null;
  /** It is drawn in the look of this verdict; null: in that of its strip. */
  verdict: schema.Verdict | null;
  /** The row changed here: a dashed line, and a larger point. */
  change: boolean;
  told: Told;
}

export interface Strip {
  name: string;
  title: string;
  colour: (palette: Palette) => string;
  /** Of the axis of values. */
  limits: { min: number; max: number };
  points: StripPoint[];
}

/** With 5 % to both sides of `around` in sight, so that noise does not fill a strip. */
export function limitsAround(around: number, values: number[]): Strip["limits"] {
  const [low, high] = [Math.min(0.95 * around, ...values), Math.max(1.05 * around, ...values)];
  const steps = 20 / 10 ** Math.floor(Math.log10(high));
  return { min: Math.floor(steps * low) / steps, max: Math.ceil(steps * high) / steps };
}

const [stripHeight, stripGap, head] = [62, 34, 24];
export const heightOf = (strips: number) => head + strips * (stripHeight + stripGap);

/** Where the runs of each strip stand: at their dates, or in their order where a run has none. */
function placesOf(strips: Strip[]): { dates: boolean; at: number[][] } {
  const at = strips.map(({ points }) =>
    points.map(({ date }) => Date.parse(date.replace(/(\d\d)(\d\d)$/, "$1:$2"))),
  );
  const dates = at.every((places) =>
    places.every(
      (place, index) => Number.isFinite(place) && (index === 0 || place > places[index - 1]!),
    ),
  );
  return dates
    ? { dates, at }
    : { dates, at: strips.map(({ points }) => points.map((_point, index) => index + 1)) };
}

function seriesOf(strip: Strip, index: number, places: number[], palette: Palette): Series[] {
  const { name, points } = strip;
  const colour = strip.colour(palette);
  const axes = { xAxisIndex: index, yAxisIndex: index };
  const intervals = points.flatMap(({ interval }, at) =>
    interval === null ? [] : [{ at: places[at]!, ...interval, colour }],
  );
  return [
    ...(intervals.length === 0
      ? []
      : [{ ...whiskers(name, intervals, false), ...axes, clip: true }]),
    {
      name,
      type: "line",
      ...axes,
      symbol: "circle",
      symbolSize: (_value: unknown, { dataIndex }: { dataIndex: number }) =>
        points[dataIndex]?.change ? 13 : 7,
      showAllSymbol: true,
      lineStyle: { color: colour, type: "solid", width: 1.5 },
      itemStyle: { color: colour },
      data: points.map(({ value, told, verdict }, at) => {
        const point = { value: [places[at]!, value], told };
        if (verdict === null) return point;
        const look = looks[verdict];
        return {
          ...point,
          symbol: look.symbol,
          ...(look.turned === undefined ? {} : { symbolRotate: look.turned }),
          itemStyle: { color: seriesColour(palette, look.colour) },
        };
      }),
      markLine: {
        ...plainLine,
        lineStyle: { color: palette.muted, type: "dashed" },
        label: { show: false },
        data: points.flatMap(({ change }, at) => (change ? [{ xAxis: places[at]! }] : [])),
      },
    },
  ];
}

const halfADay = 43_200_000;

/** All on one axis of dates, or of runs. */
export function stripsOption(
  strips: Strip[],
  show: (value: number) => string,
  palette: Palette,
): ChartOption {
  const { dates, at } = placesOf(strips);
  const places = at.flat();
  const [first, last] = [Math.min(...places), Math.max(...places)];
  const air = (last - first) / 40 || (dates ? halfADay : 0.5);
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
        min: first - air,
        max: last + air,
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
    yAxis: strips.map(({ title, limits }, index) => ({
      ...valueAxis(palette, { name: title, show, ...limits }),
      gridIndex: index,
      nameLocation: "end",
      nameGap: 8,
      nameTextStyle: { color: palette.text, fontSize: 13, fontWeight: "bold", align: "left" },
      splitNumber: 2,
    })),
    series: strips.flatMap((strip, index) => seriesOf(strip, index, at[index]!, palette)),
  };
}
