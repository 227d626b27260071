// Cards that nobody measured here: what a run may take on one by the figures of
// bench/model/assumed_cards.json, each between a low and a high end; the same arithmetic as
// bench/model/assumed_ways.cpp. All of it is assumed, and says so.
//
//   call   = launch + synchronisation + its kernels         copy   = a call + bytes / bandwidth
//   kernel = the slower of traffic and arithmetic           set-up = context, and page-locking the field
//
// A field and its successor travel through the L2 cache where both fit into it, else through memory.
import file from "../../../bench/model/assumed_cards.json";
import type { GridCost, Way } from "./model";
import { type Column, type Table, tableOf } from "./table";

export type FigureName = keyof (typeof file)["h200"]["figures"];
export interface Card {
  key: string;
  /** As long as its maker's, and as a driver says it. */
  name: string;
  short: string;
  figures: Record<FigureName, { low: number; high: number; source: string }>;
}

export const assumedCards: Card[] = Object.entries(file).map(([key, card]) => ({
  key,
  name: card.name,
  short: card.reported_as,
  figures: card.figures,
}));

/** Of everything that comes from such a card. */
export const markOf = ({ key }: Card) => `assumed ${key}`;

type End = "best" | "worst";

/** cuda_stream, cuda_graph or cuda, and where the host's field lies. The short names fit a phone. */
export interface Kind {
  backend: "stream" | "graph" | "cuda";
  pinned: boolean;
}
export const naiveKind: Kind = { backend: "stream", pinned: false };
export const pinnedKind: Kind = { backend: "stream", pinned: true };
const kinds: Kind[] = [
  naiveKind,
  pinnedKind,
  { backend: "graph", pinned: true },
  { backend: "cuda", pinned: true },
];

const bytesOf = (dtype: string) => (dtype === "float64" ? 8 : 4);

/** Per cell and step, as counted in the kernels (docs/gpu.md), and how many of them are arithmetic. */
const instructions = { low: 7.2, high: 25 };
const arithmetic = 6;
/** Steps of a launch of `cuda`, and what its halos add to the traffic. */
const sweepSteps = 8;
const haloTraffic = 1.1;
const callSteps = [1, sweepSteps, 2 * sweepSteps, 1024];

/** Seconds of so many steps on the device, launches between them included. */
function kernelsOf(card: Card, { backend }: Kind, dtype: string, cells: number, end: End) {
  const { figures } = card;
  const [low, high] = end === "best" ? (["low", "high"] as const) : (["high", "low"] as const);
  const bytes = 2 * cells * bytesOf(dtype);
  const cached = bytes <= 1e6 * figures.l2_mb[high];
  const bandwidth = 1e9 * figures[cached ? "l2_gb_per_s" : "memory_gb_per_s"][high];
  const own = figures[dtype === "float64" ? "float64_tflops" : "float32_tflops"][high];
  // An fma counts as two operations, and takes one instruction.
  const fmas = (tflops: number) => 0.5e12 * tflops;
  const step = Math.max(
    (instructions[low] * cells) / fmas(figures.float32_tflops[high]),
    (arithmetic * cells) / fmas(own),
  );
  const kernel = (steps: number) =>
    Math.max((bytes * (steps > 1 ? haloTraffic : 1)) / bandwidth, steps * step);
  const graphLaunch = 1e-6 * figures.graph_launch_us[low];
  const launched = (steps: number) => (steps > 0 ? graphLaunch + kernel(steps) : 0);
  const byBackend = {
    stream: (steps: number) => steps * Math.max(1e-6 * figures.launch_us[low], launched(1)),
    graph: (steps: number) => steps * launched(1),
    cuda: (steps: number) =>
      Math.floor(steps / sweepSteps) * launched(sweepSteps) + launched(steps % sweepSteps),
  };
  return byBackend[backend];
}

