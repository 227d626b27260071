// SPDX-License-Identifier: Apache-2.0
// The pictures of the what-if panel, hollow and dashed, since they are predicted: the bars of a run, its
// course, and its time against the grid with measured runs as solid points.
import { predict, type Way } from "../data/model";
import type { Row } from "../data/results";
import {
  columnsOf,
  comparable,
  partsOfRun,
  type Predicted,
  type Setting,
  shapeOf,
  waysOf,
} from "../data/scenario";
import { figure, seconds, shortened } from "../data/units";
import {
  baseOption,
  inRows,
  logLimits,
  plainLine,
  pointOf,
  tooltip,
  valueAxis,
  whiskers,
} from "./chart";
import type { ChartOption } from "./option";
import { type Palette, kindColour, phaseColour } from "./palette";
import { type Told, teller } from "./tooltip";

/** Hollow and dashed: predicted, or assumed. */
export const hollow = (colour: string, palette: Palette) => ({
  color: `${colour}${palette.dark ? "55" : "33"}`,
  borderColor: colour,
  borderWidth: 1.5,
  borderType: "dashed" as const,
});

/** From the best to the worst of what is assumed. */
const assumedSpans = (drawn: Predicted[], palette: Palette) => ({
  ...whiskers(
    "assumed, best to worst",
    drawn.flatMap(({ ends }, at) =>
      ends === null
        ? []
        : [{ at, low: ends.best.warm, high: ends.worst.warm, colour: palette.text }],
    ),
    true,
  ),
  z: 5,
  itemStyle: { color: palette.text },
});

export function bars(all: Predicted[], palette: Palette, narrow: boolean): ChartOption {
  const drawn = comparable(all);
  const names = drawn.map(({ way }) => way.backend);
  const tell = teller(columnsOf(all));
  return {
    ...inRows(palette, narrow, { names }),
    xAxis: valueAxis(palette, { name: "predicted warm run", show: seconds, min: 0 }),
    series: [
      ...partsOfRun.map(([name, phase, part]) => ({
        name,
        type: "bar" as const,
        stack: "run",
        barMaxWidth: 22,
        itemStyle: hollow(phaseColour(palette, phase), palette),
        data: drawn.map((each) => ({ value: part(each.run), told: tell(each.way.backend, each) })),
      })),
      ...(drawn.some(({ ends }) => ends !== null) ? [assumedSpans(drawn, palette)] : []),
    ],
  };
}

export function crossover(
  setting: Setting,
  measured: { row: Row; side: number }[],
  palette: Palette,
  narrow: boolean,
): ChartOption {
  const ways = waysOf(setting);
  const colourOf = ({ device }: { device: string }) =>
    kindColour(palette, device === "cpu" ? "CPU" : "GPU");
  const recorded = ways.filter(({ assumed }) => assumed === undefined);
  const smallest = Math.min(...recorded.map((way) => way.grids[0]!.side));
  const largest = Math.max(...recorded.map((way) => way.grids[way.grids.length - 1]!.side));
  const sides = Array.from(
    { length: 60 },
    (_each, index) => (smallest / 2) * ((4 * largest) / smallest) ** (index / 59),
  );
  const point = (head: string, side: number, warm: number) => ({
    value: [side, warm],
    told: {
      head,
      lines: [
        ["side of the grid", figure(side)],
        ["warm run", seconds(warm)],
      ] as Told["lines"],
    },
  });
  const curve = (way: Way) =>
    sides.map((side) =>
      point(`${way.backend}, predicted`, side, predict(way, shapeOf(setting, side)).warm),
    );
  const curves = ways.map(curve);
  const heights = [
    ...curves.flat().map(({ value }) => value[1]!),
    ...measured.map(({ row }) => row.warm!.wall),
  ];
  return {
    ...baseOption(palette),
    tooltip: tooltip(palette, "axis"),
    legend: { show: false },
    grid: { left: 84, right: 110, top: 28, bottom: 52 },
    xAxis: valueAxis(palette, {
      name: narrow
        ? "side of the grid"
        : "side of the grid (cells); shaded: not recorded, extrapolated",
      log: true,
      show: figure,
      min: sides[0]!,
      max: sides[59]!,
    }),
    yAxis: valueAxis(palette, {
      name: "warm run",
      log: true,
      show: seconds,
      gap: 66,
      ...logLimits(heights),
    }),
    series: [
      ...ways.map((way, index) => ({
        name: way.backend,
        type: "line" as const,
        showSymbol: false,
        lineStyle: {
          type: way.assumed === undefined ? ("dashed" as const) : ("dotted" as const),
          width: way.device === "cpu" ? 1.5 : 2.5,
          color: colourOf(way),
        },
        itemStyle: { color: colourOf(way) },
        endLabel: {
          show: true,
          formatter: shortened(way.backend, 14),
          color: colourOf(way),
          fontSize: 12,
        },
        labelLayout: { moveOverlap: "shiftY" as const },
        data: curves[index] ?? [],
        ...(index === 0
          ? {
              markLine: {
                ...plainLine,
                lineStyle: { color: palette.text, type: "solid" as const },
                label: { color: palette.text, formatter: `${setting.side}x${setting.side}` },
                data: [{ xAxis: setting.side }],
              },
              markArea: {
                silent: true,
                itemStyle: { color: palette.muted, opacity: 0.18 },
                data: [
                  [{ xAxis: sides[0]! }, { xAxis: smallest }],
                  [{ xAxis: largest }, { xAxis: sides[59]! }],
                ] as [{ xAxis: number }, { xAxis: number }][],
              },
            }
          : {}),
      })),
      ...(measured.length === 0
        ? []
        : [
            {
              name: "measured",
              type: "scatter" as const,
              symbolSize: 9,
              z: 5,
              itemStyle: { color: palette.text },
              data: measured.map(({ row, side }) => ({
                ...point(`${row.name}, measured`, side, row.warm!.wall),
                symbol: pointOf(row.device !== "cpu").symbol,
                itemStyle: { color: colourOf(row) },
              })),
            },
          ]),
    ],
  };
}
