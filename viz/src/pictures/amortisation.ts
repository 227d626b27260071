// From residency: how much a copy costs when it is made every so many steps.
import { positive, text } from "../data/json";
import type * as schema from "../data/result_schema";
import { backendOf, type ResultFile, type Row, whyNotDrawn } from "../data/results";
import { count, figure, quantity, seconds, times } from "../data/units";
import { baseOption, logLimits, plainLine, pointOf, valueAxis } from "./chart";
import { isCpu } from "./choice";
import { lookOf } from "./palette";
import type { Missing, Picture } from "./picture";
import { verificationOfRows } from "./proof";

type Timed = Row & { seconds: number };
const every = (row: Row) => row.roundtripEvery ?? row.snapshotEvery;

/** Of the lines of one backend, which have one colour: one for each way to copy. */
const dashes = ["solid", "dashed", "dotted", [12, 4, 2, 4]];

/** "simd, round trip every 10 steps" as "simd, round trip". */
const kindOf = (row: Row) => row.name.replace(/[, ]*\bevery (\d+ steps|step|\d+)/, "");

export function amortisation(file: ResultFile): Picture | Missing | null {
  if (file.experiment !== "residency") return null;
  const title = "Amortisation: speed-up against iterations per copy";
  const timed = file.rows.filter((row): row is Timed => row.seconds !== null);
  const visiting = timed.filter((row) => every(row) !== null);
  const best = timed.filter(isCpu).sort((a, b) => a.seconds - b.seconds)[0];
  if (best === undefined || visiting.length === 0)
    return {
      id: "amortisation",
      title,
      missing: "it needs a timed CPU row and timed rows that visit the host",
    };
  const kinds = [...new Set(visiting.map(kindOf))];
  const firstOf = (kind: string) => visiting.find((row) => kindOf(row) === kind)!;
  const waysOf = (backend: string) => kinds.filter((kind) => backendOf(firstOf(kind)) === backend);
  const residents = [...new Set(visiting.map((row) => text(row.json, "resident")))].flatMap(
    (name) => timed.filter((row) => row.name === name),
  );
  const worst = [...visiting].sort((a, b) => b.seconds - a.seconds)[0]!;
  const resident = residents.find((row) => row.name === text(worst.json, "resident"));
  const placeOf = (row: Row) => text(row.json, "place") as schema.ResidencyRow["place"] | "";
  const standIn = visiting.some((row) => placeOf(row) === "stand_in");
  return {
    id: "amortisation",
    title,
    reading:
      `A step takes ${seconds(worst.seconds)} where the field travels every ${every(worst) === 1 ? "step" : `${every(worst)} steps`}` +
      (resident === undefined
        ? ""
        : ` and ${seconds(resident.seconds)} where it stays, a factor of ${figure(worst.seconds / resident.seconds)}`) +
      (standIn
        ? ". Without a GPU, copies within the host stand for the bus: these are no times of a GPU."
        : "."),
    alternative: `Speed-up over ${best.name} against the steps between two copies, a line for each of ${kinds.length} ways to copy; dashed lines for fields that stay.`,
    height: 440,
    table: {
      columns: [
        { name: "row" },
        { name: "steps between copies", show: count },
        { name: "time of a step", unit: "s", show: seconds },
        { name: `speed-up over ${best.name}`, show: times },
        { name: "times that of a field that stays", show: times },
        { name: "a visit costs", unit: "s", show: seconds },
        { name: "proof" },
      ],
      rows: timed.map((row) => [
        row.name,
        every(row),
        row.seconds,
        best.seconds / row.seconds,
        positive(row.json, "times_resident"),
        positive(row.json, "visit_seconds"),
        row.verification,
      ]),
    },
    notDrawn: file.rows
      .filter((row) => row.seconds === null)
      .map((row) => [row.name, whyNotDrawn(row)]),
    verification: verificationOfRows(timed),
    option: (palette) => {
      const speedUps = [...visiting, ...residents].map((row) => best.seconds / row.seconds);
      const steps = visiting.map((row) => every(row) ?? 1);
      return {
        ...baseOption(palette),
        tooltip: {
          ...baseOption(palette).tooltip,
          trigger: "axis",
          valueFormatter: (value: unknown) => (typeof value === "number" ? times(value) : "-"),
        },
        grid: { left: 76, right: 24, top: 56, bottom: 52 },
        xAxis: valueAxis(palette, {
          name: "steps between two copies",
          log: true,
          show: quantity,
          ...logLimits(steps),
        }),
        yAxis: valueAxis(palette, {
          name: `speed-up over ${best.name}`,
          log: true,
          show: times,
          gap: 56,
          ...logLimits([...speedUps, 1]),
        }),
        series: kinds.map((kind, index) => ({
          name: kind,
          type: "line",
          ...pointOf(firstOf(kind).device !== "cpu"),
          itemStyle: { color: lookOf(palette, file.names, backendOf(firstOf(kind))).color },
          lineStyle: {
            color: lookOf(palette, file.names, backendOf(firstOf(kind))).color,
            type: dashes[waysOf(backendOf(firstOf(kind))).indexOf(kind) % dashes.length],
            width: 2,
          },
          data: visiting
            .filter((row) => kindOf(row) === kind)
            .map((row) => [every(row) ?? 1, best.seconds / row.seconds])
            .sort((a, b) => a[0]! - b[0]!),
          ...(index === 0
            ? {
                markLine: {
                  ...plainLine,
                  lineStyle: { type: "dashed", color: palette.muted },
                  label: { color: palette.muted, position: "insideEndTop", formatter: "{b}" },
                  data: [
                    ...residents
                      .filter((row) => row !== best)
                      .map((row) => ({
                        name: `${row.name}, field stays`,
                        yAxis: best.seconds / row.seconds,
                      })),
                    { name: `${best.name} on the CPU`, yAxis: 1 },
                  ],
                },
              }
            : {}),
        })),
      };
    },
  };
}
