// SPDX-License-Identifier: Apache-2.0
// Lines over an axis, one for each combination of `by` and each y, with intervals and marks.
import type { LineSeriesOption } from "echarts";
import { cellOf, headOf, readingOf, valueOf, type Entry, type Mark } from "../data/figures";
import {
  baseOption,
  categoryAxis,
  logLimits,
  plainLine,
  pointOf,
  tooltip,
  valueAxis,
  whiskers,
} from "./chart";
import { colourOfName, dashes, type Palette } from "./palette";
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

/** A y that is a list has an entry for each of its elements, whose places are x. */
export function unrolled(subject: Subject): Subject {
  const { figure, entries } = subject;
  const { x, y, interval } = figure;
  const listOf = (entry: Entry, key: string): unknown[] => {
    const value = valueOf(entry, key);
    return Array.isArray(value) ? value : [];
  };
  if (!entries.some((entry) => y.some((key) => listOf(entry, key).length > 0))) return subject;
  return {
    ...subject,
    entries: entries.flatMap((entry) =>
      Array.from(
        { length: Math.max(...y.map((key) => listOf(entry, key).length)) },
        (_each, index) => {
          const element = Object.create(entry) as Entry;
          element[x] = index + 1;
          for (const key of y) element[key] = listOf(entry, key)[index] ?? null;
          const ends = listOf(entry, interval)[index];
          if (Array.isArray(ends)) [element[`${interval}.low`], element[`${interval}.high`]] = ends;
          return element;
        },
      ),
    ),
  };
}

const placeOf = (entry: Entry, x: string): number => {
  const cell = cellOf(entry, x);
  return cell === null || cell === "" ? NaN : Number(cell);
};

