// SPDX-License-Identifier: Apache-2.0
// Files of advise: predicted runs.
import { type Json, list, num, positive, text } from "../data/json";
import type { ResultFile } from "../data/results";
import { type Column, inSeconds, tableOf } from "../data/table";
import { seconds } from "../data/units";
import { heightOfBars, inRows, logLimits, pointOf, valueAxis, whiskers } from "./chart";
import type { Series } from "./option";
import { seriesColour } from "./palette";
import { drawing } from "./picture";
import { teller } from "./tooltip";

/** From the best to the worst of what is assumed. */
interface Span {
  low: number;
  high: number;
}
interface AdvisedWay {
  name: string;
  device: string;
  warm: number;
  cold: number;
  /** null: of the profile. */
  ends: { warm: Span; cold: Span } | null;
}

/** Of a card that nobody measured (--assume): each stands at the geometric middle of its span. */
function assumedWays(file: ResultFile, card: string): AdvisedWay[] {
  const spanOf = (way: Json, name: string): Span | null => {
    const [low, high] = [positive(way, name, "low"), positive(way, name, "high")];
    return low === null || high === null ? null : { low, high };
  };
  const middle = ({ low, high }: Span) => Math.sqrt(low * high);
  return list(file.data, "assumed", "rows").flatMap((way): AdvisedWay[] => {
    const [warm, cold] = [spanOf(way, "warm_seconds"), spanOf(way, "cold_seconds")];
    if (warm === null || cold === null) return [];
    const name = `${text(way, "backend")} (assumed ${card})`;
    const ends = { warm, cold };
    return [{ name, device: "cuda, assumed", warm: middle(warm), cold: middle(cold), ends }];
  });
}

export const advised = drawing("advice", ["advise"], (file) => {
  const recorded = list(file.data, "ways").flatMap((way): AdvisedWay[] => {
    const [warm, cold] = [positive(way, "warm_seconds"), positive(way, "cold_seconds")];
    return warm === null || cold === null
      ? []
      : [{ name: text(way, "backend"), device: text(way, "device"), warm, cold, ends: null }];
  });
  const card = text(file.data, "assumed", "card");
  const ways = [...recorded, ...assumedWays(file, card)];
  if (ways.length === 0) return "the file has no predictions for one run";
  ways.sort((a, b) => a.warm - b.warm);
  recorded.sort((a, b) => a.warm - b.warm);
  const own = num(file.data, "own_code", "cells"); // of a code that is not the program's
  const size = own === null ? `${num(file.data, "nx")}x${num(file.data, "ny")}` : `${own} cells`;
  const run = `${size} ${text(file.data, "dtype")}, ${num(file.data, "iterations")} iterations`;
  const end = (kind: "warm" | "cold", at: keyof Span) =>
    inSeconds(
      `${kind} ${at === "low" ? "from" : "to"}`,
      ({ ends }: AdvisedWay) => ends?.[kind][at] ?? null,
    );
  const columns: Column<AdvisedWay>[] = [
    { name: "backend", of: ({ name }) => name },
    { name: "device", of: ({ device }) => device },
    inSeconds("warm run, predicted", ({ warm }) => warm),
    inSeconds("cold run, predicted", ({ cold }) => cold),
    ...(card === ""
      ? []
      : [end("warm", "low"), end("warm", "high"), end("cold", "low"), end("cold", "high")]),
  ];
  const tell = teller(columns);
  return {
    reading:
      (recorded[0] === undefined
        ? ""
        : own !== null
          ? `As its user measured it: ${recorded[0].name} takes ${seconds(recorded[0].warm)} on the CPU for ${run}.`
          : `Predicted, not measured: ${recorded[0].name} is the fastest for ${run}, ${seconds(recorded[0].warm)} warm.`) +
      (card === ""
        ? ""
        : ` The card ${card} was not measured: its rows are assumed, and lie somewhere in their ranges.`),
    alternative:
      "Hollow marks at predicted seconds on a logarithmic axis, a warm and a cold run for each backend.",
    height: heightOfBars(ways.length, 40),
    table: tableOf(columns, ways),
    notDrawn: [],
    verification:
      own === null
        ? `Predictions from the profile of ${text(file.data, "profile", "machine")} (${text(file.data, "profile", "date")}); nothing here was run.`
        : "The time on the CPU is what the user gave; nothing here was run.",
    option: (palette, narrow) => ({
      ...inRows(palette, narrow, { names: ways.map((way) => way.name) }),
      xAxis: valueAxis(palette, {
        name: "predicted time",
        log: true,
        show: seconds,
        ...logLimits(
          ways.flatMap(({ warm, cold, ends }) => [
            ...[warm, cold],
            ...(ends === null ? [] : [ends.warm.low, ends.cold.high]),
          ]),
        ),
      }),
      series: (["warm", "cold"] as const).flatMap((kind, index): Series[] => [
        ...(card === ""
          ? []
          : [
              {
                ...whiskers(
                  `${kind} run, assumed best to worst`,
                  ways.flatMap(({ ends }, at) =>
                    ends === null
                      ? []
                      : [{ at, ...ends[kind], colour: seriesColour(palette, index) }],
                  ),
                  true,
                ),
                itemStyle: { color: seriesColour(palette, index) },
              },
            ]),
        {
          name: `${kind} run, predicted`,
          type: "scatter",
          symbolSize: 13,
          // Hollow: predicted; the shape is that of the device, so the border tells cold from warm.
          itemStyle: {
            color: palette.surface,
            borderColor: seriesColour(palette, index),
            borderWidth: 2.5,
            borderType: kind === "warm" ? "solid" : "dotted",
          },
          data: ways.map((way, row) => ({
            value: [way[kind], row],
            told: tell(way.name, way),
            symbol: pointOf(way.device !== "cpu").symbol,
          })),
        },
      ]),
    }),
  };
});
