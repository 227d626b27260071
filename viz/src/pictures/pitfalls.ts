// SPDX-License-Identifier: Apache-2.0
// Each classic mistake of measuring beside the right measurement of the same work.
import { concludes } from "../data/conclusion";
import { flag, list, positive, text } from "../data/json";
import { type Column, inSeconds, tableOf } from "../data/table";
import { figure, seconds, times } from "../data/units";
import { guideLine, heightOfBars, inRows, logLimits, plainLine, valueAxis } from "./chart";
import type { Guide, Measured } from "./option";
import { type Palette, seriesColour } from "./palette";
import { drawing } from "./picture";
import { teller } from "./tooltip";

export const pitfalls = drawing("pitfalls", ["pitfalls"], (file) => {
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
    misleads: concludes(file) ? flag(each, "misleads") : null,
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
  if (timed.length === 0) return "none of them was measured";
  const worst = timed[0]!;
  const misleading = timed.filter((each) => each.misleads === true).length;
  const columns: Column<(typeof timed)[number]>[] = [
    { name: "pitfall", of: (each) => each.name },
    { name: "the mistaken way", of: (each) => each.mistake },
    inSeconds("mistaken reading", (each) => each.mistakenSeconds),
    { name: "the right way", of: (each) => each.right },
    inSeconds("right reading", (each) => each.rightSeconds),
    { name: "mistaken / right", show: times, of: (each) => each.factor },
    {
      name: "misleads here",
      of: (each) => (each.misleads === null ? "unclear" : each.misleads ? "yes" : "no"),
    },
    { name: "advice", of: (each) => each.advice },
  ];
  const tell = teller(columns);
  const told = ["mistaken reading", "right reading", "mistaken / right", "misleads here"];
  const pointsOf = (key: "mistakenSeconds" | "rightSeconds" | "factor") =>
    timed.map((each, index) => ({
      value: [each[key], index],
      told: tell(each.name, each, told),
    }));
  return {
    reading:
      `${misleading} of ${timed.length} mistakes mislead on this machine, ${worst.name} most: ${worst.mistake} reads ${seconds(worst.mistakenSeconds)}, ` +
      `${worst.right} ${seconds(worst.rightSeconds)}, ${figure(worst.factor > 1 ? worst.factor : 1 / worst.factor)} times too ${worst.factor > 1 ? "slow" : "fast"}.`,
    alternative: `For each of ${timed.length} pitfalls two points on a logarithmic axis of time: the mistaken reading and the right one.`,
    height: heightOfBars(timed.length, 28),
    table: tableOf(columns, timed),
    notDrawn: all
      .filter((each) => each.mistakenSeconds === null)
      .map((each) => [each.name, `${each.status}: ${each.reason || "no time"}`]),
    verification:
      "Work is proved before it is timed: steps must have the oracle's bits, sums the known sum; the table of docs/lab.md names the exceptions.",
    variants: ["readings", "factor"],
    option: (palette, narrow, variant) => {
      const names = timed.map((each) => each.name);
      if (variant === 1) {
        const figures = timed.map((each) => times(each.factor));
        return {
          ...inRows(palette, narrow, { names, figures }),
          legend: { show: false },
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
              data: pointsOf("factor").map((point, index) => ({
                ...point,
                itemStyle: {
                  color: seriesColour(palette, timed[index]!.misleads === true ? 1 : 6),
                },
              })),
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
      const base = inRows(palette, narrow, { names });
      return {
        ...base,
        legend: { ...base.legend, data: ["mistaken", "right"] },
        xAxis: valueAxis(palette, {
          name: "reading",
          log: true,
          show: seconds,
          ...logLimits(timed.flatMap((each) => [each.mistakenSeconds, each.rightSeconds])),
        }),
        series: [
          ...timed.map((each, index) => connection(palette, index, each)),
          readings(palette, "mistaken", 1, "triangle", pointsOf("mistakenSeconds")),
          readings(palette, "right", 2, "circle", pointsOf("rightSeconds")),
        ],
      };
    },
  };
});

const connection = (
  palette: Palette,
  row: number,
  { mistakenSeconds, rightSeconds }: { mistakenSeconds: number; rightSeconds: number },
): Guide => ({
  ...guideLine("connection", { color: palette.muted, width: 2 }),
  silent: true,
  data: [
    [mistakenSeconds, row],
    [rightSeconds, row],
  ],
});

const readings = (
  palette: Palette,
  name: string,
  colour: number,
  symbol: string,
  data: Measured["data"],
): Measured => ({
  name,
  type: "scatter",
  symbol,
  symbolSize: 12,
  z: 3,
  itemStyle: { color: seriesColour(palette, colour) },
  data,
});
