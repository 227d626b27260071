// SPDX-License-Identifier: Apache-2.0
// What copies cost, by size: within the host's memory, and to and from a GPU with the line
// t = latency + bytes / bandwidth that was fitted to each curve.
import { at, flag, list, num, positive, text, type Json } from "../data/json";
import type * as schema from "../data/result_schema";
import { type Column, inSeconds, tableOf } from "../data/table";
import { bytes, bytesPerSecond, count, figure } from "../data/units";
import { guideLine, type Line, logLines, plainLine } from "./chart";
import type { Guide } from "./option";
import { seriesColour } from "./palette";
import { type Drawn, drawing } from "./picture";
import { teller } from "./tooltip";

interface Point {
  bytes: number;
  seconds: number | null;
  rate: number | null;
  verified: boolean;
}
type Way = schema.CopyWay | "";
type Direction = schema.Direction | "";
const wayOf = (json: Json) => text(json, "way") as Way;
const directionOf = (json: Json) => text(json, "direction") as Direction;

export interface Curve {
  name: string;
  way: Way;
  direction: Direction;
  threads: number;
  points: Point[];
}
interface Fit {
  curve: string;
  latency: number;
  rate: number;
  residual: number | null;
}

const nameOf = (direction: Direction, way: Way, threads: number) =>
  (direction === "host" ? way : `${way} ${direction.toUpperCase()}`) +
  (threads > 1 ? ` x${threads}` : "");

export function curvesOf(place: Json): Curve[] {
  return list(place, "curves").map((curve) => {
    const [way, direction] = [wayOf(curve), directionOf(curve)];
    const threads = num(curve, "threads") ?? 1;
    return {
      name: nameOf(direction, way, threads),
      way,
      direction,
      threads,
      points: list(curve, "points").flatMap((point): Point[] => {
        const size = positive(point, "bytes");
        if (size === null) return [];
        return [
          {
            bytes: size,
            seconds: positive(point, "seconds_per_copy"),
            rate: positive(point, "bytes_per_second"),
            verified: flag(point, "verified") === true,
          },
        ];
      }),
    };
  });
}

function fitsOf(place: Json): Fit[] {
  return list(place, "fits").flatMap((fit): Fit[] => {
    const [latency, rate] = [positive(fit, "latency_seconds"), positive(fit, "bytes_per_second")];
    if (latency === null || rate === null) return [];
    const curve = nameOf(directionOf(fit), wayOf(fit), 1);
    return [{ curve, latency, rate, residual: num(fit, "median_residual") }];
  });
}

