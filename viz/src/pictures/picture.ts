// SPDX-License-Identifier: Apache-2.0
// What a picture is: made of result files alone, without the page that shows it. What all kinds of figures share:
// their table, what a point tells, and the room for entries.
import {
  cellOf,
  headOf,
  readingOf,
  reasonOf,
  shownKeys,
  words,
  type Entry,
  type Figure,
} from "../data/figures";
import type { ResultFile } from "../data/results";
import { shown, type Table, tableOf } from "../data/table";
import type { ChartOption } from "./option";
import type { Palette } from "./palette";
import type { Told } from "./tooltip";

/** What a kind of figure makes of its entries. */
export interface Drawn {
  /** What to say of it to those who do not see it; the table follows. */
  alternative: string;
  /** Pixels at a width, where the usual height does not suit. */
  height?: (width: number) => number;
  /** Ways to look at it, the first one shown; `option` gets the index of the chosen one. */
  views?: string[];
  option: (palette: Palette, width: number, view: number) => ChartOption;
  /** What is in the file and not in the picture, with the reason. */
  notDrawn: [string, string][];
}

export interface Picture extends Omit<Drawn, "option"> {
  id: string;
  title: string;
  rows: number;
  table: () => Table;
  /** null: it is its table. */
  option: Drawn["option"] | null;
}

/** A figure with its entries. */
export interface Subject {
  file: ResultFile;
  figure: Figure;
  entries: Entry[];
}

/** All keys of the entries that are told in numbers or words, those that are drawn first. */
export function tableOfEntries({ file, figure, entries }: Subject): Table {
  const { x, y, by, interval } = figure;
  // The ends of an interval are what it is of.
  const ends = new Map(
    [...y.map((key) => [key, key] as const), [interval, y[0] ?? ""] as const].flatMap(
      ([key, of]) => {
        const head = headOf(file, of);
        return [
          [`${key}.low`, { ...head, name: `${head.name} from` }],
          [`${key}.high`, { ...head, name: `${head.name} to` }],
        ];
      },
    ),
  );
  const keys = new Set([
    ...[x, ...by, ...y, ...ends.keys()],
    ...entries.flatMap((entry) => Object.keys(entry)),
  ]);
  const told = [...keys].filter((key) => entries.some((entry) => cellOf(entry, key) !== null));
  return tableOf(
    told.map((key) => ({
      ...(ends.get(key) ?? headOf(file, key)),
      of: (entry: Entry) => cellOf(entry, key),
    })),
    entries,
  );
}

export const nameOf = ({ file, figure }: Subject, entry: Entry): string =>
  words(file, entry, [figure.x]) || "(no name)";

/** The names of entries by `by`, of which what is the same everywhere is left out. */
export function namesBy({ file, figure, entries }: Subject): (entry: Entry) => string {
  const differs = (key: string) => new Set(entries.map((entry) => cellOf(entry, key))).size > 1;
  const [first, ...rest] = figure.by;
  const told = [...(first === undefined ? [] : [first]), ...rest.filter(differs)];
  return (entry) => words(file, entry, told);
}

/** Those of each name, in the order of the names. */
export function byName(entries: Entry[], name: (entry: Entry) => string): Map<string, Entry[]> {
  const found = new Map<string, Entry[]>();
  for (const entry of entries) {
    const members = found.get(name(entry));
    if (members === undefined) found.set(name(entry), [entry]);
    else members.push(entry);
  }
  return found;
}

export const onDevice = (entry?: Entry): boolean =>
  entry !== undefined && ["cuda", "gpu"].includes(String(cellOf(entry, "device")));

/** What is drawn, and what the printed tables have besides. */
export function tell({ file, figure }: Subject, entry: Entry): Told {
  const { x, y, by, interval } = figure;
  const lineOf = (key: string): Told["lines"] => {
    const cell = cellOf(entry, key);
    const head = headOf(file, key);
    return cell === null || cell === "" ? [] : [[head.name, shown(cell, head)]];
  };
  const spans = y.flatMap((key, index): Told["lines"] => {
    const { low, high } = readingOf(entry, key, index === 0 ? interval : "");
    const head = headOf(file, key);
    return low === null || high === null
      ? []
      : [
          [`${head.name} from`, shown(low, head)],
          ["to", shown(high, head)],
        ];
  });
  const others = shownKeys(file).filter(
    (key) => Object.hasOwn(entry, key) && ![x, ...y, ...by].includes(key),
  );
  return {
    head: words(file, entry, [x, ...by]) || "(no name)",
    lines: [...y.flatMap(lineOf), ...spans, ...others.flatMap(lineOf)],
  };
}

/** Entries that have a figure, and the names of the others with the reason. */
export function split(subject: Subject): { drawn: Entry[]; left: [string, string][] } {
  const { file, figure, entries } = subject;
  const has = (entry: Entry) =>
    figure.y.some((key, index) => {
      const { value, low } = readingOf(entry, key, index === 0 ? figure.interval : "");
      return value !== null || low !== null;
    });
  return {
    drawn: entries.filter(has),
    left: entries
      .filter((entry) => !has(entry))
      .map((entry) => [
        words(file, entry, [figure.x, ...figure.by]) || "(no name)",
        reasonOf(entry),
      ]),
  };
}

/** More than that nobody reads; the table has all. */
export const mostDrawn = 16;
export const noRoom = "there is no room for more: in the table only";

/** What there is room for, those that the file names always, and the names of the others. */
export function roomFor<T>(
  all: T[],
  name: (each: T) => string,
  only: string[],
  most = mostDrawn,
): { kept: T[]; left: [string, string][] } {
  if (all.length <= most) return { kept: all, left: [] };
  const wanted = new Set(
    [...all.filter((each) => only.includes(name(each))), ...all].slice(0, most),
  );
  return {
    kept: all.filter((each) => wanted.has(each)),
    left: all.filter((each) => !wanted.has(each)).map((each) => [name(each), noRoom]),
  };
}
