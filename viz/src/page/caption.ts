// SPDX-License-Identifier: Apache-2.0
// A saved picture says what it is, of which machine and when.
import { text } from "../data/json";
import { machineOf, type ResultFile } from "../data/results";
import { shortened } from "../data/units";
import type { Palette } from "../pictures/palette";
import { el } from "./dom";

/** Title, machine, file and date. */
export const captionOf = (title: string, file: ResultFile): string[] => [
  title,
  machineOf(file, shortened),
  [shortened(file.name), text(file.context, "date")].filter((part) => part !== "").join(" · "),
];

/** As PNG, below the lines of the caption, the first one bold: what is saved is read without its page. */
export function captioned(
  chart: HTMLCanvasElement,
  caption: string[],
  colours: Palette,
): Promise<Blob> {
  const [lineHeight, margin] = [40, 16];
  const canvas = el("canvas", {
    width: String(chart.width),
    height: String(chart.height + margin + lineHeight * caption.length),
  });
  const context = canvas.getContext("2d")!;
  context.fillStyle = colours.surface;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = colours.text;
  caption.forEach((line, index) => {
    context.font = `${index === 0 ? "bold 30" : "26"}px system-ui, sans-serif`;
    context.fillText(line, margin, lineHeight * (index + 1), canvas.width - 2 * margin);
  });
  context.drawImage(chart, 0, canvas.height - chart.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((png) => (png === null ? reject(new Error("no PNG")) : resolve(png))),
  );
}
