// SPDX-License-Identifier: Apache-2.0
// A field as a picture: each value in its colour, and the bar that says which colour is which.
import { colourOf } from "../data/field";
import { figure } from "../data/units";
import { el } from "./dom";

/** Size in points, and the values of the first and the last colour. */
export interface Frame {
  width: number;
  height: number;
  low: number;
  high: number;
}

const shades = 1024;
const bytesOf = (fraction: number) => [...colourOf(fraction), 255];
/** Looked up, since a field that moves has no time for the arithmetic of colours. */
const palette = Uint8ClampedArray.from(
  Array.from({ length: shades }, (_each, shade) => bytesOf(shade / (shades - 1))).flat(),
);
const notFinite = bytesOf(NaN);

export function paint(canvas: HTMLCanvasElement, frame: Frame, values: ArrayLike<number>): void {
  const { width, height, low, high } = frame;
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  if (context === null) return;
  const image = context.createImageData(width, height);
  const scale = (shades - 1) / (high > low ? high - low : 1);
  for (let cell = 0; cell < width * height; ++cell) {
    const shade = Math.min(shades - 1, Math.max(0, Math.round((values[cell]! - low) * scale)));
    if (Number.isFinite(shade))
      for (let byte = 0; byte < 4; ++byte) image.data[4 * cell + byte] = palette[4 * shade + byte]!;
    else image.data.set(notFinite, 4 * cell);
  }
  context.putImageData(image, 0, 0);
}

export function colourBar({ low, high }: Frame): HTMLElement {
  const stops = Array.from(
    { length: 9 },
    (_each, index) => `rgb(${colourOf(index / 8).join(",")}) ${(100 * index) / 8}%`,
  );
  const bar = el("div", {
    class: "colour-bar",
    role: "img",
    "aria-label": `Colours from ${figure(low)} to ${figure(high)}`,
  });
  bar.style.background = `linear-gradient(to right, ${stops.join(",")})`;
  return el(
    "div",
    { class: "colours" },
    el("span", {}, figure(low)),
    bar,
    el("span", {}, figure(high)),
  );
}
