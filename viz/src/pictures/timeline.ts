// SPDX-License-Identifier: Apache-2.0
// A run on one time axis: what the host did, moment by moment, and beside it the engines of the device.
import { list, num, text } from "../data/json";
import { valueOf, type Entry } from "../data/figures";
import { seconds } from "../data/units";
import {
  baseOption,
  heightOfRows,
  inRows,
  type ItemPlace,
  legendHeight,
  margins,
  stretchOfRow,
  stretchSeries,
  stretchValues,
  tooltip,
  valueAxis,
} from "./chart";
import { partColours } from "./palette";
import { nameOf, type Drawn, type Subject } from "./picture";

interface Stretch {
  lane: string;
  phase: string;
  begin: number;
  end: number;
}

export function timeline(subject: Subject): Drawn | null {
  const { figure, entries } = subject;
  const stretchesOf = (entry: Entry): Stretch[] =>
    list({ all: valueOf(entry, figure.y[0] ?? "") }, "all").flatMap((each) => {
      const [begin, end] = [num(each, "begin"), num(each, "end")];
      if (begin === null || end === null || begin < 0 || end < begin) return [];
      return [{ lane: text(each, "lane"), phase: text(each, "phase"), begin, end }];
    });
  // Those with most engines of a device first.
  const runs = entries
    .map((entry) => ({ name: nameOf(subject, entry), stretches: stretchesOf(entry) }))
    .map((run) => ({ ...run, lanes: [...new Set(run.stretches.map(({ lane }) => lane))] }))
    // One lane alone shows no more than the parts of the run.
    .filter(({ lanes }) => lanes.length > 1)
    .sort((a, b) => b.lanes.length - a.lanes.length);
  if (runs.length === 0) return null;
  return {
    alternative:
      "Lanes of coloured stretches on an axis of seconds: the host's, and those of a device's engines.",
    height: (width) =>
      legendHeight + heightOfRows(Math.max(...runs.map(({ lanes }) => lanes.length)), width),
    notDrawn: [],
    views: runs.map(({ name }) => name),
    option: (palette, width, view) => {
      const { name, lanes, stretches } = runs[view]!;
      const phases = [...new Set(stretches.map(({ phase }) => phase))];
      const colours = partColours(palette, phases);
      return {
        ...inRows(
          palette,
          width,
          lanes.map((lane) => ({ name: lane })),
        ),
        legend: baseOption(palette).legend,
        grid: { ...margins, top: legendHeight },
        tooltip: tooltip(palette, "item"),
        xAxis: valueAxis(palette, { name: "time since the run began", show: seconds, min: 0 }),
        series: phases.map((phase, index) => ({
          ...stretchSeries,
          tooltip: {},
          name: phase,
          clip: true,
          itemStyle: { color: colours[index]! },
          data: stretches
            .filter((each) => each.phase === phase)
            .map(({ lane, begin, end }) => ({
              name: lane,
              value: stretchValues(lanes.indexOf(lane), begin, end),
              told: {
                head: `${name}, ${lane}, ${phase}`,
                lines: [
                  ["from", seconds(begin)],
                  ["to", seconds(end)],
                ],
              },
            })),
          renderItem: (_params, place) =>
            stretchOfRow(place as ItemPlace, { fill: place.visual("color") }),
        })),
      };
    },
  };
}
