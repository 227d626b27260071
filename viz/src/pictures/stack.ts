// SPDX-License-Identifier: Apache-2.0
// What each row consists of: bars of shares, since a good port is hundreds of times as fast as a bad one. How long a row
// is stands before its name, and what a part is in it.
import { headOf, readingOf, type Entry } from "../data/figures";
import { percent, seconds } from "../data/units";
import { heightOfRows, inRows, valueAxis, widthOfRows } from "./chart";
import { inkOn, partColours, phaseName } from "./palette";
import { nameOf, onDevice, roomFor, type Drawn, type Subject } from "./picture";
import type { Told } from "./tooltip";

interface Part {
  name: string;
  of: (entry: Entry) => number;
}

/** The ys, or the members of a y that is an object: those that add up to its wall time. */
function partsOf({ file, figure, entries }: Subject): Part[] {
  const part = (key: string, name: string): Part => ({
    name,
    of: (entry) => Math.max(0, readingOf(entry, key).value ?? 0),
  });
  return figure.y.flatMap((key) => {
    const members = new Set(
      entries.flatMap((entry) =>
        Object.keys(entry).filter(
          (each) => each.startsWith(`${key}.`) && !each.slice(key.length + 1).includes("."),
        ),
      ),
    );
    return members.size === 0
      ? [part(key, headOf(file, key).name)]
      : [...members]
          .map((each) => part(each, each.slice(key.length + 1)))
          .filter(({ name }) => name !== "wall");
  });
}

export function stack(subject: Subject): Drawn | null {
  const { figure, entries } = subject;
  const parts = partsOf(subject).filter(({ of }) => entries.some((entry) => of(entry) > 0));
  const whole = (entry: Entry) =>
    readingOf(entry, `${figure.y[0]}.wall`).value ??
    parts.reduce((sum, { of }) => sum + of(entry), 0);
  const some = entries.filter((entry) => whole(entry) > 0);
  if (some.length === 0) return null;
  const name = (entry: Entry) => nameOf(subject, entry);
  const sorted = [...some].sort((a, b) => whole(a) - whole(b));
  const { kept, left } = roomFor(sorted, name, figure.only, 8);
  const tell = (entry: Entry): Told => ({
    head: name(entry),
    lines: [
      ["wall", seconds(whole(entry))],
      ...parts
        .filter(({ of }) => of(entry) > 0)
        .map(({ name, of }): [string, string] => [
          phaseName(name, onDevice(entry)),
          seconds(of(entry)),
        ]),
    ],
  });
  const drawn = parts.filter(({ of }) => kept.some((entry) => of(entry) > 0));
  return {
    alternative: `Lying bars of what each consists of, one for each of ${kept.length}.`,
    height: (width) => heightOfRows(kept.length, width),
    notDrawn: [
      ...entries
        .filter((entry) => !(whole(entry) > 0))
        .map((entry): [string, string] => [name(entry), "the file has no parts of it"]),
      ...left,
    ],
    option: (palette, width) => {
      const colours = partColours(
        palette,
        drawn.map((part) => part.name),
      );
      const share = ({ of }: Part, entry: Entry) => of(entry) / whole(entry);
      const label = (part: Part, entry: Entry) => phaseName(part.name, onDevice(entry));
      const fits = (part: Part, entry: Entry) =>
        share(part, entry) * widthOfRows(width) > 8 + 7 * label(part, entry).length;
      // What can nowhere say what it is goes together: its figures are in the tooltip and in the table.
      const named = drawn.filter((part) => kept.some((entry) => fits(part, entry)));
      const slivers = drawn.filter((part) => !named.includes(part));
      const others: Part = {
        name: "others",
        of: (entry) => slivers.reduce((sum, { of }) => sum + of(entry), 0),
      };
      return {
        ...inRows(
          palette,
          width,
          kept.map((entry) => ({ name: name(entry), figure: seconds(whole(entry)) })),
        ),
        xAxis: valueAxis(palette, { name: "share of the time", show: percent, min: 0, max: 1 }),
        series: [...named, ...(slivers.length > 0 ? [others] : [])].map((part) => {
          const color = part === others ? palette.muted : colours[drawn.indexOf(part)]!;
          return {
            name: part.name,
            type: "bar",
            stack: "parts",
            barMaxWidth: 16,
            itemStyle: { color, borderColor: palette.surface, borderWidth: 0.5 },
            label: { show: true, fontSize: 12, color: inkOn(palette, color) },
            data: kept.map((entry) => ({
              value: share(part, entry),
              told: tell(entry),
              label: { formatter: fits(part, entry) ? label(part, entry) : "" },
            })),
          };
        }),
      };
    },
  };
}
