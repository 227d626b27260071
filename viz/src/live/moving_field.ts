// SPDX-License-Identifier: Apache-2.0
// The field while it is solved: the picture that follows it.
import { figure } from "../data/units";
import { el } from "../page/dom";
import { colourBar, type Frame, paint } from "../page/field_picture";
import type { Setting } from "./setting";

/** Points of the picture in a direction; of larger grids it shows every second cell, every third, ... */
const mostPoints = 640;

/** The smallest and the largest value; NaN where there is one. */
function rangeOf(field: Float32Array): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of field) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

/** Its elements, and what puts a field into them. */
export function movingField(setting: Setting) {
  const apart = Math.ceil(Math.max(setting.nx, setting.ny) / mostPoints);
  const frame: Frame = {
    width: Math.ceil(setting.nx / apart),
    height: Math.ceil(setting.ny / apart),
    low: 0,
    high: setting.start === "block" ? 0.005 : 1,
  };
  const canvas = el("canvas", { role: "img" });
  canvas.style.aspectRatio = `${frame.width} / ${frame.height}`;
  const values = new Float32Array(frame.width * frame.height);
  const caption = el("p", { class: "read-out" });
  const show = (field: Float32Array, step: number, way: string) => {
    for (let y = 0, point = 0; y < frame.height; ++y)
      for (let x = 0; x < frame.width; ++x, ++point)
        values[point] = field[y * apart * setting.nx + x * apart]!;
    paint(canvas, frame, values);
    const [low, high] = rangeOf(values);
    caption.textContent = `${way}: step ${step} of ${setting.steps}, cells${apart > 1 ? " shown" : ""} from ${figure(low)} to ${figure(high)}`;
    canvas.setAttribute("aria-label", `The field, ${caption.textContent}`);
  };
  return { elements: [canvas, colourBar(frame), caption], show };
}
