// SPDX-License-Identifier: Apache-2.0
// Files of `diffbench history`: the ratio of each duel that was repeated, run after run, and where the
// program says that it changed.
import { list, num, numbers, positive, text, word } from "../data/json";
import type * as schema from "../data/result_schema";
import { type Column, tableOf } from "../data/table";
import { figure, percent, shortened } from "../data/units";
import { kindColour } from "./palette";
import { drawing } from "./picture";
import { heightOf, limitsAround, mostStrips, type Strip, stripsOption } from "./strips";
import { teller } from "./tooltip";
import { looks } from "./verdicts";

interface Run {
  run: number;
  date: string;
  ratio: number;
  low: number | null;
  high: number | null;
  verdict: schema.Verdict | null;
  /** Where the row changed: its median ratio since over that before. */
  change: number | null;
}

interface Duel {
  name: string;
  level: number | null;
  changes: number;
  runs: Run[];
  leftOut: number;
}

function runsOf(row: unknown): Run[] {
  const [dates, verdicts, intervals] = ["dates", "verdicts", "intervals"].map((name) =>
    list(row, name),
  );
  const changes = new Map(
    list(row, "changes").map((change) => [
      num(change, "run"),
      (num(change, "after") ?? NaN) / (num(change, "before") ?? NaN),
    ]),
  );
  return list(row, "ratios").flatMap((_each, index): Run[] => {
    const ratio = positive(list(row, "ratios"), String(index));
    if (ratio === null) return [];
    const [low = null, high = null] = numbers(intervals?.[index]);
    const change = changes.get(index + 1) ?? NaN;
    return [
      {
        run: index + 1,
        date: text(dates, String(index)),
        ratio,
        low,
        high,
        verdict: word(verdicts, looks, String(index)),
        change: Number.isFinite(change) ? change : null,
      },
    ];
  });
}

function duelsOf(data: unknown): Duel[] {
  const rows = list(data, "results");
  const machineOf = (row: unknown) => `${text(row, "host_name")} (${text(row, "cpu_model")})`;
  const machines = new Set(rows.map(machineOf)).size;
  return rows.map((row) => {
    const parts = [text(row, "with"), machines > 1 ? `on ${machineOf(row)}` : ""];
    return {
      name: [`${text(row, "b")} against ${text(row, "a")}`, ...parts.filter(Boolean)].join(", "),
      level: num(row, "level"),
      changes: list(row, "changes").length,
      runs: runsOf(row),
      leftOut: num(row, "left_out") ?? 0,
    };
  });
}

const columns: Column<[Duel, Run]>[] = [
  { name: "row", of: ([duel]) => duel.name },
  { name: "run", show: String, of: ([, { run }]) => run },
  { name: "date", of: ([, { date }]) => date },
  { name: "B / A", show: figure, of: ([, { ratio }]) => ratio },
  { name: "interval from", show: figure, of: ([, { low }]) => low },
  { name: "to", show: figure, of: ([, { high }]) => high },
  { name: "verdict", of: ([, { verdict }]) => verdict },
  { name: "since, over before", show: percent, of: ([, { change }]) => change },
];
const tell = teller(columns);
const told = columns.slice(1).map(({ name }) => name);

function stripOf(duel: Duel, narrow: boolean): Strip {
  const { name, level, runs } = duel;
  const now = level === null ? "" : `, now ${figure(level)}`;
  return {
    name,
    title: `${shortened(name, narrow ? 20 : 60)}${now}`,
    colour: (palette) => kindColour(palette, "CPU"),
    limits: limitsAround(
      level ?? runs[0]!.ratio,
      runs.map(({ ratio }) => ratio),
    ),
    points: runs.map((run) => ({
      date: run.date,
      value: run.ratio,
      interval: run.low === null || run.high === null ? null : { low: run.low, high: run.high },
      verdict: run.verdict,
      change: run.change !== null,
      told: tell(name, [duel, run], told),
    })),
  };
}

export const duels = drawing("duels", ["history"], (file) => {
  const all = duelsOf(file.data);
  const timed = all.filter(({ runs }) => runs.length > 0);
  if (timed.length === 0) return "every run was beside other programs";
  const first = (duel: Duel) => (duel.changes > 0 ? 0 : 1); // what a reader looks for
  const wanted = [...timed].sort((a, b) => first(a) - first(b)).slice(0, mostStrips);
  const drawn = timed.filter((duel) => wanted.includes(duel));
  return {
    reading: file.sentence,
    timeless: true, // runs beside other programs are left out of the file's rows
    alternative:
      "A strip for each row: the ratio of B's time over A's in every duel with its interval, in the colour of its verdict, at the dates of the duels; a dashed line where the row changed.",
    height: heightOf(drawn.length),
    table: tableOf(
      columns,
      timed.flatMap((duel) => duel.runs.map((run): [Duel, Run] => [duel, run])),
    ),
    notDrawn: [
      ...timed
        .filter((duel) => !drawn.includes(duel))
        .map(({ name }): [string, string] => [name, "in the table only"]),
      ...all
        .filter(({ leftOut }) => leftOut > 0)
        .map(({ name, leftOut }): [string, string] => [
          name,
          `${leftOut} run${leftOut === 1 ? "" : "s"} beside other programs`,
        ]),
    ],
    verification:
      "A history keeps no proofs: those of a duel are in its own result. A change is marked where diffbench history has one; a verdict is that of one duel, B against A.",
    option: (palette, narrow) =>
      stripsOption(
        drawn.map((duel) => stripOf(duel, narrow)),
        figure,
        palette,
      ),
  };
});
