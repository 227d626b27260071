// SPDX-License-Identifier: Apache-2.0
// A point carries what there is to tell of it, and the formatter writes that of all points under the pointer.
import { format } from "echarts/core";

export interface Told {
  head: string;
  lines: [label: string, value: string][];
}

/** A point as ECharts hands it to a formatter. */
interface Under {
  data: unknown;
  color?: unknown;
}

const isTold = (data: unknown): data is { told: Told } =>
  typeof data === "object" && data !== null && "told" in data;

/** HTML of all points under the pointer; what is true of each of them stands above them once. */
export function written(under: Under | Under[]): string {
  const points = [under]
    .flat()
    .flatMap(({ data, color }) => (isTold(data) ? { ...data.told, color } : []));
  const text = (line: string) => format.encodeHTML(line);
  const same = (one: Told, other: Told) =>
    one.head === other.head && String(one.lines) === String(other.lines);
  // The parts of a stacked bar tell the same row.
  const rows = points.filter(
    (point, index) => points.findIndex((each) => same(each, point)) === index,
  );
  const [first] = rows;
  if (first === undefined) return "";
  const cellsOf = (cells: string[]) =>
    `<tr>${cells.map((cell) => `<td style="padding:1px 0.8em 1px 0;border:0;vertical-align:top">${cell}</td>`).join("")}</tr>`;
  const table = (lines: string[][]) => `<table>${lines.map(cellsOf).join("")}</table>`;
  if (rows.length === 1)
    return `<b>${text(first.head)}</b>${table(first.lines.map((line) => line.map(text)))}`;
  const shared = first.lines.filter((line) =>
    rows.every(({ lines }) => lines.some((each) => String(each) === String(line))),
  );
  const own = ({ lines }: Told) =>
    lines.filter((line) => !shared.some((each) => String(each) === String(line)));
  const dot = (color: unknown) =>
    typeof color === "string" ? `<span style="color:${text(color)}">●</span> ` : "";
  return (
    table(shared.map((line) => line.map(text))) +
    table(
      rows.map((row) => [
        `${dot(row.color)}<b>${text(row.head)}</b>`,
        own(row)
          .map((line) => line.map(text).join(" "))
          .join(", "),
      ]),
    )
  );
}
