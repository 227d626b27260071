// SPDX-License-Identifier: Apache-2.0
// Cards that nobody measured here: the figures of bench/model/assumed_cards.json, each between a low and a
// high end, and what they make a run cost by bench/model/assumed_ways.cpp, which the program wrote into the
// page (bench/lab/assumed_page.cpp). All of it is assumed, and says so.
import file from "../../../bench/model/assumed_cards.json";
import type { GridCost, Way } from "./model";

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

/** A way of a card as the program writes it: each grid as side, set-up, copy in, copy out, and its calls. */
interface Written {
  card: string;
  backend: keyof typeof shortNames;
  transfer: "pageable" | "pinned";
  dtype: string;
  /** Of the largest field that the card's memory holds for sure, with its successor. */
  largest_side: number;
  call_steps: number[];
  best: number[][];
  worst: number[][];
}
let written: Written[] = [];
/** Once, before anything is asked of a card. */
export const takeAssumed = (ways: unknown) => (written = ways as Written[]);

/** They fit a phone. */
const shortNames = { cuda_stream: "stream", cuda_graph: "graph", cuda: "cuda" };

/** Where the host's field lies. */
export type Kind = Pick<Written, "backend" | "transfer">;
export const naiveKind: Kind = { backend: "cuda_stream", transfer: "pageable" };
export const pinnedKind: Kind = { backend: "cuda_stream", transfer: "pinned" };

const gridOf = (numbers: number[], callSteps: number[]): GridCost => {
  const [side, setup, copyIn, copyOut, ...calls] = numbers as [number, number, number, number];
  return {
    ...{ side, threads: 1, setup, copyIn, copyOut },
    calls: callSteps.map((steps, index) => ({ steps, seconds: calls[index]! })),
  };
};

/** The card at the middle of its figures, which is the geometric mean of each cost, with both ends beside it. */
function wayOf({ call_steps, ...each }: Written): Way {
  const card = `assumed ${each.card}`;
  const way = (grids: number[][]): Way => ({
    backend: `${shortNames[each.backend]}, ${each.transfer} (${card})`,
    device: "cuda",
    dtype: each.dtype,
    grids: grids.map((numbers) => gridOf(numbers, call_steps)),
  });
  const [best, worst] = [way(each.best), way(each.worst)];
  const middle = each.best.map((row, grid) =>
    row.map((low, index) => (index === 0 ? low : Math.sqrt(low * each.worst[grid]![index]!))),
  );
  return { ...way(middle), assumed: { card, best, worst, largest: each.largest_side } };
}

const writtenOf = (card: Card, dtype: string) =>
  written.filter((each) => each.card === card.key && each.dtype === dtype);

export const assumedWays = (card: Card, dtype: string): Way[] => writtenOf(card, dtype).map(wayOf);

export const assumedWay = (card: Card, { backend, transfer }: Kind, dtype: string): Way =>
  wayOf(
    writtenOf(card, dtype).find((each) => each.backend === backend && each.transfer === transfer)!,
  );

/** The middle of what the context takes, which is part of the set-up of all its ways. */
export const contextSeconds = ({ figures: { context_ms } }: Card): number =>
  1e-3 * Math.sqrt(context_ms.low * context_ms.high);
