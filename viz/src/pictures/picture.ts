// SPDX-License-Identifier: Apache-2.0
// What a picture is: made of result files alone, without the page that shows it.
//
// To add one: a file here with a drawing(), a title in titles.ts, and a line in catalogue.ts.
import { concludes, noConclusion } from "../data/conclusion";
import type { ResultFile } from "../data/results";
import type { Table } from "../data/table";
import type { ChartOption } from "./option";
import type { Palette } from "./palette";
import { titleOf, type titles } from "./titles";

export interface Picture {
  id: string;
  title: string;
  /** One sentence on what it shows here; of the chosen variant, where they say different things. */
  reading: string | ((variant: number) => string);
  /** What is said before it. */
  headline?: (variant: number) => string;
  /** The reading holds of disturbed figures, too: it is of no times. */
  timeless?: boolean;
  table: Table;
  /** What to say of it to those who do not see it; the table follows. */
  alternative: string;
  /** Pixels, where the usual height does not suit. */
  height?: number;
  /** Tables besides the one of what is drawn, by their titles. */
  more?: [string, Table][];
  /** Ways to look at it, the first one shown; `option` gets the index of the chosen one. */
  variants?: string[];
  /** Where a way answers several questions: those, and the answers of each of `variants`. */
  answers?: { questions: string[]; of: string[][] };
  /** Whether its axis can be zoomed (dataZoom in the option). */
  zooms?: boolean;
  option: (palette: Palette, narrow: boolean, variant: number) => ChartOption;
  /** What is in the file and not in the picture, with the reason; of the chosen variant, as `reading`. */
  notDrawn: [string, string][] | ((variant: number) => [string, string][]);
  /** The proof of what is shown. */
  verification: string;
}

/** A picture that could not be made of its file. */
export interface Missing {
  id: string;
  title: string;
  missing: string;
}

/** A picture, with a title of its own where that tells more. */
export type Drawn = Omit<Picture, "id" | "title"> & { title?: string };

/**
 * What makes that picture of files of these experiments. `draw` says what the file lacks for it, or null where
 * it is another's. `companions` are all files of the same machine, for what needs two of them.
 */
export const drawing =
  (
    id: keyof typeof titles,
    experiments: ResultFile["experiment"][],
    draw: (file: ResultFile, companions: ResultFile[]) => Drawn | string | null,
  ) =>
  (file: ResultFile, companions: ResultFile[] = []): Picture | Missing | null => {
    const drawn = experiments.includes(file.experiment) ? draw(file, companions) : null;
    if (drawn === null) return null;
    const named = { id, title: titleOf(id, file) };
    if (typeof drawn === "string") return { ...named, missing: drawn };
    const held = drawn.timeless === true || concludes(file);
    return { ...named, ...drawn, ...(held ? {} : { reading: noConclusion }) };
  };

export const readingOf = ({ reading }: Picture, variant: number): string =>
  typeof reading === "string" ? reading : reading(variant);

export const notDrawnOf = ({ notDrawn }: Picture, variant: number): [string, string][] =>
  typeof notDrawn === "function" ? notDrawn(variant) : notDrawn;

export const isMissing = (picture: Picture | Missing): picture is Missing => "missing" in picture;
