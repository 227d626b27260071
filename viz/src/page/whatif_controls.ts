// SPDX-License-Identifier: Apache-2.0
// What the what-if panel can be set to, and the controls that set it.
import type { Asked } from "../data/address";
import { assumedCards, markOf } from "../data/assumed";
import type { Profile } from "../data/model";
import { type Setting, stepsText } from "../data/scenario";
import { count } from "../data/units";
import { chooser, slider } from "./controls";

const counts = [1, 2, 5]
  .flatMap((digit) => [0, 1, 2, 3, 4, 5].map((power) => digit * 10 ** power))
  .sort((a, b) => a - b);
const everies = [0, ...counts];

const usualSides = [
  4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 640, 768, 1024, 1536, 2048, 3072,
  4096, 6144, 8192, 16384, 32768, 65536,
];

/** The place of the value that is nearest by its ratio; 0 is near to nothing else. */
const nearest = (values: number[], wanted: number) =>
  values.reduce(
    (best, value, index) =>
      Math.abs(Math.log(value / wanted)) < Math.abs(Math.log(values[best]! / wanted))
        ? index
        : best,
    0,
  );

/** Grids that the panel offers: what was recorded, and as far again on both sides. */
function sidesOf(profile: Profile): number[] {
  const largest = Math.max(...profile.ways.map((way) => way.grids[way.grids.length - 1]!.side));
  const smallest = Math.min(...profile.ways.map((way) => way.grids[0]!.side));
  return usualSides.filter((side) => side >= smallest / 2 && side <= 2 * largest);
}

/** The setting as near as its profile and the sliders can have it. */
export function offered(setting: Setting): Setting {
  const { profile, dtype, side, iterations, every } = setting;
  const dtypes = profile.ways.map((way) => way.dtype);
  const sides = sidesOf(profile);
  return {
    ...setting,
    dtype: dtypes.includes(dtype) ? dtype : dtypes[0]!,
    side: sides[nearest(sides, side)] ?? side,
    iterations: counts[nearest(counts, iterations)]!,
    every: every === 0 ? 0 : counts[nearest(counts, every)]!,
  };
}

/** What the panel opens with: the run of the first lesson, its field in place. */
export const usualSetting = (profile: Profile): Setting =>
  offered({
    profile,
    card: null,
    dtype: "float32",
    side: 640,
    iterations: 1000,
    every: 0,
    roundTrips: false,
  });

/** What an address asks for; where it says nothing, or what there is not, all stays as it is. */
export function withAsked(profiles: Profile[], setting: Setting, asked: Asked): Setting {
  const card = assumedCards.find(({ key }) => key === asked.card);
  return offered({
    profile: profiles.find(({ source }) => source === asked.profile) ?? setting.profile,
    card: asked.card === "none" ? null : (card ?? setting.card),
    dtype: asked.dtype ?? setting.dtype,
    side: asked.side ?? setting.side,
    iterations: asked.iterations ?? setting.iterations,
    every: asked.every ?? setting.every,
    roundTrips: asked.roundTrips ?? setting.roundTrips,
  });
}

type Change = (part: Partial<Setting>) => void;

export function choosersOf(profiles: Profile[], setting: Setting, change: Change): HTMLElement[] {
  const { profile, card } = setting;
  const machines = [...new Set(profiles.map((each) => each.machine))];
  const ofMachine = (machine: string) => profiles.filter((each) => each.machine === machine);
  const same = ofMachine(profile.machine);
  const transfers = same.map(
    ({ transfer, source }) =>
      `${transfer}${same.length > 1 ? ` (${source})` : ", the only one recorded"}`,
  );
  const dtypes = [...new Set(profile.ways.map((way) => way.dtype))];
  const cards = [null, ...assumedCards];
  return [
    chooser("Device profile", machines, machines.indexOf(profile.machine), (index) =>
      change({ profile: ofMachine(machines[index]!)[0]! }),
    ),
    chooser("Transfer mode", transfers, same.indexOf(profile), (index) =>
      change({ profile: same[index]! }),
    ),
    chooser("Type", dtypes, dtypes.indexOf(setting.dtype), (index) =>
      change({ dtype: dtypes[index]! }),
    ),
    chooser(
      "A card beside it",
      cards.map((each) => (each === null ? "none" : `${markOf(each)}: ${each.name}`)),
      cards.findIndex((each) => each?.key === card?.key),
      (index) => change({ card: cards[index]! }),
    ),
    chooser(
      "On the way the field goes",
      ["to the host (snapshot)", "to the host and back (round trip)"],
      setting.roundTrips ? 1 : 0,
      (index) => change({ roundTrips: index === 1 }),
    ),
  ];
}

export function slidersOf(setting: Setting, change: Change): HTMLElement[] {
  const sides = sidesOf(setting.profile);
  return [
    slider(
      "Grid",
      sides,
      sides.indexOf(setting.side),
      (side) => `${side}x${side}`,
      (side) => change({ side }),
    ),
    slider("Iterations", counts, counts.indexOf(setting.iterations), count, (iterations) =>
      change({ iterations }),
    ),
    slider(
      "Copies",
      everies,
      everies.indexOf(setting.every),
      (every) => (every === 0 ? "never" : `every ${stepsText(every)}`),
      (every) => change({ every }),
    ),
  ];
}