export function lines(subject: Subject): Drawn | null {
  const { file, figure } = subject;
  const { x, y, log } = figure;
  const groupOf = namesBy(subject);
  const { drawn, left } = split(subject);
  if (drawn.length === 0 || y.length === 0) return null;
  const numeric = drawn.some((entry) => Number.isFinite(placeOf(entry, x)));
  const labels = [...new Set(drawn.map((entry) => nameOf(subject, entry)))];
  const at = (entry: Entry) =>
    numeric ? placeOf(entry, x) : labels.indexOf(nameOf(subject, entry));
  const inPlace = drawn.filter((entry) => Number.isFinite(at(entry)));
  const heads = y.map((key) => headOf(file, key));
  const groups = [...byName(inPlace, groupOf)].flatMap(([group, members]) =>
    y.map((key, index) => ({
      name: [group, ...(y.length > 1 || group === "" ? [heads[index]!.name] : [])]
        .filter((part) => part !== "")
        .join(", "),
      key,
      interval: index === 0 ? figure.interval : "",
      of: members
        .filter((entry) => readingOf(entry, key).value !== null)
        .sort((a, b) => at(a) - at(b)),
    })),
  );
  const filled = groups.filter(({ of }) => of.length > 0);
  if (filled.length === 0) return null;
  const { kept, left: tooMany } = roomFor(filled, ({ name }) => name, figure.only, 12);
  const xs = kept.flatMap(({ of }) => of.map(at));
  const ys = kept.flatMap(({ of, key, interval }) =>
    of.flatMap((entry) =>
      Object.values(readingOf(entry, key, interval)).flatMap((each) => each ?? []),
    ),
  );
  const logX = log.includes("x") && numeric && xs.every((each) => each > 0);
  const logY = log.includes("y") && ys.every((each) => each > 0);
  const [least, most] = [Math.min(...xs), Math.max(...xs)];
  const marks = numeric ? figure.marks.filter(({ at }) => at >= least && at <= most) : [];
  const powersOfTwo = xs.every((each) => Number.isInteger(Math.log2(each)));
  const head = headOf(file, x);
  const joined = numeric || log === "";
  // Several ys have a colour each, else the first of `by` has.
  const colourName = ({ key, of }: (typeof kept)[number]) =>
    y.length > 1 ? headOf(file, key).name : String(cellOf(of[0]!, figure.by[0] ?? "") ?? key);
  return {
    alternative: `${kept.length === 1 ? "A line" : `${kept.length} lines`} over ${head.name}${logX || logY ? ", on logarithmic axes" : ""}.`,
    notDrawn: [...left, ...tooMany],
    option: (palette, width) => {
      const colourOf = (group: (typeof kept)[number]) => colourOfName(palette, colourName(group));
      const [left, right] = [70, 28];
      const { min, max } = logX ? logLimits(xs) : { min: least, max: most };
      const far = (place: number) =>
        logX ? Math.log(place / min) / Math.log(max / min) : (place - min) / (max - min);
      /** By how many pixels such a text, begun at its place, is beyond an end of the chart. */
      const beyond = ({ at, text }: Mark) => {
        const from = left + far(at) * (width - left - right);
        return Math.min(from, Math.max(0, from + 7 * text.length - width));
      };
      return {
        ...baseOption(palette),
        tooltip: tooltip(palette, "axis"),
        legend: {
          ...baseOption(palette).legend,
          data: kept.map(({ name }) => name),
          show: kept.length > 1,
        },
        grid: {
          left,
          right,
          top: (kept.length > 1 ? 58 : 28) + heightOf(marks),
          bottom: 52,
        },
        xAxis: numeric
          ? valueAxis(palette, {
              name: head.name,
              show: head.show ?? String,
              ...(logX
                ? { log: true, base: powersOfTwo ? 2 : 10, min, max }
                : { min, max, whole: xs.every(Number.isInteger) }),
            })
          : categoryAxis(palette, labels, head.name),
        yAxis: {
          ...valueAxis(palette, {
            name: y.length > 1 ? "" : heads[0]!.name,
            show: heads[0]!.show ?? String,
            scale: Math.min(...ys) > 0.5 * Math.max(...ys),
            ...(logY ? { log: true, ...logLimits(ys) } : {}),
          }),
          // Above the axis, and read without turning one's head.
          nameLocation: "end",
          nameGap: 10 + heightOf(marks),
          nameTextStyle: {
            color: palette.muted,
            fontSize: 13,
            align: "left",
            padding: [0, 0, 0, 8 - left],
          },
        },
        series: kept.flatMap((group, index) => {
          const { name, key, of, interval } = group;
          const colour = colourOf(group);
          const alike = kept.slice(0, index).filter((each) => colourOf(each) === colour);
          const spans = of.flatMap((entry) => {
            const { low, high } = readingOf(entry, key, interval);
            return low === null || high === null
              ? []
              : [{ at: at(entry), low, high, colour: colour }];
          });
          return [
            ...(spans.length > 0 ? [whiskers(`${name}, interval`, spans, false)] : []),
            {
              name,
              type: "line" as const,
              ...pointOf(onDevice(of[0])),
              ...(of.length > 200 ? { symbolSize: 3 } : {}),
              itemStyle: { color: colour },
              lineStyle: {
                color: colour,
                type: dashes[alike.length % dashes.length]!,
                width: joined ? 2 : 0,
              },
              data: of.map((entry) => ({
                value: [at(entry), readingOf(entry, key).value],
                told: { ...tell(subject, entry), head: `${name}, ${nameOf(subject, entry)}` },
              })),
              ...(index === 0 && marks.length > 0 ? marksOf(palette, marks, beyond) : {}),
            },
          ];
        }),
      };
    },
  };
}

const markHeight = 14;
/** Below them is half of the axis' highest label. */
const belowMarks = 8;
const heightOf = (marks: Mark[]) => (marks.length > 0 ? belowMarks + markHeight * marks.length : 0);

/** Each label stands in a line of its own, so that they may be near each other. */
const marksOf = (
  palette: Palette,
  marks: Mark[],
  beyond: (mark: Mark) => number,
): Pick<LineSeriesOption, "markLine" | "markArea"> => ({
  markLine: {
    ...plainLine,
    lineStyle: { type: "dashed", color: palette.muted },
    data: marks.map((mark, index) => ({
      xAxis: mark.at,
      label: {
        formatter: mark.text,
        color: palette.muted,
        distance: belowMarks + markHeight * index,
        align: "left",
        padding: [0, 0, 0, -beyond(mark)],
      },
    })),
  },
  markArea: {
    silent: true,
    itemStyle: { color: palette.line, opacity: 0.5 },
    data: marks
      .filter(({ low, high }) => low < high)
      .map(({ low, high }) => [{ xAxis: low }, { xAxis: high }]),
  },
});
