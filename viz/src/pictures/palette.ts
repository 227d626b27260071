// Colours. The categorical ones are those of Okabe and Ito (Color Universal Design, 2008), which
// people with the common kinds of colour blindness tell apart; yellow and sky blue are darkened on
// white, blue is lightened on black.
import { phaseNames } from "../data/results";

export interface Palette {
  dark: boolean;
  text: string;
  muted: string;
  line: string;
  surface: string;
  series: string[];
}

export const light: Palette = {
  dark: false,
  text: "#1b1f24",
  muted: "#57606a",
  line: "#d8dee4",
  surface: "#ffffff",
  series: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#3a9fd6", "#5b5b5b", "#7b4fa3"],
};

export const dark: Palette = {
  dark: true,
  text: "#e6edf3",
  muted: "#a3adb8",
  line: "#373e47",
  surface: "#1c2128",
  series: ["#4ea8de", "#f28e4b", "#2ec4a0", "#e39ac2", "#e6c229", "#9bd4f5", "#b8b8b8", "#b794e0"],
};

export function seriesColour(palette: Palette, index: number): string {
  return palette.series[index % palette.series.length] ?? palette.text;
}

export interface Look {
  color: string;
  type: "solid" | "dashed" | "dotted" | number[];
}

/**
 * How a backend or an engine looks in all pictures: by its place among the names of the page
 * (ResultFile.names). Where names are more than colours, the dash of a line tells them apart.
 */
export function lookOf(palette: Palette, names: string[], name: string): Look {
  const place = names.indexOf(name);
  if (place < 0) return { color: palette.muted, type: "solid" };
  const type = (["solid", "dashed", "dotted"] as const)[
    Math.floor(place / palette.series.length) % 3
  ]!;
  return { color: seriesColour(palette, place), type };
}

/** One colour a phase in all pictures; those that move data are warm, those that compute green. */
const phaseColours: Record<string, [string, string]> = {
  context: ["#5b5b5b", "#8f8f8f"],
  alloc: ["#7b4fa3", "#b794e0"],
  pin: ["#cc79a7", "#e39ac2"],
  h2d: ["#d55e00", "#f28e4b"],
  launch: ["#3a9fd6", "#9bd4f5"],
  compute: ["#009e73", "#2ec4a0"],
  sync: ["#0072b2", "#4ea8de"],
  d2h: ["#b8860b", "#e6c229"],
  free: ["#8c6d8a", "#c7a9c5"],
  unexplained: ["#c9ced4", "#545d68"],
};

export const ledgerParts = [...phaseNames, "unexplained"] as const;

export function phaseColour(palette: Palette, phase: string): string {
  return phaseColours[phase]?.[palette.dark ? 1 : 0] ?? palette.muted;
}
