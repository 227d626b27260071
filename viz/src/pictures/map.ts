// SPDX-License-Identifier: Apache-2.0
// A grid of cells, as lines of "#" where something is to be seen and "." elsewhere: the first entry that has one.
import { at } from "../data/json";
import { valueOf } from "../data/figures";
import { baseOption, tooltip, valueAxis } from "./chart";
import { seriesColour } from "./palette";
import { tell, type Drawn, type Subject } from "./picture";

/** Larger grids are in the table only. */
const mostCells = 64;

export function map(subject: Subject): Drawn | null {
  const [key = ""] = subject.figure.y;
  const entry = subject.entries.find((each) => typeof valueOf(each, key) === "string");
  if (entry === undefined) return null;
  const lines = String(at(entry, key)).trim().split("\n");
  const columns = Math.max(...lines.map(({ length }) => length));
  if (lines.length > mostCells || columns > mostCells) return null;
  const size = (width: number) => Math.min(26, Math.floor((width - 40) / columns));
  const cells = lines.flatMap((line, y) => [...line].map((mark, x) => ({ x, y, mark })));
  const marked = cells.filter(({ mark }) => mark === "#").length;
  return {
    alternative: `A grid of ${columns}x${lines.length} cells, ${marked} of them marked.`,
    height: (width) => lines.length * size(width) + 20,
    notDrawn: [],
    option: (palette, width) => {
      const side = size(width);
      const told = tell({ ...subject, figure: { ...subject.figure, y: [] } }, entry);
      const axis = (count: number) => ({
        ...valueAxis(palette, { name: "", min: -0.5, max: count - 0.5 }),
        show: false,
      });
      return {
        ...baseOption(palette),
        legend: { show: false },
        tooltip: tooltip(palette, "item"),
        grid: { left: 8, top: 8, width: columns * side, height: lines.length * side },
        xAxis: axis(columns),
        yAxis: { ...axis(lines.length), inverse: true },
        series: [
          {
            name: told.head,
            type: "scatter",
            symbol: "rect",
            symbolSize: side - 2,
            data: cells.map(({ x, y, mark }) => ({
              value: [x, y],
              itemStyle: { color: mark === "#" ? seriesColour(palette, 1) : palette.line },
              told,
            })),
          },
        ],
      };
    },
  };
}
