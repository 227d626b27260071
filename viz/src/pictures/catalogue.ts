// SPDX-License-Identifier: Apache-2.0
// The pictures of a file: what it says of itself, each by its kind.
import { entriesOf, figuresOf, type Entry, type Kind } from "../data/figures";
import type { ResultFile } from "../data/results";
import { bars } from "./bars";
import { lines, unrolled } from "./lines";
import { map } from "./map";
import { tableOfEntries, type Drawn, type Picture, type Subject } from "./picture";
import { stack } from "./stack";
import { timeline } from "./timeline";

const draw: Record<Kind, (subject: Subject) => Drawn | null> = {
  bars,
  lines,
  stack,
  timeline,
  map,
  table: () => null,
};

/** Made once: a file may have thousands of entries. */
const made = new WeakMap<ResultFile, Picture[]>();

/** None of an empty list; of one without figures its table, unless another picture has that. */
export function picturesOf(file: ResultFile): Picture[] {
  const before = made.get(file);
  if (before !== undefined) return before;
  const lists = new Map<string, Entry[]>();
  const inTables = new Set<string>();
  const pictures = figuresOf(file).flatMap((figure, index): Picture[] => {
    const entries = lists.get(figure.rows) ?? entriesOf(file, figure.rows);
    lists.set(figure.rows, entries);
    const whole = { file, figure, entries };
    const subject = figure.kind === "lines" ? unrolled(whole) : whole;
    const drawn = draw[figure.kind](subject);
    if (subject.entries.length === 0 || (drawn === null && inTables.has(figure.rows))) return [];
    inTables.add(figure.rows);
    const shared = {
      id: `${figure.kind}-${index + 1}`,
      title: figure.title,
      rows: subject.entries.length,
      table: () => tableOfEntries(subject),
    };
    return [
      drawn === null
        ? { ...shared, alternative: "", notDrawn: [], option: null }
        : { ...shared, ...drawn },
    ];
  });
  made.set(file, pictures);
  return pictures;
}
