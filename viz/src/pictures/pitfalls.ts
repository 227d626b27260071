// Each classic mistake of measuring beside the right measurement of the same work.
import { flag, list, positive, text } from "../data/json";
import type { ResultFile } from "../data/results";
import { figure, seconds, times } from "../data/units";
import {
  baseOption,
  categoryAxis,
  heightOfBars,
  logLimits,
  nameWidth,
  plainLine,
  valueAxis,
} from "./chart";
import { seriesColour } from "./palette";
import type { Missing, Picture } from "./picture";

export function pitfalls(file: ResultFile): Picture | Missing | null {
  if (file.experiment !== "pitfalls") return null;
  const title = "Pitfalls: the mistaken measurement against the right one";
  const all = list(file.data).map((each) => ({
    name: text(each, "name"),
    status: text(each, "status"),
    reason: text(each, "reason"),
    work: text(each, "work"),
    mistake: text(each, "mistake"),
    right: text(each, "right"),
    advice: text(each, "advice"),
    mistakenSeconds: positive(each, "mistaken_seconds"),
    rightSeconds: positive(each, "right_seconds"),
    factor: positive(each, "factor"),
    misleads: flag(each, "misleads"),
  }));
  const distance = (factor: number) => Math.abs(Math.log(factor));
  const timed = all
    .flatMap((each) =>
      each.mistakenSeconds === null || each.rightSeconds === null || each.factor === null
        ? []
        : [
            {
              ...each,
              mistakenSeconds: each.mistakenSeconds,
              rightSeconds: each.rightSeconds,
              factor: each.factor,
            },
          ],
    )
    .sort((a, b) => distance(b.factor) - distance(a.factor));
  if (timed.length === 0) return { id: "pitfalls", title, missing: "none of them was measured" };
  const worst = timed[0]!;
  const misleading = timed.filter((each) => each.misleads === true).length;
  const names = timed.map((each) => each.name);
  return {
    id: "pitfalls",
    title,
    reading:
      `${misleading} of ${timed.length} mistakes mislead on this machine, ${worst.name} most: ${worst.mistake} reads ${seconds(worst.mistakenSeconds)}, ` +
      `${worst.right} ${seconds(worst.rightSeconds)}, ${figure(worst.factor > 1 ? worst.factor : 1 / worst.factor)} times too ${worst.factor > 1 ? "slow" : "fast"}.`,
    alternative: `For each of ${timed.length} pitfalls two points on a logarithmic axis of time: the mistaken reading and the right one.`,
    height: heightOfBars(timed.length, 28),
    table: {
      columns: [
        { name: "pitfall" },
        { name: "the mistaken way" },
        { name: "mistaken reading", unit: "s", show: seconds },
        { name: "the right way" },
        { name: "right reading", unit: "s", show: seconds },
        { name: "mistaken / right", show: times },
        { name: "misleads here" },
        { name: "advice" },
      ],
      rows: timed.map((each) => [
        each.name,
        each.mistake,
        each.mistakenSeconds,
        each.right,
        each.rightSeconds,
        each.factor,
        each.misleads === null ? "unclear" : each.misleads ? "yes" : "no",
        each.advice,
      ]),
    },
    notDrawn: all
      .filter((each) => each.mistakenSeconds === null)
      .map((each) => [each.name, `${each.status}: ${each.reason || "no time"}`]),
    verification:
      "Work is proved before it is timed: steps must have the oracle's bits, sums the known sum; the table of docs/lab.md names the exceptions.",
    variants: ["readings", "factor"],
    option: (palette, narrow, variant) => {
      const left = nameWidth(names, narrow);
      const common = {
        ...baseOption(palette),
        grid: { left: left + 12, right: narrow ? 24 : 70, top: 40, bottom: 48 },
        yAxis: categoryAxis(palette, names, { inverse: true, width: left }),
      };
      if (variant === 1) {
        return {
          ...common,
          legend: { show: false },
          tooltip: {
            ...common.tooltip,
            valueFormatter: (value: unknown) =>
              times(Number(Array.isArray(value) ? value[0] : value)),
          },
          xAxis: valueAxis(palette, {
            name: "mistaken reading / right reading",
            log: true,
            show: times,
            ...logLimits([1, ...timed.map((each) => each.factor)]),
          }),
          series: [
            {
              name: "factor",
              type: "scatter",
              symbolSize: 13,
              data: timed.map((each, index) => ({
                name: each.name,
                value: [each.factor, index],
                itemStyle: { color: seriesColour(palette, each.misleads === true ? 1 : 6) },
              })),
              label: {
                show: !narrow,
                position: "right",
                color: palette.text,
                formatter: (point: { dataIndex: number }) =>
                  times(timed[point.dataIndex]?.factor ?? 1),
              },
              markLine: {
                ...plainLine,
                lineStyle: { color: palette.text },
                label: { show: false },
                data: [{ xAxis: 1 }],
              },
            },
          ],
        };
      }
      const series = (
        name: string,
        key: "mistakenSeconds" | "rightSeconds",
        colour: number,
        symbol: string,
      ) => ({
        name,
        type: "scatter",
        symbol,
        symbolSize: 12,
        z: 3,
        itemStyle: { color: seriesColour(palette, colour) },
        data: timed.map((each, index) => ({ name: each.name, value: [each[key], index] })),
        tooltip: {
          valueFormatter: (value: unknown) =>
            Array.isArray(value) ? seconds(Number(value[0])) : "",
        },
      });
      return {
        ...common,
        xAxis: valueAxis(palette, {
          name: "reading",
          log: true,
          show: seconds,
          ...logLimits(timed.flatMap((each) => [each.mistakenSeconds, each.rightSeconds])),
        }),
        series: [
          ...timed.map((each, index) => ({
            name: "connection",
            type: "line",
            silent: true,
            symbol: "none",
            tooltip: { show: false },
            lineStyle: { color: palette.muted, width: 2 },
            itemStyle: { color: palette.muted },
            data: [
              [each.mistakenSeconds, index],
              [each.rightSeconds, index],
            ],
          })),
          series("mistaken", "mistakenSeconds", 1, "diamond"),
          series("right", "rightSeconds", 2, "circle"),
        ],
        legend: { ...common.legend, data: ["mistaken", "right"] },
      };
    },
  };
}
