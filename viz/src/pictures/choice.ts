// SPDX-License-Identifier: Apache-2.0
// Which rows a picture draws where it has no room for all of them: those that the comparison is about, then
// the fastest. Without the naive port and the best row on the CPU nobody sees what a good port gains.
import { text } from "../data/json";
import { type ResultFile, type Row, staysInPlace } from "../data/results";

/** A row with its time in the view that is drawn. */
export interface Timed {
  row: Row;
  seconds: number;
}

export const isCpu = (row: Row) => row.device === "cpu" && staysInPlace(row);
const isGpu = (row: Row) => row.device !== "cpu";

/** A CPU row whose copies within the host stand for those to a GPU (experiment residency). */
const standsIn = (row: Row) => text(row.json, "place") === "stand_in";
export const standInSentence = (rows: Row[]): string =>
  rows.some(standsIn)
    ? " Without a GPU, copies within the host stand for the bus: these are not times of a GPU."
    : "";

/**
 * Of rows from fast to slow: the slowest on a GPU, if possible one that copies in every step. Without a
 * GPU a CPU row that copies within the host stands for it (experiment residency).
 */
function naivePort(ranked: Row[]): Row | undefined {
  const onGpu = ranked.filter(isGpu);
  const ports =
    onGpu.length > 0
      ? onGpu
      : ranked.filter((row) => row.device === "cpu" && row.roundtripEvery !== null);
  return ports.filter((row) => row.roundtripEvery === 1).at(-1) ?? ports.at(-1);
}

/** What a row is in a comparison of CPU and GPU, which its colour says. */
export type Kind = "CPU" | "GPU" | "naive port";
export const rowKinds: Kind[] = ["CPU", "GPU", "naive port"];

/** Of each of these rows, from fast to slow. */
export function kindsOf(ranked: Row[]): (row: Row) => Kind {
  const naive = naivePort(ranked);
  return (row) => (row === naive ? "naive port" : isGpu(row) ? "GPU" : "CPU");
}

/** The baseline, and what the reader added. */
export const namedOf = (file: ResultFile): string[] => [file.baseline, ...file.added];

/**
 * At most `most` verified rows, the fastest first. The best on the CPU, the best on a GPU, the naive
 * port and those with a name of `named` are always among them; where those are too many, the last named.
 */
export function chosenRows<T extends Timed>(timed: T[], named: string[], most: number): T[] {
  const ranked = timed
    .filter(({ row }) => row.verified === true)
    .sort((a, b) => a.seconds - b.seconds);
  const naive = naivePort(ranked.map(({ row }) => row));
  const ofName = (name: string) => ranked.find(({ row }) => row.name === name);
  const always = [
    ranked.find(({ row }) => isCpu(row)),
    ranked.find(({ row }) => isGpu(row) && staysInPlace(row)),
    ranked.find(({ row }) => row === naive),
    ...named.slice(0, 1).map(ofName),
    ...named.slice(1).reverse().map(ofName),
  ].filter((each) => each !== undefined);
  const chosen = [...new Set([...always, ...ranked])].slice(0, most);
  return ranked.filter((each) => chosen.includes(each));
}

/** Such a row can be added. */
export const noRoom = "there is no room for more rows: in the table only";

/** Of a row that has a time in the view. */
export const whyNotChosen = (row: Row): string =>
  row.verified === true ? noRoom : "timed, but never verified";

/** More rows than that nobody reads; the table has all. */
export const mostRows = 16;

/**
 * The same for things that are no rows of backends: at most `mostRows`, those of the greatest weight, in
 * their order; and the others by name, for the list of what is not drawn.
 */
export function heaviest<T>(
  all: T[],
  weight: (each: T) => number,
  nameOf: (each: T) => string,
): { drawn: T[]; left: [string, string][] } {
  const kept = new Set([...all].sort((a, b) => weight(b) - weight(a)).slice(0, mostRows));
  const drawn = all.filter((each) => kept.has(each));
  const left = all.filter((each) => !kept.has(each));
  return { drawn, left: left.map((each) => [nameOf(each), "in the table only"]) };
}
