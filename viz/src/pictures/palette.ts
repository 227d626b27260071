// SPDX-License-Identifier: Apache-2.0
// Colours. All of a list, with the colours of text and of guides, are told apart by people who lack one kind of
// cones (tests/unit/colours.test.ts): CIEDE2000 of 15 and more, which a search by computer found, starting from those of
// Okabe and Ito (Color Universal Design, 2008).
import { phaseNames } from "../data/results";
import type { Kind } from "./choice";

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
  series: ["#003c5e", "#974300", "#0b7b54", "#ed8a85", "#a38112", "#2e9fda", "#8f939d", "#804fa7"],
};

export const dark: Palette = {
  dark: true,
  text: "#e6edf3",
  muted: "#a4adb3",
  line: "#373e47",
  surface: "#1c2128",
  series: ["#6737f1", "#8c4600", "#67a544", "#e3357e", "#ffef00", "#99dda5", "#695652", "#dea0f4"],
};

export function seriesColour(palette: Palette, index: number): string {
  return palette.series[index % palette.series.length] ?? palette.text;
}

export interface Look {
  color: string;
  type: "solid" | "dashed" | "dotted" | number[];
}

/** A row of a comparison of CPU and GPU: its name stands beside it, and its colour says what it is. */
export const kindColour = (palette: Palette, kind: Kind): string =>
  seriesColour(palette, { CPU: 0, "naive port": 1, GPU: 2 }[kind]);

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
  context: ["#4a366b", "#a59c84"],
  alloc: ["#9a78a0", "#a078ff"],
  pin: ["#d3d2ff", "#ffcfbb"],
  h2d: ["#d45f09", "#ac4500"],
  launch: ["#10a6ff", "#6ed0ff"],
  compute: ["#15926a", "#4fae26"],
  sync: ["#0d5cd8", "#145dc8"],
  d2h: ["#f0b409", "#fdf815"],
  free: ["#6f463e", "#8b587b"],
  unexplained: ["#e4d8d4", "#313840"],
};

export const ledgerParts = [...phaseNames, "unexplained"] as const;

export function phaseColour(palette: Palette, phase: string): string {
  return phaseColours[phase]?.[palette.dark ? 1 : 0] ?? palette.muted;
}

/** Hollow and dashed: predicted, or assumed. */
export const hollow = (colour: string, palette: Palette) => ({
  color: `${colour}${palette.dark ? "55" : "33"}`,
  borderColor: colour,
  borderWidth: 1.5,
  borderType: "dashed" as const,
});
