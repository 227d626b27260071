// SPDX-License-Identifier: Apache-2.0
// Training a network: learning curves, and where the time of an epoch went.
import { at, list, num, numbers, positive, text } from "../data/json";
import { isEmulated, type ResultFile } from "../data/results";
import { type Column, inSeconds, tableOf } from "../data/table";
import { count, figure, percent, seconds, shortened } from "../data/units";
import {
  baseOption,
  heightOfBars,
  inRows,
  logLimits,
  stackedBars,
  tooltip,
  valueAxis,
} from "./chart";
import { lookOf, seriesColour } from "./palette";
import { drawing } from "./picture";
import { teller } from "./tooltip";

const parts = ["data", "step", "wait"] as const;

function enginesOf(file: ResultFile) {
  return list(file.data, "results").map((engine) => {
    const emulated = isEmulated(engine);
    return {
      name: text(engine, "engine") || "(no name)",
      device: text(engine, "device"),
      status: text(engine, "status"),
      reason: text(engine, "reason"),
      losses: numbers(engine, "losses"),
      perEpoch: emulated ? null : positive(engine, "seconds_per_epoch"),
      phases: parts.map((part) => (emulated ? null : num(at(engine, "phases"), part))),
      train: num(engine, "train", "accuracy"),
      test: num(engine, "test", "accuracy"),
    };
  });
}
type Engine = ReturnType<typeof enginesOf>[number];

const setting = (file: ResultFile) => {
  const layers = numbers(file.data, "layers").join("-");
  const parameters = num(file.data, "parameters");
  return `${text(file.data, "data")}, network ${layers}${parameters === null ? "" : ` with ${parameters} parameters`}`;
};
const proof = (engines: Engine[]) =>
  "Quality stands beside the time: test accuracy " +
  engines
    .map((engine) => `${engine.name} ${engine.test === null ? "unknown" : percent(engine.test)}`)
    .join(", ") +
  ".";

export const learningCurves = drawing("learning", ["mlp_train"], (file) => {
  const engines = enginesOf(file);
  const learned = engines.filter((engine) => engine.losses.length > 0);
  if (learned.length === 0) return "no engine has losses";
  const final = (engine: Engine) => engine.losses[engine.losses.length - 1]!;
  const best = [...learned].sort((a, b) => final(a) - final(b))[0]!;
  const epochsOf = (engine: Engine) =>
    engine.losses.map((loss, index) => ({ engine, loss, index }));
  const timeSoFar = (engine: Engine, index: number) =>
    engine.perEpoch === null ? null : engine.perEpoch * (index + 1);
  const columns: Column<ReturnType<typeof epochsOf>[number]>[] = [
    { name: "engine", of: ({ engine }) => engine.name },
    { name: "epoch", show: count, of: ({ index }) => index + 1 },
    { name: "loss", show: figure, of: ({ loss }) => loss },
    inSeconds("time so far", ({ engine, index }) => timeSoFar(engine, index)),
  ];
  const tell = teller(columns);
  return {
    timeless: true,
    reading: `After ${best.losses.length} epochs the lowest loss, ${figure(final(best))}, is that of ${best.name}, with ${best.test === null ? "unknown" : percent(best.test)} of the test rows right (${setting(file)}).`,
    alternative: `Lines of the loss on a logarithmic axis, one for each of ${learned.length} engines.`,
    table: tableOf(columns, learned.flatMap(epochsOf)),
    notDrawn: engines
      .filter((engine) => !learned.includes(engine))
      .map((engine) => [engine.name, engine.reason || engine.status || "no losses"]),
    verification: proof(learned),
    variants: ["by epoch", "by time"],
    option: (palette, _narrow, variant) => ({
      ...baseOption(palette),
      tooltip: tooltip(palette, "axis"),
      grid: { left: 76, right: 28, top: 48, bottom: 52 },
      xAxis: valueAxis(
        palette,
        variant === 0
          ? { name: "epoch", show: count, min: 1 }
          : { name: "time (epochs at the median time of one)", show: seconds, min: 0 },
      ),
      yAxis: valueAxis(palette, {
        name: "loss",
        log: true,
        show: figure,
        gap: 56,
        ...logLimits(learned.flatMap((engine) => engine.losses)),
      }),
      series: learned
        .filter((engine) => variant === 0 || engine.perEpoch !== null)
        .map((engine, index) => ({
          name: engine.name,
          type: "line",
          symbol: "none",
          // Engines that compute the same lie above each other: a dash lets the lower one show.
          lineStyle: {
            width: 2,
            type: index === 0 ? "solid" : "dashed",
            color: lookOf(palette, file.names, engine.name).color,
          },
          itemStyle: { color: lookOf(palette, file.names, engine.name).color },
          data: epochsOf(engine).map((epoch) => ({
            value: [variant === 0 ? epoch.index + 1 : timeSoFar(engine, epoch.index), epoch.loss],
            told: tell(engine.name, epoch),
          })),
        })),
    }),
  };
});

const totalOf = ({ phases }: Engine) => phases.reduce<number>((sum, part) => sum + (part ?? 0), 0);

export const epochLedger = drawing("epochs", ["mlp_train"], (file) => {
  const engines = enginesOf(file);
  const timed = engines.filter((engine) => engine.perEpoch !== null);
  if (timed.length === 0) return "no engine has a time";
  const best = [...timed].sort((a, b) => a.perEpoch! - b.perEpoch!)[0]!;
  const columns: Column<Engine>[] = [
    { name: "engine", of: (engine) => engine.name },
    { name: "device", of: (engine) => engine.device },
    inSeconds("an epoch", (engine) => engine.perEpoch),
    ...parts.map((part, index) =>
      inSeconds(part, (engine: Engine) => engine.phases[index] ?? null),
    ),
    { name: "training accuracy", show: percent, of: (engine) => engine.train },
    { name: "test accuracy", show: percent, of: (engine) => engine.test },
  ];
  const tell = teller(columns);
  return {
    reading: `${shortened(best.name)} takes ${seconds(best.perEpoch!)} an epoch, the shortest of ${timed.length}, and ${seconds(totalOf(best))} for all of them, which is what is drawn (${setting(file)}).`,
    alternative: "Stacked bars of seconds for all epochs: fetching data, steps, waiting.",
    height: heightOfBars(timed.length, 40),
    table: tableOf(columns, timed),
    notDrawn: engines
      .filter((engine) => !timed.includes(engine))
      .map((engine) => [
        engine.name,
        engine.device === "emulated" ? "emulated device: never timed" : engine.reason || "no time",
      ]),
    verification: proof(timed),
    option: (palette, narrow) => ({
      ...inRows(palette, narrow, { names: timed.map((engine) => engine.name) }),
      xAxis: valueAxis(palette, { name: "all epochs", show: seconds, min: 0 }),
      series: stackedBars(
        palette,
        parts.map((name, part) => ({
          name,
          colour: seriesColour(palette, [1, 2, 0][part] ?? 0),
          points: timed.map((engine) => ({
            value: engine.phases[part] ?? 0,
            told: tell(engine.name, engine),
          })),
        })),
        26,
      ),
    }),
  };
});
