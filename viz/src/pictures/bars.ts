// SPDX-License-Identifier: Apache-2.0
// Bars that lie, one for each entry and y, with intervals. On a logarithmic axis, where a bar would have no foot, dots.
import { headOf, readingOf, type Entry } from "../data/figures";
import { shown } from "../data/table";
import {
  heightOfRows,
  inRows,
  inTwoLines,
  logLimits,
  plainLine,
  pointOf,
  valueAxis,
  whiskers,
} from "./chart";
import type { Measured, Series } from "./option";
import { colourOfName, seriesColour, type Palette } from "./palette";
import {
  mostDrawn,
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
  const { kept, left: tooMany } = roomFor(
    sorted,
    name,
    figure.only,
    Math.ceil(mostDrawn / y.length),
  );
  const head = headOf(file, first);
  const rows = kept.flatMap((entry) =>
    y.flatMap((key) => {
      const { value, low, high } = readOf(entry, key);
      const told = tell(subject, entry);
      const group = y.length > 1 ? headOf(file, key).name : groupOf(entry) || head.name;
      return value === null && low === null ? [] : [{ entry, value, low, high, told, group }];
    }),
  );
  const groups = [...new Set(rows.map(({ group }) => group))];
  // A factor has no foot at 0 either; what it is a factor of stands at 1.
  const factors = head.show?.(1).endsWith("x") === true;
  const values = rows
    .flatMap(({ value, low, high }) => [value, low, high])
    .flatMap((each) => each ?? [])
    .concat(factors ? [1] : []);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const logarithmic = least > 0 && (log.includes("y") || (factors && most > 5 * least));
  const dotted = logarithmic || factors;
  const lineOf = ({ entry, value, low, high, group }: (typeof rows)[number]) => ({
    figure: value !== null ? shown(value, head) : `${shown(low, head)} to ${shown(high, head)}`,
    name: [
      name(entry),
      ...(groups.length > 1 && group !== name(entry) ? [group] : []),
      ...(value === null ? ["assumed"] : []),
    ].join(", "),
  });
  const seriesOf = (palette: Palette): Series[] =>
    groups.flatMap((group, index): Series[] => {
      const color =
        y.length === 1 && by.length > 0
          ? colourOfName(palette, group)
          : seriesColour(palette, index);
      const read = rows.flatMap((row, lane) => (row.group === group ? [{ ...row, lane }] : []));
      const spans = read.flatMap(({ value, low, high, lane }) =>
        low === null || high === null
          ? []
          : [{ at: lane, low, high, colour: value === null ? color : palette.muted }],
      );
      const points = read.flatMap(({ value, lane, told }) =>
        value === null ? [] : [{ value: [value, lane], told }],
      );
      // A span alone has both its ends as points, hollow: it is assumed.
      const hollow = { color: palette.surface, borderColor: color, borderWidth: 2, opacity: 1 };
      const ends = read.flatMap(({ value, low, high, lane, told }) =>
        value !== null || low === null || high === null
          ? []
          : [low, high].map((end) => ({ value: [end, lane], told, itemStyle: hollow })),
      );
      const shared = { name: group, itemStyle: { color } };
      const scatter = (data: Measured["data"]): Measured => ({
        ...shared,
        type: "scatter",
        ...pointOf(onDevice(read[0]?.entry)),
        symbolSize: 12,
        z: 3,
        data,
      });
      const bar = (data: Measured["data"]): Measured => ({
        ...shared,
        type: "bar",
        barGap: "-100%",
        barMaxWidth: 14,
        data,
      });
      return [
        ...(spans.length > 0 ? [whiskers(`${group}, interval`, spans, true)] : []),
        ...(ends.length > 0 ? [scatter(ends)] : []),
        ...(points.length > 0 ? [dotted ? scatter(points) : bar(points)] : []),
      ];
    });
  return {
    alternative: `${logarithmic ? "Dots on a logarithmic axis" : dotted ? "Dots" : "Lying bars"}, one line for each of ${rows.length}.`,
    height: (width) => heightOfRows(rows.length, width),
    notDrawn: [...left, ...tooMany],
    option: (palette, width) => {
      const series = seriesOf(palette);
      const [one] = series.filter(({ tooltip }) => tooltip?.show !== false);
      if (factors && one !== undefined && one.type !== "custom")
        one.markLine = {
          ...plainLine,
          z: 0, // below the names
          label: { show: false },
          lineStyle: { type: "dashed", color: palette.muted },
          data: [{ xAxis: 1 }],
        };
      return {
        ...inRows(palette, width, rows.map(lineOf)),
        xAxis: valueAxis(palette, {
          name:
            y.length > 1
              ? ""
              : `${head.name}${factors && !inTwoLines(width) ? ", dashed: as fast" : ""}`,
          ...(head.show ? { show: head.show } : {}),
          scale: dotted,
          ...(logarithmic ? { log: true, ...logLimits(values) } : {}),
        }),
        series,
      };
    },
  };
}
