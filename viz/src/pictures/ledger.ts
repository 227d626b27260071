// SPDX-License-Identifier: Apache-2.0
// Where the time went: the phases of a cold and of a warm run of each row, which with what is left
// unexplained add up to the wall time.
import { type Phases, problemText, type ResultFile, whyNotDrawn } from "../data/results";
import { type Column, inSeconds, tableOf } from "../data/table";
import { percent, seconds, shortened } from "../data/units";
import { heightOfBars, inRows, stackedBars, valueAxis } from "./chart";
import { chosenRows, namedOf, standInSentence, type Timed, whyNotChosen } from "./choice";
import { doubt, doubtOfCold } from "./order";
import { ledgerParts, phaseColour } from "./palette";
import { drawing } from "./picture";
import { verificationOfRows } from "./proof";
import { teller } from "./tooltip";

const mostDrawn = 12;
const kinds = ["warm", "cold"] as const;
type Kind = (typeof kinds)[number];

/** `seconds` is the wall time. */
export interface Run extends Timed {
  kind: Kind;
  phases: Phases;
}

export function partOf(phases: Phases, part: (typeof ledgerParts)[number]): number | null {
  return part === "unexplained" ? phases.unexplained : phases.parts[part];
}

/** Why the first of these runs, of one kind and from short to long, need not be the shortest. */
export function doubtOf(runs: Run[]): string {
  const verified = runs.filter(({ row }) => row.verified === true);
  return verified[0]?.kind === "cold" ? doubtOfCold(verified) : doubt(verified);
}

interface View {
  kind: Kind;
  runs: Run[];
  drawn: Run[];
  share: boolean;
}

/** Of the kinds that the file has, the shortest run first. */
export function runsByKind(file: ResultFile): { kind: Kind; runs: Run[] }[] {
  return kinds
    .map((kind) => ({
      kind,
      runs: file.rows
        .flatMap((row): Run[] => {
          const phases = row[kind];
          return phases === null ? [] : [{ row, kind, phases, seconds: phases.wall }];
        })
        .sort((a, b) => a.seconds - b.seconds),
    }))
    .filter(({ runs }) => runs.length > 0);
}

/** The rows that have no run of that kind, with the reason. */
export const withoutRuns = (file: ResultFile, kind: Kind): [string, string][] =>
  file.rows
    .filter((row) => row[kind] === null)
    .map((row) => [
      row.name,
      row.seconds === null ? whyNotDrawn(row) : `the file has no phases of a ${kind} run of it`,
    ]);

const largestPart = (phases: Phases) =>
  ledgerParts
    .map((part) => ({ part, length: partOf(phases, part) ?? 0 }))
    .sort((a, b) => b.length - a.length)[0]!;

/** In seconds the bars of the shorter runs would hardly be seen. */
function farApart(drawn: Run[]): boolean {
  const lengths = drawn.map(({ phases }) => largestPart(phases).length);
  return Math.max(...lengths) >= 100 * Math.min(...lengths);
}

function reading({ drawn, runs, share }: View, file: ResultFile): string {
  const [first] = drawn;
  if (first === undefined) return "No verified row has such a run.";
  const { part, length } = largestPart(first.phases);
  const problem = problemText(file);
  const worst = Math.max(
    ...drawn.map((run) => Math.abs(run.phases.unexplained ?? 0) / run.seconds),
  );
  const why = doubtOf(runs);
  return (
    (why === ""
      ? `The fastest ${first.kind} run, by ${shortened(first.row.name)}, took ${seconds(first.seconds)}, `
      : `The fastest ${first.kind} run is not settled (${why}): that of ${shortened(first.row.name)} took ${seconds(first.seconds)}, `) +
    `of which ${share ? percent(length / first.seconds) : seconds(length)} ${part}; at most ${percent(worst)} of any ${first.kind} run is unexplained` +
    `${problem ? ` (${problem})` : ""}.` +
    standInSentence(drawn.map(({ row }) => row))
  );
}

export const ledger = drawing("ledger", ["comparison", "residency"], (file) => {
  const all = runsByKind(file);
  const views = all.flatMap(({ kind, runs }): View[] => {
    const drawn = chosenRows(runs, namedOf(file), mostDrawn);
    const shares = farApart(drawn) ? [true, false] : [false, true];
    return shares.map((share) => ({ kind, runs, drawn, share }));
  });
  if (!views.some((view) => view.drawn.length > 0))
    return "no row has phases and a proof: phases are recorded for backends, not for peers or emulated devices";
  const columns: Column<Run>[] = [
    { name: "row", of: (run) => run.row.name },
    { name: "run", of: (run) => run.kind },
    inSeconds("wall", (run) => run.seconds),
    ...ledgerParts.map((part) => inSeconds(part, (run: Run) => partOf(run.phases, part))),
  ];
  const tell = teller(columns);
  return {
    reading: (variant) => reading(views[variant]!, file),
    alternative: `Stacked bars of seconds or shares, one for each of at most ${mostDrawn} runs, divided into phases.`,
    height: heightOfBars(Math.max(...views.map((view) => view.drawn.length)), 26) + 24,
    table: tableOf(
      columns,
      all.flatMap(({ runs }) => runs),
    ),
    notDrawn: (variant) => [
      ...withoutRuns(file, views[variant]!.kind),
      ...views[variant]!.runs.filter((run) => !views[variant]!.drawn.includes(run)).map(
        ({ row }): [string, string] => [row.name, whyNotChosen(row)],
      ),
    ],
    verification: verificationOfRows([
      ...new Set(all.flatMap(({ runs }) => runs.map(({ row }) => row))),
    ]),
    variants: views.map(({ kind, share }) => `${kind}, ${share ? "share" : "seconds"}`),
    answers: {
      questions: ["Run", "Unit"],
      of: views.map(({ kind, share }) => [`${kind} run`, share ? "share" : "seconds"]),
    },
    option: (palette, narrow, variant) => {
      const { drawn, share, kind } = views[variant]!;
      return {
        ...inRows(palette, narrow, {
          names: drawn.map((run) => run.row.name),
          figures: drawn.map((run) => seconds(run.seconds)),
        }),
        xAxis: valueAxis(palette, {
          name: share ? `share of the wall time, ${kind} run` : `wall time of a ${kind} run`,
          show: share ? percent : seconds,
          min: 0,
          ...(share ? { max: 1 } : {}),
        }),
        series: stackedBars(
          palette,
          ledgerParts
            .filter((part) => drawn.some((run) => partOf(run.phases, part) !== null))
            .map((part) => ({
              name: part,
              colour: phaseColour(palette, part),
              points: drawn.map((run) => {
                const value = Math.max(0, partOf(run.phases, part) ?? 0);
                const told = tell(`${run.row.name}, ${kind} run`, run);
                return { value: share ? value / run.seconds : value, told };
              }),
            })),
          20,
        ),
      };
    },
  };
});
