// What a picture is: made of result files alone, without the page that shows it.
//
// To add one: a file here with a function from a result file to a Picture (null where the file is
// of another command, a Missing where it lacks what the picture needs), and a line in catalogue.ts.
import type { Table } from "../data/table";
import type { ChartOption } from "./option";
import type { Palette } from "./palette";

export interface Picture {
  id: string;
  title: string;
  /** One sentence on what it shows here; of the chosen variant, where they say different things. */
  reading: string | ((variant: number) => string);
  table: Table;
  /** What to say of it to those who do not see it; the table follows. */
  alternative: string;
  /** Pixels, where the usual height does not suit. */
  height?: number;
  /** Ways to look at it, the first one shown; `option` gets the index of the chosen one. */
  variants?: string[];
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

export const readingOf = ({ reading }: Picture, variant: number): string =>
  typeof reading === "string" ? reading : reading(variant);

export const notDrawnOf = ({ notDrawn }: Picture, variant: number): [string, string][] =>
  typeof notDrawn === "function" ? notDrawn(variant) : notDrawn;

export const isMissing = (picture: Picture | Missing): picture is Missing => "missing" in picture;