function gridAt(card: Card, kind: Kind, dtype: string, side: number, end: End): GridCost {
  const { figures } = card;
  const [low, high] = end === "best" ? (["low", "high"] as const) : (["high", "low"] as const);
  const cells = side * side;
  const bytes = cells * bytesOf(dtype);
  const kernels = kernelsOf(card, kind, dtype, cells, end);
  const call = 1e-6 * (figures.launch_us[low] + figures.synchronize_us[low]);
  const copy = (pageable: FigureName, pinned: FigureName) =>
    1e-6 * figures.copy_call_us[low] +
    bytes / (1e9 * figures[kind.pinned ? pinned : pageable][high]);
  const pin = 1e-6 * figures.pin_call_us[low] + 1e-9 * bytes * figures.pin_ns_per_byte[low];
  return {
    side,
    threads: 1,
    setup: 1e-3 * figures.context_ms[low] + (kind.pinned ? pin : 0),
    copyIn: copy("pageable_h2d_gb_per_s", "pinned_h2d_gb_per_s"),
    copyOut: copy("pageable_d2h_gb_per_s", "pinned_d2h_gb_per_s"),
    calls: callSteps.map((steps) => ({ steps, seconds: call + kernels(steps) })),
  };
}

/** The geometric mean of both ends, of each cost by itself, so that the parts of a run still add up. */
function middle(best: GridCost, worst: GridCost): GridCost {
  const mean = (a: number, b: number) => Math.sqrt(a * b);
  return {
    ...best,
    setup: mean(best.setup, worst.setup),
    copyIn: mean(best.copyIn, worst.copyIn),
    copyOut: mean(best.copyOut, worst.copyOut),
    calls: best.calls.map(({ steps, seconds }, index) => ({
      steps,
      seconds: mean(seconds, worst.calls[index]!.seconds),
    })),
  };
}

/** Close, since the model interpolates between them. */
const sides = Array.from({ length: 25 }, (_each, index) => Math.round(16 * 2 ** (index / 2)));

/** Of the largest field that the card's memory holds for sure, with its successor. */
const largestSide = ({ figures }: Card, dtype: string): number =>
  Math.floor(Math.sqrt((2 ** 30 * figures.memory_gib.low) / (2 * bytesOf(dtype))));

/** The card at the middle of its figures, with both ends beside it. */
export function assumedWay(card: Card, kind: Kind, dtype: string): Way {
  const backend = `${kind.backend}, ${kind.pinned ? "pinned" : "pageable"} (${markOf(card)})`;
  const at = (end: End) => sides.map((side) => gridAt(card, kind, dtype, side, end));
  const [best, worst] = [at("best"), at("worst")];
  const way = (grids: GridCost[]): Way => ({ backend, device: "cuda", dtype, grids });
  return {
    ...way(best.map((grid, index) => middle(grid, worst[index]!))),
    assumed: {
      card: markOf(card),
      best: way(best),
      worst: way(worst),
      largest: largestSide(card, dtype),
    },
  };
}

export const assumedWays = (card: Card, dtype: string): Way[] =>
  kinds.map((kind) => assumedWay(card, kind, dtype));

/** The middle of what the context takes, which is part of the set-up of all its ways. */
export const contextSeconds = ({ figures: { context_ms } }: Card): number =>
  1e-3 * Math.sqrt(context_ms.low * context_ms.high);

const units: [RegExp, string][] = [
  [/_gb_per_s$/, "GB/s"],
  [/_ns_per_byte$/, "ns a byte"],
  [/_us$/, "us"],
  [/_ms$/, "ms"],
  [/_mb$/, "MB"],
  [/_gib$/, "GiB"],
  [/_tflops$/, "Tflop/s"],
];

/** Each figure with its span and where it comes from. */
export const figuresOf = (card: Card | null): Table =>
  tableOf(columns, Object.entries(card?.figures ?? {}));

type Figure = [string, Card["figures"][FigureName]];
const unitOf = (key: string): [RegExp, string] =>
  units.find(([ending]) => ending.test(key)) ?? [/$/, ""];
const columns: Column<Figure>[] = [
  { name: "assumed figure", of: ([key]) => key.replace(unitOf(key)[0], "").replaceAll("_", " ") },
  { name: "unit", of: ([key]) => unitOf(key)[1] },
  { name: "from", of: ([, { low }]) => low },
  { name: "to", of: ([, { high }]) => high },
  { name: "source", of: ([, { source }]) => source },
];
