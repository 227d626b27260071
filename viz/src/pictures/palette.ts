// SPDX-License-Identifier: Apache-2.0
// Colours. All of a list, with the colours of text and of guides, are told apart by people who lack one kind of
// cones (tests/unit/colours.test.ts): CIEDE2000 of 15 and more, which a search by computer found, starting from those of
// Okabe and Ito (Color Universal Design, 2008).

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

/** Of all pictures of a page, in the order in which they are first drawn: a name has one colour in all of them. */
const names: string[] = [];

export function colourOfName(palette: Palette, name: string): string {
  if (!names.includes(name)) names.push(name);
  return seriesColour(palette, names.indexOf(name));
}

function luminance(hex: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** That of text on such a ground which is read more easily (WCAG 2.2, contrast ratio). */
export function inkOn(palette: Palette, ground: string): string {
  const contrast = (ink: string) => {
    const [a, b] = [luminance(ink) + 0.05, luminance(ground) + 0.05];
    return Math.max(a / b, b / a);
  };
  const { text, surface } = palette;
  return contrast(text) > contrast(surface) ? text : surface;
}

/** They tell lines of one colour apart. */
export const dashes: ("solid" | "dashed" | "dotted" | number[])[] = [
  "solid",
  "dashed",
  "dotted",
  [8, 3, 2, 3],
];

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

/** Host memory is copied, too, but over no bus. */
const onHost: Record<string, string> = { h2d: "copy in", d2h: "copy out" };
export const phaseName = (phase: string, onDevice: boolean): string =>
  onDevice ? phase : (onHost[phase] ?? phase);

/** Of all these parts; those of which one is no phase have colours by their places. */
export const partColours = (palette: Palette, parts: string[]): string[] =>
  parts.map((part, index) =>
    parts.every((each) => Object.hasOwn(phaseColours, each))
      ? phaseColours[part]![palette.dark ? 1 : 0]
      : seriesColour(palette, index),
  );
