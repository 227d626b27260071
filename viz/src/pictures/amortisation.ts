// SPDX-License-Identifier: Apache-2.0
// From residency: how much a copy costs when it is made every so many steps.
import { positive, text } from "../data/json";
import { backendOf, type Row, whyNotDrawn } from "../data/results";
import { type Column, inSeconds, tableOf } from "../data/table";
import { count, figure, quantity, seconds, times } from "../data/units";
import { type Line, logLines, plainLine } from "./chart";
import { isCpu, standInSentence } from "./choice";
import { type Look, lookOf } from "./palette";
import { drawing } from "./picture";
import { verificationOfRows } from "./proof";
import { teller } from "./tooltip";

type Timed = Row & { seconds: number };
const every = (row: Row) => row.roundtripEvery ?? row.snapshotEvery;

/** Of the lines of one backend, which have one colour: one for each way to copy. */
const dashes: Look["type"][] = ["solid", "dashed", "dotted", [12, 4, 2, 4]];

/** "simd, round trip" of all such rows, however often they copy. */
const kindOf = ({ kernel, transfer, overlapped, roundtripEvery }: Row) =>
  `${kernel}, ${overlapped ? "overlapped " : ""}${roundtripEvery === null ? "snapshot" : "round trip"}` +
  (transfer === "pageable" ? ", pageable" : "");

export const amortisation = drawing("amortisation", ["residency"], (file) => {
  const timed = file.rows.filter((row): row is Timed => row.seconds !== null);
  const visiting = timed.filter((row) => every(row) !== null);
  const best = timed.filter(isCpu).sort((a, b) => a.seconds - b.seconds)[0];
  if (best === undefined || visiting.length === 0)
    return "it needs a timed CPU row and timed rows that visit the host";
  const kinds = [...new Set(visiting.map(kindOf))];
  const firstOf = (kind: string) => visiting.find((row) => kindOf(row) === kind)!;
  const waysOf = (backend: string) => kinds.filter((kind) => backendOf(firstOf(kind)) === backend);
  const residents = [...new Set(visiting.map((row) => text(row.json, "resident")))].flatMap(
    (name) => timed.filter((row) => row.name === name),
  );
  const worst = [...visiting].sort((a, b) => b.seconds - a.seconds)[0]!;
  const resident = residents.find((row) => row.name === text(worst.json, "resident"));
  const columns: Column<Timed>[] = [
    { name: "row", of: (row) => row.name },
    { name: "steps between copies", show: count, of: (row) => every(row) },
    inSeconds("time of a step", (row) => row.seconds),
    { name: `speed-up over ${best.name}`, show: times, of: (row) => best.seconds / row.seconds },
    {
      name: "times that of a field that stays",
      show: times,
      of: (row) => positive(row.json, "times_resident"),
    },
    inSeconds("a visit costs", (row) => positive(row.json, "visit_seconds")),
    { name: "proof", of: (row) => row.verification },
  ];
  const tell = teller(columns);
  return {
    reading:
      `A step takes ${seconds(worst.seconds)} where the field travels every ${every(worst) === 1 ? "step" : `${every(worst)} steps`}` +
      (resident === undefined
        ? ""
        : ` and ${seconds(resident.seconds)} where it stays, a factor of ${figure(worst.seconds / resident.seconds)}`) +
      "." +
      standInSentence(visiting),
    alternative: `Speed-up over ${best.name} against the steps between two copies, a line for each of ${kinds.length} ways to copy; dashed lines for fields that stay.`,
    table: tableOf(columns, timed),
    notDrawn: file.rows
      .filter((row) => row.seconds === null)
      .map((row) => [row.name, whyNotDrawn(row)]),
    verification: verificationOfRows(timed),
    option: (palette) => {
      const lineOf = (kind: string): Line => {
        const first = firstOf(kind);
        const look = lookOf(palette, file.names, backendOf(first));
        const type = dashes[waysOf(backendOf(first)).indexOf(kind) % dashes.length]!;
        return {
          name: kind,
          device: first.device !== "cpu",
          look: { ...look, type },
          points: visiting
            .filter((row) => kindOf(row) === kind)
            .sort((a, b) => every(a)! - every(b)!)
            .map((row) => ({
              value: [every(row), best.seconds / row.seconds],
              told: tell(row.name, row),
            })),
        };
      };
      const staying = residents.filter((row) => row !== best);
      const marks: Line["marks"] = {
        markLine: {
          ...plainLine,
          lineStyle: { type: "dashed", color: palette.muted },
          label: { color: palette.muted, position: "insideEndTop", formatter: "{b}" },
          data: [
            ...staying.map((row) => ({
              name: `${row.name}, field stays`,
              yAxis: best.seconds / row.seconds,
            })),
            { name: `${best.name} on the CPU`, yAxis: 1 },
          ],
        },
      };
      const [first, ...others] = kinds.map(lineOf);
      return logLines(
        palette,
        { name: "steps between two copies", show: quantity },
        {
          name: `speed-up over ${best.name}`,
          show: times,
          also: [1, ...staying.map((row) => best.seconds / row.seconds)],
        },
        [{ ...first!, marks }, ...others],
      );
    },
  };
});
