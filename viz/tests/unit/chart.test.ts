// SPDX-License-Identifier: Apache-2.0
import { LineChart } from "echarts/charts";
import { GridComponent, LegendPlainComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { describe, expect, it } from "vitest";
import {
  baseOption,
  belowLegend,
  inRows,
  legendLines,
  logTicks,
  valueAxis,
} from "../../src/pictures/chart";
import { light } from "../../src/pictures/palette";

describe("axes", () => {
  it("have few and even ticks, over a factor of two and over many decades", () => {
    expect(logTicks(0.9, 2.1, 10)).toEqual([1, 1.2, 1.5, 2]);
    expect(logTicks(3, 300, 10)).toEqual([5, 10, 20, 50, 100, 200]);
    expect(logTicks(0.5, 5000, 10)).toEqual([1, 10, 100, 1000]);
    expect(logTicks(1, Infinity, 10)).toEqual([]);
    expect(logTicks(1, 1e24, 10).length).toBeLessThanOrEqual(10);
    expect(logTicks(900, 2 ** 23, 2)).toEqual([
      2 ** 10,
      2 ** 12,
      2 ** 14,
      2 ** 16,
      2 ** 18,
      2 ** 20,
      2 ** 22,
    ]);
  });

  it("leave out zeros that say nothing", () => {
    const axis = valueAxis(light, { name: "", show: (value) => `${value.toFixed(2)} ms` });
    const { formatter } = axis.axisLabel as { formatter: (value: number) => string };
    expect([100, 0.5, 1.25, 0].map(formatter)).toEqual(["100 ms", "0.5 ms", "1.25 ms", "0 ms"]);
  });

  it("of rows have names as long as there is room, with both ends", () => {
    const name = "simd, overlapped snapshot every 100 cold";
    const label = (width: number) =>
      (inRows(light, width, [{ name, figure: "1.00 s" }]).yAxis as any).axisLabel.formatter("", 0);
    expect(label(900)).toBe(`{figure|1.00 s}{name|  }{name|${name}}`);
    expect(label(260)).toMatch(/^\{figure\|1.00 s\}\n\{name\|simd, .*….*100 cold\}$/);
  });
});

/** Of what ECharts draws. */
interface Group {
  y: number;
  getBoundingRect(): { y: number; height: number };
}

describe("a legend", () => {
  const names = Array.from({ length: 10 }, (_each, index) => `cuda_stream_${index} (GPU)`);
  const option = {
    ...baseOption(light),
    grid: { left: 84, top: 56 },
    series: names.map((name) => ({ name, type: "line", data: [] })),
  };

  it("is never paged: it has as many lines as its names need", () => {
    expect(option.legend).not.toHaveProperty("type");
    expect(legendLines([], 400)).toBe(0);
    expect(legendLines(["a", "b"], 400)).toBe(1);
    expect(legendLines(names, 2200)).toBe(1);
    expect(legendLines(names, 900)).toBe(2);
    expect(legendLines(names, 360)).toBe(5);
    expect(legendLines(["a name that is longer than the chart is wide"], 100)).toBe(1);
  });

  it("ends above the grid as ECharts draws it", () => {
    use([GridComponent, LegendPlainComponent, LineChart, SVGRenderer, TooltipComponent]);
    for (const width of [340, 560, 900, 1400]) {
      const chart = init(null, null, { renderer: "svg", ssr: true, width, height: 600 });
      const axes = { xAxis: { type: "value" }, yAxis: { type: "value" } };
      const drawn = belowLegend({ ...option, ...axes }, width).option;
      chart.setOption(drawn);
      const { _componentsViews: views } = chart as unknown as {
        _componentsViews: { type: string; group: Group }[];
      };
      const { group } = views.find(({ type }) => type === "legend.plain")!;
      const end = group.y + group.getBoundingRect().y + group.getBoundingRect().height;
      expect(end).toBeGreaterThan(14);
      expect(end, `${width} pixels`).toBeLessThan((drawn["grid"] as { top: number }).top - 10);
    }
  });

  it("moves the grid down, and the chart grows by as much", () => {
    expect(belowLegend(option, 2200)).toMatchObject({ option, extra: 0 });
    const wrapped = belowLegend(option, 900);
    expect(wrapped.extra).toBe(24);
    expect(wrapped.option["grid"]).toEqual({ left: 84, top: 56 + 24 });
    const hidden = { ...option, legend: { show: false } };
    expect(belowLegend(hidden, 360)).toEqual({ option: hidden, extra: 0 });
    // Of a name that a phone has no room for both ends are left.
    const { formatter } = belowLegend(option, 340).option.legend as any;
    expect(formatter("x".repeat(99)).length).toBe(40);
    expect((belowLegend(option, 200).option.legend as any).formatter("x".repeat(99)).length).toBe(
      20,
    );
    const few = { ...option, legend: { data: ["one"] } };
    expect(belowLegend(few, 360).extra).toBe(0);
  });
});
