// SPDX-License-Identifier: Apache-2.0
// Bars that lie, one for each entry, with intervals. On a logarithmic axis, where a bar would have no foot, dots.
import { headOf, readingOf, type Entry } from "../data/figures";
import { shown } from "../data/table";
import { heightOfBars, inRows, logLimits, plainLine, pointOf, valueAxis, whiskers } from "./chart";
import type { Measured, Series } from "./option";
import { colourOfName, seriesColour, type Palette } from "./palette";
import {
  byName,
  nameOf,
  namesBy,
  onDevice,
  roomFor,
  split,
  tell,
  type Drawn,
  type Subject,
} from "./picture";

export function bars(subject: Subject): Drawn | null {
  const { file, figure } = subject;
  const { y, by, log } = figure;
  const readOf = (entry: Entry, key: string) =>
    readingOf(entry, key, key === y[0] ? figure.interval : "");
  const { drawn: some, left } = split(subject);
  const [first] = y;
  if (first === undefined || some.length === 0) return null;
  const lengthOf = (entry: Entry) =>
    readOf(entry, first).value ?? readOf(entry, first).low ?? Infinity;
  const sorted = y.length > 1 ? some : [...some].sort((a, b) => lengthOf(a) - lengthOf(b));
  const name = (entry: Entry) => nameOf(subject, entry);
  const groupOf = namesBy(subject);
  const { kept, left: tooMany } = roomFor(sorted, name, figure.only);
  const heads = y.map((key) => headOf(file, key));
  // A factor has no foot at 0 either.
  const factors = heads[0]!.show?.(1).endsWith("x") === true;
  const values = kept.flatMap((entry) =>
    y.flatMap((key) => Object.values(readOf(entry, key)).filter((each) => each !== null)),
  );
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const logarithmic = least > 0 && (log.includes("y") || (factors && most > 5 * least));
  const dotted = logarithmic || factors;
  // One y has the colours of `by`, several have one each.
  const groups =
    y.length > 1
      ? y.map((key, index) => ({ key, name: heads[index]!.name, of: kept }))
      : [...byName(kept, groupOf)].map(([group, of]) => ({
          key: first,
          name: group || heads[0]!.name,
          of,
        }));
  const colourOf = (palette: Palette, group: (typeof groups)[number]) =>
    y.length > 1
      ? seriesColour(palette, groups.indexOf(group))
      : by.length > 0
        ? colourOfName(palette, group.name)
        : seriesColour(palette, 0);
  const seriesOf = (palette: Palette): Series[] =>
    groups.flatMap((group): Series[] => {
      const color = colourOf(palette, group);
      const read = group.of.map((entry) => ({
        ...readOf(entry, group.key),
        lane: kept.indexOf(entry),
        told: tell(subject, entry),
      }));
      const spans = read.flatMap(({ value, low, high, lane }) =>
        low === null || high === null || (y.length > 1 && value !== null && !dotted)
          ? []
          : [{ at: lane, low, high, colour: value === null ? color : palette.muted }],
      );
      const points = read.flatMap(({ value, lane, told }) =>
        value === null ? [] : [{ value: [value, lane], told }],
      );
      // A span alone has both its ends as points, hollow: it is assumed.
      const hollow = { color: palette.surface, borderColor: color, borderWidth: 2 };
      const ends = read.flatMap(({ value, low, high, lane, told }) =>
        value !== null || low === null || high === null
          ? []
          : [low, high].map((end) => ({ value: [end, lane], told, itemStyle: hollow })),
      );
      const shared = { name: group.name, itemStyle: { color } };
      const scatter = (data: Measured["data"]): Measured => ({
        ...shared,
        type: "scatter",
        ...pointOf(onDevice(group.of[0])),
        symbolSize: 12,
        z: 3,
        data,
      });
      const bar = (data: Measured["data"]): Measured => ({
        ...shared,
        type: "bar",
        ...(y.length > 1 ? {} : { barGap: "-100%" }),
        barMaxWidth: 18,
        data,
      });
      return [
        ...(spans.length > 0 ? [whiskers(`${group.name}, interval`, spans, true)] : []),
        ...(ends.length > 0 ? [scatter(ends)] : []),
        ...(points.length > 0 ? [dotted ? scatter(points) : bar(points)] : []),
      ];
    });
  const figures = kept.map((entry) => {
    const { value, low, high } = readOf(entry, first);
    return value !== null
      ? shown(value, heads[0]!)
      : `${shown(low, heads[0]!)} to ${shown(high, heads[0]!)}`;
  });
  return {
    alternative: `${logarithmic ? "Dots on a logarithmic axis" : dotted ? "Dots" : "Lying bars"}, one line for each of ${kept.length}.`,
    height: heightOfBars(kept.length, y.length > 1 && !dotted ? 16 * y.length : 26),
    notDrawn: [...left, ...tooMany],
    option: (palette, narrow) => {
      const rows = inRows(palette, narrow, {
        names: kept.map(name),
        ...(y.length > 1 ? {} : { figures, figuresWidth: 120 }),
      });
      const series = seriesOf(palette);
      const [one] = series.filter(({ tooltip }) => tooltip?.show !== false);
      if (factors && one !== undefined && one.type !== "custom")
        one.markLine = {
          ...plainLine,
          label: { show: false },
          lineStyle: { type: "dashed", color: palette.muted },
          data: [{ xAxis: 1 }],
        };
      return {
        ...rows,
        legend: {
          ...rows.legend,
          data: groups.map((group) => group.name),
          show: groups.length > 1,
        },
        grid: { ...rows.grid, top: groups.length > 1 ? 40 : 12 },
        xAxis: valueAxis(palette, {
          name: y.length > 1 ? "" : heads[0]!.name,
          ...(heads[0]!.show ? { show: heads[0]!.show } : {}),
          scale: dotted,
          ...(logarithmic ? { log: true, ...logLimits(values) } : {}),
        }),
        series,
      };
    },
  };
}