function pictureOf(
  curves: Curve[],
  fits: Fit[],
  caches: [string, number][],
  reading: string,
): Drawn {
  const timed = curves.filter((curve) => curve.points.some((point) => point.rate !== null));
  // Of a device: the two ways that everybody has to choose from, each way on its own.
  const usual = timed.filter(
    ({ way, direction }) =>
      (way === "pageable" || way === "pinned") && (direction === "h2d" || direction === "d2h"),
  );
  const points = curves.flatMap((curve) => curve.points);
  const proved = points.filter((point) => point.verified).length;
  const fitOf = (curve: Curve) => fits.find((each) => each.curve === curve.name);
  const columns: Column<{ curve: Curve; point: Point }>[] = [
    { name: "way", of: ({ curve }) => curve.name },
    { name: "threads", show: count, of: ({ curve }) => curve.threads },
    { name: "size", unit: "B", show: bytes, of: ({ point }) => point.bytes },
    inSeconds("time of a copy", ({ point }) => point.seconds),
    { name: "bandwidth", unit: "B/s", show: bytesPerSecond, of: ({ point }) => point.rate },
    inSeconds("fitted latency", ({ curve }) => fitOf(curve)?.latency ?? null),
    {
      name: "fitted bandwidth",
      unit: "B/s",
      show: bytesPerSecond,
      of: ({ curve }) => fitOf(curve)?.rate ?? null,
    },
    {
      name: "proof",
      of: ({ point }) => (point.verified ? "compared byte for byte" : "not verified"),
    },
  ];
  const tell = teller(columns);
  const lines = timed.flatMap((curve) => curve.points.map((point) => ({ curve, point })));
  return {
    reading,
    alternative: `Lines of bandwidth against the size of a copy, both logarithmic, for ${timed.length} ways to copy.`,
    table: tableOf(columns, lines),
    ...(usual.length > 0 && usual.length < timed.length
      ? { variants: ["pageable and pinned, with their fits", "all ways"] }
      : {}),
    notDrawn: curves
      .filter((curve) => !timed.includes(curve))
      .map((curve) => [curve.name, "the file has no time for it"]),
    verification: `${proved} of ${points.length} copies were compared byte for byte before they were timed.`,
    option: (palette, _narrow, variant) => {
      const drawn = usual.length > 0 && variant === 0 ? usual : timed;
      const marks: Line["marks"] = {
        markLine: {
          ...plainLine,
          lineStyle: { type: "dashed", color: palette.muted },
          label: { color: palette.muted, position: "end", formatter: "{b}" },
          data: caches.map(([name, size]) => ({ name, xAxis: size })),
        },
      };
      const chart = logLines(
        palette,
        {
          name: "size of a copy",
          base: 2,
          show: bytes,
          also: points.map((point) => point.bytes),
        },
        { name: "bandwidth", show: bytesPerSecond },
        drawn.map((curve, index) => ({
          name: curve.name,
          look: { color: seriesColour(palette, index), type: "solid" },
          symbol: symbols[index % symbols.length]!,
          points: curve.points
            .filter((point) => point.rate !== null)
            .map((point) => ({
              value: [point.bytes, point.rate],
              told: tell(curve.name, { curve, point }, ["size", "time of a copy", "bandwidth"]),
            })),
          ...(index === 0 && caches.length > 0 ? { marks } : {}),
        })),
      );
      const fitted = drawn.flatMap((curve, index): Guide[] => {
        const fit = fitOf(curve);
        if (fit === undefined) return [];
        const colour = seriesColour(palette, index);
        return [
          {
            ...guideLine(`${curve.name}, fit`, { type: "dashed", color: colour, width: 1.5 }),
            data: curve.points.map((point) => [
              point.bytes,
              point.bytes / (fit.latency + point.bytes / fit.rate),
            ]),
          },
        ];
      });
      return { ...chart, series: [...chart.series, ...fitted] };
    },
  };
}

/** Of the ways to copy; a diamond would be a GPU. */
const symbols = ["circle", "rect", "triangle", "roundRect"];

const bestRate = (curve: Curve) => Math.max(0, ...curve.points.map((point) => point.rate ?? 0));

export const hostBandwidth = drawing("bandwidth-host", ["transfer"], (file) => {
  const host = at(file.data, "host");
  const curves = curvesOf(host);
  if (!curves.some((curve) => bestRate(curve) > 0))
    return "the file has no timed copies within the host";
  const caches = (["l1d", "l2", "l3"] as const).flatMap((name): [string, number][] => {
    const size = positive(host, "caches", name);
    // A copy has two arrays.
    return size === null ? [] : [[name.toUpperCase(), size / 2]];
  });
  const best = [...curves].sort((a, b) => bestRate(b) - bestRate(a))[0]!;
  const largest = best.points[best.points.length - 1];
  const reading =
    `The best rate, ${bytesPerSecond(bestRate(best))}, is that of ${best.name} in a cache` +
    (largest?.rate
      ? `; copies of ${bytes(largest.bytes)} run at ${bytesPerSecond(largest.rate)}`
      : "") +
    ". Dashed: where both arrays just fit in a cache.";
  return pictureOf(curves, [], caches, reading);
});

export const deviceBandwidth = drawing("bandwidth-device", ["transfer"], (file) => {
  const device = at(file.data, "device");
  const curves = curvesOf(device);
  if (flag(device, "emulated") === true)
    return `the device was emulated: ${curves.flatMap((curve) => curve.points).filter((point) => point.verified).length} copies were verified, and none was timed`;
  if (!curves.some((curve) => bestRate(curve) > 0))
    return `no copy was timed (${text(file.data, "no_device") || "no GPU"})`;
  const best = (way: schema.CopyWay) =>
    Math.max(
      0,
      ...curves.filter((curve) => curve.way === way && curve.direction !== "both").map(bestRate),
    );
  const [pageable, pinned] = [best("pageable"), best("pinned")];
  const reading =
    pageable > 0 && pinned > 0
      ? `Pinned memory reaches ${bytesPerSecond(pinned)}, ${figure(pinned / pageable)} times the ${bytesPerSecond(pageable)} of pageable memory on ${text(device, "name")}.`
      : `Copies to and from ${text(device, "name")}, by size.`;
  return pictureOf(curves, fitsOf(device), [], reading);
});
