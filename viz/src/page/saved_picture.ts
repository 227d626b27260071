// SPDX-License-Identifier: Apache-2.0
// A saved picture is as wide as a slide, whatever screen it was saved from, and says what it is, of which machine and
// when.
import { format } from "echarts/core";
import { text } from "../data/json";
import { machineOf, type ResultFile } from "../data/results";
import { shortened } from "../data/units";
import { belowLegend } from "../pictures/chart";
import type { ChartOption } from "../pictures/option";
import type { Palette } from "../pictures/palette";
import { el } from "./dom";
import { init } from "./echarts";

const width = 960;
const lineHeight = 22;

/** Title, machine, file and date. */
export const captionOf = (title: string, file: ResultFile): string[] => [
  title,
  machineOf(file, shortened),
  [shortened(file.name), text(file.context, "date")].filter((part) => part !== "").join(" · "),
];

/** Below the lines of the caption, the first one bold: what is saved is read without its page. */
export function svgOf(
  make: (width: number) => ChartOption,
  usual: (width: number) => number,
  caption: string[],
  colours: Palette,
): string {
  const { option, extra } = belowLegend(make(width), width);
  const [top, height] = [lineHeight * caption.length + 16, usual(width) + extra];
  const chart = init(null, null, { renderer: "svg", ssr: true, width, height });
  chart.setOption(option);
  const drawn = chart.renderToSVGString().replace("<svg ", `<svg y="${top}" `);
  chart.dispose();
  const lines = caption.map(
    (line, index) =>
      `<text x="14" y="${lineHeight * (index + 1)}"${index === 0 ? ' font-weight="bold"' : ""}>${format.encodeHTML(line)}</text>`,
  );
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top + height}" font-family="system-ui, sans-serif" font-size="15" fill="${colours.text}">` +
    `<rect width="100%" height="100%" fill="${colours.surface}"/>${lines.join("")}${drawn}</svg>`
  );
}

/** Twice as fine as a screen. */
export async function pngOf(svg: string): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const image = el("img", { src: url });
  await image.decode();
  const canvas = el("canvas", {
    width: String(2 * image.naturalWidth),
    height: String(2 * image.naturalHeight),
  });
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return new Promise((resolve, reject) =>
    canvas.toBlob((png) => (png === null ? reject(new Error("no PNG")) : resolve(png))),
  );
}
