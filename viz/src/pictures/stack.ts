// SPDX-License-Identifier: Apache-2.0
// Bars of parts. Of times there are two panels of the same rows: how long each is as a whole, on a logarithmic axis,
// since a good port is hundreds of times as fast as a bad one; and what it consists of.
import { headOf, readingOf, type Entry } from "../data/figures";
import { percent, seconds } from "../data/units";
import { baseOption, categoryAxis, logLimits, stackedBars, tooltip, valueAxis } from "./chart";
import type { ChartOption } from "./option";
import { partColours, type Palette } from "./palette";
import { nameOf, roomFor, type Drawn, type Subject } from "./picture";
import type { Told } from "./tooltip";

interface Part {
  key: string;
  name: string;
}

/** The ys, or the members of a y that is an object: those that add up to its wall time. */
function partsOf({ file, figure, entries }: Subject): Part[] {
  return figure.y.flatMap((key) => {
    const members = new Set(
      entries.flatMap((entry) =>
        Object.keys(entry).filter(
          (each) => each.startsWith(`${key}.`) && !each.slice(key.length + 1).includes("."),
        ),
      ),
    );
    return members.size === 0
      ? [{ key, name: headOf(file, key).name }]
      : [...members]
          .map((each) => ({ key: each, name: each.slice(key.length + 1) }))
          .filter(({ name }) => name !== "wall");
  });
}

const [rowHeight, top, bottom] = [54, 32, 46];

export function stack(subject: Subject): Drawn | null {
  const { figure, entries } = subject;
  const lengthOf = (entry: Entry, { key }: Part) => Math.max(0, readingOf(entry, key).value ?? 0);
  const all = partsOf(subject).filter((part) => entries.some((entry) => lengthOf(entry, part) > 0));
  const whole = (entry: Entry) =>
    readingOf(entry, `${figure.y[0]}.wall`).value ??
    all.reduce((sum, part) => sum + lengthOf(entry, part), 0);
  const some = entries.filter((entry) => whole(entry) > 0);
  if (some.length === 0) return null;
  const name = (entry: Entry) => nameOf(subject, entry);
  const sorted = [...some].sort((a, b) => whole(a) - whole(b));
  const { kept, left } = roomFor(sorted, name, figure.only, 8);
  const tell = (entry: Entry): Told => ({
    head: name(entry),
    lines: [
      ["wall", seconds(whole(entry))],
      ...all
        .filter((part) => lengthOf(entry, part) > 0)
        .map(({ key, name }): [string, string] => [name, seconds(readingOf(entry, key).value!)]),
    ],
  });
  const told = all.filter((part) => kept.some((entry) => lengthOf(entry, part) > 0));
  const stacked = (palette: Palette) => {
    const colours = partColours(
      palette,
      told.map((part) => part.name),
    );
    return stackedBars(
      palette,
      told.map((part, index) => ({
        name: part.name,
        colour: colours[index]!,
        points: kept.map((entry) => ({
          value: lengthOf(entry, part) / whole(entry),
          told: tell(entry),
        })),
      })),
      18,
    );
  };
  const panels = (palette: Palette, narrow: boolean): ChartOption => {
    const limits = logLimits(kept.map(whole));
    const axis = categoryAxis(palette, kept.map(name), { inverse: true });
    const lowered = { ...axis, axisLine: { show: false } };
    const parts = stacked(palette);
    return {
      ...baseOption(palette),
      tooltip: { ...tooltip(palette, "axis"), axisPointer: { type: "shadow" } },
      legend: { ...baseOption(palette).legend, data: parts.map((part) => part.name) },
      grid: [
        { left: 18, width: narrow ? "38%" : "37%", top, bottom },
        { left: narrow ? "48%" : "44%", right: 24, top, bottom },
      ],
      xAxis: [
        {
          ...valueAxis(palette, {
            name: narrow ? "wall time (log)" : "wall time, logarithmic",
            show: seconds,
            log: true,
            ...limits,
          }),
          startValue: limits.min, // of the bars
          gridIndex: 0,
        },
        {
          ...valueAxis(palette, {
            name: narrow ? "share" : "share of the wall time",
            show: percent,
            min: 0,
            max: 1,
          }),
          gridIndex: 1,
        },
      ],
      yAxis: [
        {
          ...lowered,
          gridIndex: 0,
          // The name of a row stands above its bars.
          axisLabel: {
            ...axis.axisLabel,
            inside: true,
            align: "left",
            verticalAlign: "bottom",
            padding: [0, 0, 12, 0],
            formatter: (_name: string, index: number) =>
              `{length|${seconds(whole(kept[index]!))}}  ${name(kept[index]!)}`,
            rich: { length: { fontWeight: "bold", fontSize: 14, color: palette.text } },
          },
          z: 10,
        },
        { ...lowered, gridIndex: 1, axisLabel: { show: false } },
      ],
      series: [
        {
          name: "wall",
          type: "bar",
          barMaxWidth: 18,
          barMinHeight: 2,
          xAxisIndex: 0,
          yAxisIndex: 0,
          itemStyle: { color: palette.muted },
          data: kept.map((entry) => ({ value: whole(entry), told: tell(entry) })),
        },
        ...parts.map((part) => ({ ...part, xAxisIndex: 1, yAxisIndex: 1 })),
      ],
    };
  };
  return {
    alternative: `Lying bars of the whole on a logarithmic axis, and beside them of parts, one for each of ${kept.length}.`,
    height: top + bottom + rowHeight * kept.length,
    notDrawn: [
      ...entries
        .filter((entry) => !(whole(entry) > 0))
        .map((entry): [string, string] => [name(entry), "the file has no parts of it"]),
      ...left,
    ],
    option: panels,
  };
}
