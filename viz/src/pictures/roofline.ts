// SPDX-License-Identifier: Apache-2.0
// The roofline (Williams, Waterman, Patterson 2009): flops a second against flops a byte. All rows
// have the problem's own bytes and flops, so they stand above each other; the roofs are bandwidths
// that were measured on the same machine: of memory by the comparison, of the caches and of the bus
// by `diffbench transfer`.
import { at, positive, text } from "../data/json";
import { problemText, type ResultFile, whyNotDrawn } from "../data/results";
import { type Column, tableOf } from "../data/table";
import { bytesPerSecond, figure, percent, shortened } from "../data/units";
import { type Curve, curvesOf } from "./bandwidth";
import { baseOption, guideLine, logLimits, pointOf, tooltip, valueAxis } from "./chart";
import { chosenRows, isCpu, kindsOf, namedOf, rowKinds } from "./choice";
import type { Guide, Measured } from "./option";
import { kindColour } from "./palette";
import { drawing } from "./picture";
import { verificationOfRows } from "./proof";
import { teller } from "./tooltip";

interface Roof {
  name: string;
  of: "memory" | "cache" | "bus";
  /** Bytes a second, read and written ones counted, as those of a step are. */
  rate: number;
}

/** Of the table. */
interface Line {
  name: string;
  kind: string;
  bandwidth: number | null;
  rate: number;
}

/** The best rate among copies of more than `least` and at most `most` bytes. */
function bestRate(curves: Curve[], least: number, most: number): number {
  const rates = curves.flatMap((curve) =>
    curve.points
      .filter((point) => point.bytes > least && point.bytes <= most)
      .map((point) => point.rate ?? 0),
  );
  return Math.max(0, ...rates);
}

function roofsOf(file: ResultFile, companions: ResultFile[]): Roof[] {
  const roofs: Roof[] = [];
  const copy = Math.max(
    positive(file.own, "copy", "memcpy_bytes_per_second") ?? 0,
    positive(file.own, "copy", "streaming_bytes_per_second") ?? 0,
  );
  if (copy > 0) roofs.push({ name: "host memory (copy)", of: "memory", rate: copy });
  const transfer = companions.find((each) => each.experiment === "transfer");
  if (transfer === undefined) return roofs;
  const host = at(transfer.data, "host");
  let smaller = 0;
  for (const cache of ["l1d", "l2", "l3"]) {
    const size = positive(host, "caches", cache);
    if (size === null) continue;
    // A copy counts what arrives once, and has two arrays.
    const rate = 2 * bestRate(curvesOf(host), smaller, size / 2);
    smaller = size / 2;
    if (rate > 0) roofs.push({ name: `${cache.toUpperCase()} (copy)`, of: "cache", rate });
  }
  const device = curvesOf(at(transfer.data, "device"));
  for (const direction of ["h2d", "d2h"] as const) {
    const rate = bestRate(
      device.filter((curve) => curve.direction === direction),
      0,
      Infinity,
    );
    if (rate > 0) roofs.push({ name: `bus, ${direction.toUpperCase()}`, of: "bus", rate });
  }
  return roofs;
}

/** How far labels at these heights (pixels, from the top down) must move to be `gap` apart. */
export function shifts(heights: number[], gap: number): number[] {
  let last = -Infinity;
  return heights.map((height) => {
    last = Math.max(height, last + gap);
    return last - height;
  });
}

const height = 340;
const margins = { top: 56, bottom: 52 };
const mostLabels = 10;

