// SPDX-License-Identifier: Apache-2.0
// The types of what a picture hands to ECharts: the parts that page/echarts.ts brings, and no others.
import type {
  BarSeriesOption,
  CustomSeriesOption,
  EChartsOption,
  GridComponentOption,
  LegendComponentOption,
  LineSeriesOption,
  ScatterSeriesOption,
  TooltipComponentOption,
  XAXisComponentOption,
  YAXisComponentOption,
} from "echarts";
import type { Told } from "./tooltip";

type Value = number | null;
/** What is drawn, and what the tooltip tells of it. */
export interface Point {
  value: Value | Value[];
  told: Told;
  name?: string;
  symbol?: string;
  symbolRotate?: number;
  itemStyle?: { color: string };
  label?: { formatter: string };
}

type Named<S> = Omit<S, "data" | "name"> & { name: string };
type AnySeries =
  | Named<BarSeriesOption>
  | Named<CustomSeriesOption>
  | Named<LineSeriesOption>
  | Named<ScatterSeriesOption>;
/** Of points that have a tooltip. */
export type Measured = AnySeries & { data: Point[] };
/** Whiskers, and lines that guide the eye: they have none. */
export type Guide = AnySeries & { tooltip: { show: false }; data: Value[][] };
export type Series = Measured | Guide;

export type ChartOption = Pick<EChartsOption, "animation" | "backgroundColor" | "color"> & {
  textStyle: object;
  legend: LegendComponentOption;
  grid: GridComponentOption;
  tooltip: TooltipComponentOption;
  xAxis: XAXisComponentOption;
  yAxis: YAXisComponentOption;
  series: Series[];
};
