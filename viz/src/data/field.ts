// SPDX-License-Identifier: Apache-2.0
// Snapshots of the field, as `diffbench report --snapshots` puts them into the page.
import { list, num, positive, text, type Json } from "./json";

export interface Film {
  directory: string;
  nx: number;
  ny: number;
  /** Cells of the field in a direction that one of the picture stands for. */
  block: number;
  width: number;
  height: number;
  low: number;
  high: number;
  steps: number[];
  /** Values of a frame, row by row; NaN for what is not finite. */
  frame: (index: number) => Float64Array;
}

const notFinite = 0xffff;

export function readFilm(json: Json): Film | null {
  const size = ["nx", "ny", "block", "width", "height"].map((name) => positive(json, name));
  const [nx, ny, block, width, height] = size;
  const [low, high] = [num(json, "low"), num(json, "high")];
  const frames = list(json, "frames").map((frame) => ({
    step: num(frame, "step") ?? 0,
    cells: text(frame, "cells"),
  }));
  if (
    !nx ||
    !ny ||
    !block ||
    !width ||
    !height ||
    low === null ||
    high === null ||
    frames.length === 0
  )
    return null;
  return {
    directory: text(json, "directory"),
    nx,
    ny,
    block,
    width,
    height,
    low,
    high,
    steps: frames.map((frame) => frame.step),
    frame: (index) => {
      const bytes = atob(frames[index]?.cells ?? "");
      return Float64Array.from({ length: width * height }, (_each, cell) => {
        const level = bytes.charCodeAt(2 * cell) | (bytes.charCodeAt(2 * cell + 1) << 8);
        return level === notFinite ? NaN : low + ((high - low) * level) / (notFinite - 1);
      });
    },
  };
}

/** Viridis (van der Walt and Smith, 2015) at nine places: even steps of lightness, whatever the eye. */
const viridis = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
] as const;

/** Colour of a value between 0 and 1; grey for what is not finite. */
export function colourOf(fraction: number): [number, number, number] {
  if (!Number.isFinite(fraction)) return [128, 128, 128];
  const place = Math.min(1, Math.max(0, fraction)) * (viridis.length - 1);
  const index = Math.min(Math.floor(place), viridis.length - 2);
  const [a, b] = [viridis[index]!, viridis[index + 1]!];
  const mix = (channel: 0 | 1 | 2) =>
    Math.round(a[channel] + (place - index) * (b[channel] - a[channel]));
  return [mix(0), mix(1), mix(2)];
}