export const roofline = drawing("roofline", ["comparison"], (file, companions) => {
  const bytes = positive(file.problem, "bytes_per_step");
  const flops = positive(file.problem, "flops_per_step");
  const roofs = roofsOf(file, companions);
  const rows = file.rows
    .flatMap((row) =>
      row.seconds === null ? [] : [{ row, seconds: row.seconds, rate: (flops ?? 0) / row.seconds }],
    )
    .sort((a, b) => b.rate - a.rate);
  if (bytes === null || flops === null || rows.length === 0)
    return "it needs rows with a time, and the problem's bytes and flops";
  if (roofs.length === 0)
    return "no bandwidth was measured (the copy roof of the comparison, or a file of diffbench transfer)";
  const labelled = chosenRows(rows, namedOf(file), mostLabels);
  const kindOf = kindsOf(rows.map(({ row }) => row));
  const intensity = flops / bytes;
  const best = rows[0]!;
  const memory = roofs.find((roof) => roof.of === "memory");
  // The host's memory bounds what runs on the host, and nothing else.
  const bestCpu = rows.find(({ row }) => isCpu(row));
  const share =
    memory === undefined || bestCpu === undefined ? null : bestCpu.rate / (memory.rate * intensity);
  const hasCaches = roofs.some((roof) => roof.of === "cache");
  const columns: Column<Line>[] = [
    { name: "row or roof", of: ({ name }) => name },
    { name: "kind", of: ({ kind }) => kind },
    { name: "bandwidth", unit: "B/s", show: bytesPerSecond, of: ({ bandwidth }) => bandwidth },
    { name: "intensity", unit: "flop/B", show: figure, of: () => intensity },
    {
      name: "rate",
      unit: "flop/s",
      show: (value) => `${figure(value / 1e9)} GFlop/s`,
      of: ({ rate }) => rate,
    },
  ];
  const lineOfRow = ({ row, rate }: (typeof rows)[number]): Line => ({
    name: row.name,
    kind: row.device,
    bandwidth: row.bytesPerSecond,
    rate,
  });
  const lineOfRoof = ({ name, rate }: Roof): Line => ({
    name,
    kind: "roof",
    bandwidth: rate,
    rate: rate * intensity,
  });
  const tell = teller(columns);
  return {
    reading:
      `At ${figure(intensity)} flops a byte the roofs are bandwidths: ${best.row.name} makes ${figure(best.rate / 1e9)} GFlop/s` +
      (bestCpu === undefined || bestCpu === best
        ? ""
        : ` (memory and caches are the host's: they are no roof for ${best.row.name}), ${bestCpu.row.name} ${figure(bestCpu.rate / 1e9)} GFlop/s`) +
      (share === null
        ? ""
        : `, ${percent(share)} of what the host's memory allows one step at a time`) +
      (share !== null && share > 1
        ? " (the field stays in a cache, or several steps are taken on each visit)"
        : "") +
      ".",
    alternative: `Sloping lines for ${roofs.length} measured bandwidths on logarithmic axes, and a point for each of ${rows.length} rows, all at ${figure(intensity)} flops a byte. Peak arithmetic is not measured, so there is no flat roof.`,
    height,
    table: tableOf(columns, [...roofs.map(lineOfRoof), ...rows.map(lineOfRow)]),
    notDrawn: [
      ...file.rows
        .filter((row) => row.seconds === null)
        .map((row): [string, string] => [row.name, whyNotDrawn(row)]),
      ...(hasCaches
        ? []
        : [
            [
              "roofs of the caches and of the bus",
              "add a file of diffbench transfer of this machine",
            ] as [string, string],
          ]),
    ],
    verification: `${verificationOfRows(rows.map(({ row }) => row))} Problem: ${problemText(file) || text(file.own, "command")}.`,
    option: (palette, narrow) => {
      const span: [number, number] = [intensity / 8, intensity * 8];
      const limits = logLimits([
        ...rows.map(({ rate }) => rate / 1e9),
        ...roofs.flatMap((roof) => span.map((each) => (roof.rate * each) / 1e9)),
      ]);
      // Rows of about the same rate stand on each other; their names must not.
      const pixels = (height - margins.top - margins.bottom) / Math.log(limits.max / limits.min);
      const labels = shifts(
        labelled.map(({ rate }) => -pixels * Math.log(rate)),
        15,
      );
      return {
        ...baseOption(palette),
        legend: {
          ...baseOption(palette).legend,
          data: rowKinds.filter((kind) => rows.some(({ row }) => kindOf(row) === kind)),
        },
        tooltip: tooltip(palette, "item"),
        grid: { left: 76, right: narrow ? 24 : 40, ...margins },
        xAxis: valueAxis(palette, {
          name: "flops a byte",
          log: true,
          show: figure,
          min: span[0],
          max: span[1],
        }),
        yAxis: valueAxis(palette, { name: "GFlop/s", log: true, show: figure, gap: 50, ...limits }),
        series: [
          ...roofs.map((roof, index): Guide => ({
            ...guideLine(roof.name, {
              color: palette.muted,
              width: 2,
              type: index === 0 ? "solid" : "dashed",
            }),
            data: span.map((each) => [each, (roof.rate * each) / 1e9]),
            endLabel: {
              show: true,
              align: "right",
              verticalAlign: "bottom",
              color: palette.muted,
              formatter: `${roof.name} ${bytesPerSecond(roof.rate)}`,
            },
          })),
          ...rowKinds.flatMap((kind): Measured[] => {
            const own = rows.filter(({ row }) => kindOf(row) === kind);
            if (own.length === 0) return [];
            return [
              {
                name: kind,
                type: "scatter",
                symbolSize: 12,
                symbol: pointOf(own[0]!.row.device !== "cpu").symbol,
                z: 5,
                itemStyle: {
                  color: kindColour(palette, kind),
                  borderColor: palette.surface,
                  borderWidth: 1,
                },
                data: own.map((each) => ({
                  name: each.row.name,
                  value: [intensity, each.rate / 1e9],
                  told: tell(each.row.name, lineOfRow(each)),
                  label: {
                    show: labelled.includes(each),
                    position: "right",
                    offset: [0, labels[labelled.indexOf(each)] ?? 0],
                    color: palette.text,
                    formatter: shortened(each.row.name, narrow ? 16 : 32),
                  },
                })),
              },
            ];
          }),
        ],
      };
    },
  };
});
