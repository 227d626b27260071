// SPDX-License-Identifier: Apache-2.0
// A run on one time axis: what the host did, moment by moment, and beside it the engines of the device.
import { list, num, text } from "../data/json";
import { valueOf, type Entry } from "../data/figures";
import { seconds } from "../data/units";
import {
  heightOfBars,
  inRows,
  type ItemPlace,
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
  // Those with engines of a device first.
  const runs = entries
    .map((entry) => ({ name: nameOf(subject, entry), stretches: stretchesOf(entry) }))
    .map((run) => ({ ...run, lanes: [...new Set(run.stretches.map(({ lane }) => lane))] }))
    .filter(({ stretches }) => stretches.length > 0)
    .sort((a, b) => b.lanes.length - a.lanes.length);
  if (runs.length === 0) return null;
  return {
    alternative:
      "Lanes of coloured stretches on an axis of seconds: the host's, and those of a device's engines.",
    height: heightOfBars(Math.max(...runs.map(({ lanes }) => lanes.length)), 30),
    notDrawn: [],
    views: runs.map(({ name }) => name),
    zooms: true,
    option: (palette, narrow, view) => {
      const { name, lanes, stretches } = runs[view]!;
      const phases = [...new Set(stretches.map(({ phase }) => phase))];
      const colours = partColours(palette, phases);
      return {
        ...inRows(palette, narrow, { names: lanes }),
        tooltip: tooltip(palette, "item"),
        xAxis: valueAxis(palette, { name: "time since the run began", show: seconds, min: 0 }),
        dataZoom: [
          // The wheel scrolls the page; with Ctrl, or by two fingers, it zooms.
          {
            type: "inside",
            filterMode: "none",
            zoomOnMouseWheel: "ctrl",
            preventDefaultMouseMove: false,
          },
        ],
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
