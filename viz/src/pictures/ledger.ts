// Where the time went: the phases of a cold and of a warm run of each row, which with what is left
// unexplained add up to the wall time.
import { type Phases, problemText, type ResultFile, type Row, whyNotDrawn } from "../data/results";
import { percent, seconds } from "../data/units";
import { figuresAxis, heightOfBars, lyingRows, valueAxis } from "./chart";
import { ledgerParts, phaseColour } from "./palette";
import type { Missing, Picture } from "./picture";
import { verificationOfRows } from "./proof";

const mostDrawn = 24;

interface Run {
  row: Row;
  kind: "cold" | "warm";
  phases: Phases;
}

export function partOf(phases: Phases, part: (typeof ledgerParts)[number]): number | null {
  return part === "unexplained" ? phases.unexplained : phases.parts[part];
}

/** Rows with a ledger, the fastest warm run first. */
export function rowsWithPhases(file: ResultFile): Row[] {
  return file.rows
    .filter((row) => row.warm !== null || row.cold !== null)
    .sort((a, b) => (a.warm ?? a.cold)!.wall - (b.warm ?? b.cold)!.wall);
}

const show = (variant: number) => (variant === 0 ? seconds : percent);

function reading(runs: Run[], file: ResultFile): string {
  const warm = runs.filter((run) => run.kind === "warm");
  const first = warm[0] ?? runs[0];
  if (first === undefined) return "";
  const largest = ledgerParts
    .map((part) => ({ part, share: (partOf(first.phases, part) ?? 0) / first.phases.wall }))
    .sort((a, b) => b.share - a.share)[0];
  const problem = problemText(file);
  const worst = Math.max(
    ...runs.map((run) => Math.abs(run.phases.unexplained ?? 0) / run.phases.wall),
  );
  return (
    `The fastest ${first.kind} run, by ${first.row.name}, took ${seconds(first.phases.wall)}, ` +
    `of which ${percent(largest?.share ?? 0)} ${largest?.part ?? ""}; at most ${percent(worst)} of any run is unexplained` +
    `${problem ? ` (${problem})` : ""}.`
  );
}

export function ledger(file: ResultFile): Picture | Missing | null {
  if (file.experiment !== "comparison" && file.experiment !== "residency") return null;
  const title = "Where the time went";
  const rows = rowsWithPhases(file);
  if (rows.length === 0)
    return {
      id: "ledger",
      title,
      missing:
        "no row has phases: they are recorded for backends, not for peers or emulated devices",
    };
  const runs = rows.flatMap((row): Run[] => [
    ...(row.warm === null ? [] : [{ row, kind: "warm" as const, phases: row.warm }]),
    ...(row.cold === null ? [] : [{ row, kind: "cold" as const, phases: row.cold }]),
  ]);
  const drawn = runs.slice(0, mostDrawn);
  const names = drawn.map((run) => `${run.row.name} ${run.kind}`);
  return {
    id: "ledger",
    title,
    reading: reading(runs, file),
    alternative: `Stacked bars of seconds, one for each of ${drawn.length} runs, divided into phases.`,
    height: heightOfBars(drawn.length, 26) + 24,
    table: {
      columns: [
        { name: "row" },
        { name: "run" },
        { name: "wall", unit: "s", show: seconds },
        ...ledgerParts.map((part) => ({ name: part, unit: "s", show: seconds })),
      ],
      rows: runs.map((run) => [
        run.row.name,
        run.kind,
        run.phases.wall,
        ...ledgerParts.map((part) => partOf(run.phases, part)),
      ]),
    },
    notDrawn: [
      ...file.rows
        .filter((row) => !rows.includes(row))
        .map((row): [string, string] => [
          row.name,
          row.seconds === null ? whyNotDrawn(row) : "the file has no phases for it",
        ]),
      ...(runs.length > mostDrawn
        ? [[`${runs.length - mostDrawn} longer runs`, "in the table only"] as [string, string]]
        : []),
    ],
    verification: verificationOfRows(rows),
    variants: ["seconds", "share of the wall time"],
    option: (palette, narrow, variant) => {
      const rows = lyingRows(palette, names, narrow, show(variant));
      return {
        ...rows,
        grid: { ...rows.grid, right: narrow ? 24 : 84 },
        xAxis: valueAxis(palette, {
          name: variant === 0 ? "wall time" : "share of the wall time",
          show: show(variant),
          min: 0,
          ...(variant === 0 ? {} : { max: 1 as const }),
        }),
        yAxis: [
          rows.yAxis,
          figuresAxis(
            palette,
            drawn.map((run) => seconds(run.phases.wall)),
            !narrow,
          ),
        ],
        series: ledgerParts
          .filter((part) => drawn.some((run) => partOf(run.phases, part) !== null))
          .map((part) => ({
            name: part,
            type: "bar",
            stack: "wall",
            barMaxWidth: 20,
            itemStyle: {
              color: phaseColour(palette, part),
              borderColor: palette.surface,
              borderWidth: 0.5,
            },
            data: drawn.map((run) => {
              const value = partOf(run.phases, part);
              if (value === null || value < 0) return 0;
              return variant === 0 ? value : value / run.phases.wall;
            }),
          })),
      };
    },
  };
}
