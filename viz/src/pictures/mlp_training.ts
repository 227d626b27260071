// SPDX-License-Identifier: Apache-2.0
// Training networks of many sizes on many threads: the time of a step against parameters and width,
// and the speed-up by threads.
import { flag, type Json, list, num, positive, text } from "../data/json";
import { type Column, inSeconds, tableOf } from "../data/table";
import { count, percent, quantity, seconds, times } from "../data/units";
import { baseOption, idealLine, lineOf, logLines, tooltip, valueAxis } from "./chart";
import { engineOf, nameOf, proofOf, timeOf, verification, withoutTime } from "./mlp_rows";
import { lookOf } from "./palette";
import { drawing } from "./picture";
import { teller } from "./tooltip";

export const sizes = drawing("sizes", ["mlp_depth", "mlp_width"], (file) => {
  const depth = file.experiment === "mlp_depth";
  const points = list(file.data, "points").flatMap((point) => {
    const [size, parameters] = [positive(point, "size"), positive(point, "parameters")];
    return size === null || parameters === null
      ? []
      : [{ size, parameters, rows: list(point, "rows") }];
  });
  const rows = points.flatMap((point) => point.rows);
  const names = [
    ...new Set(rows.filter((row) => timeOf(row, "seconds_per_step") !== null).map(nameOf)),
  ];
  if (names.length === 0) return "no row has a time";
  const size = depth ? "last hidden layer" : "width";
  const rowOf = (name: string) => rows.find((row) => nameOf(row) === name) ?? null;
  const views = [
    { name: "a step, by parameters", x: "parameters", y: "seconds_per_step" },
    { name: `a step, by ${size}`, x: "size", y: "seconds_per_step" },
    { name: "100 epochs, by parameters", x: "parameters", y: "seconds_100_epochs" },
  ] as const;
  type Trained = { point: (typeof points)[number]; row: Json };
  const columns: Column<Trained>[] = [
    { name: size, show: count, of: ({ point }) => point.size },
    { name: "parameters", show: count, of: ({ point }) => point.parameters },
    { name: "row", of: ({ row }) => nameOf(row) },
    inSeconds("time of a step", ({ row }) => timeOf(row, "seconds_per_step")),
    inSeconds("100 epochs", ({ row }) => timeOf(row, "seconds_100_epochs")),
    {
      name: "100 epochs are",
      of: ({ row }) =>
        flag(row, "extrapolated") === true ? "extrapolated from fewer steps" : "measured",
    },
    { name: "proof", of: ({ row }) => proofOf(row) },
  ];
  const tell = teller(columns);
  const trained = points.flatMap((point) =>
    point.rows
      .filter((row) => timeOf(row, "seconds_per_step") !== null)
      .map((row): Trained => ({ point, row })),
  );
  return {
    reading: file.sentence,
    alternative: `Lines of time on logarithmic axes, one for each of ${names.length} rows.`,
    table: tableOf(columns, trained),
    notDrawn: withoutTime(rows).filter(([name]) => !names.includes(name)),
    verification: verification(rows),
    variants: views.map((view) => view.name),
    option: (palette, _narrow, variant) => {
      const { x, y } = views[variant] ?? views[0];
      return logLines(
        palette,
        { name: x === "size" ? size : "parameters", show: quantity },
        { name: y === "seconds_per_step" ? "time of a step" : "time of 100 epochs", show: seconds },
        names.map((name) => ({
          name,
          device: text(rowOf(name), "device") !== "cpu",
          look: lookOf(palette, file.names, engineOf(rowOf(name))),
          points: trained.flatMap((each) => {
            const value = timeOf(each.row, y);
            if (nameOf(each.row) !== name || value === null) return [];
            return [{ value: [each.point[x], value], told: tell(name, each) }];
          }),
        })),
      );
    },
  };
});

export const trainingThreads = drawing("scaling", ["mlp_scaling"], (file) => {
  const rows = list(file.data, "results");
  const timed = rows.flatMap((row) => {
    const [threads, speedup] = [positive(row, "threads_asked"), timeOf(row, "speedup")];
    return threads === null || speedup === null
      ? []
      : [{ row, racer: text(row, "racer"), threads, speedup }];
  });
  if (timed.length === 0) return "no row has a speed-up";
  const racers = [...new Set(timed.map((each) => each.racer))];
  const most = Math.max(2, ...timed.map((each) => each.threads));
  const columns: Column<(typeof timed)[number]>[] = [
    { name: "row", of: ({ row }) => nameOf(row) },
    { name: "threads", show: count, of: ({ threads }) => threads },
    inSeconds("time of a step", ({ row }) => timeOf(row, "seconds_per_step")),
    { name: "speed-up", show: times, of: ({ speedup }) => speedup },
    { name: "efficiency", show: percent, of: ({ row }) => num(row, "efficiency") },
    { name: "proof", of: ({ row }) => proofOf(row) },
  ];
  const tell = teller(columns);
  return {
    reading: file.sentence,
    alternative: "Points of speed-up against threads beside the ideal line.",
    table: tableOf(columns, timed),
    notDrawn: withoutTime(rows.filter((row) => timeOf(row, "seconds_per_step") === null)),
    verification: verification(rows),
    option: (palette) => ({
      ...baseOption(palette),
      tooltip: tooltip(palette, "axis"),
      grid: { left: 70, right: 28, top: 48, bottom: 52 },
      xAxis: valueAxis(palette, { name: "threads", show: count, whole: true, min: 1, max: most }),
      yAxis: valueAxis(palette, {
        name: "speed-up over one thread",
        show: times,
        min: 0,
        gap: 52,
      }),
      series: [
        idealLine(palette, [
          [1, 1],
          [most, most],
        ]),
        ...racers.map((racer) => {
          const own = timed.filter((each) => each.racer === racer);
          return lineOf({
            name: racer,
            device: own.some((each) => text(each.row, "device") !== "cpu"),
            look: lookOf(palette, file.names, racer),
            points: own.map((each) => ({
              value: [each.threads, each.speedup],
              told: tell(racer, each),
            })),
          });
        }),
      ],
    }),
  };
});
