// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { dark, light, partColours } from "../../src/pictures/palette";
import { difference, nearest } from "../colours";

it("differences are those of Sharma, Wu and Dalal's table", () => {
  for (const [one, other, wanted] of [
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, 2.5, 0], [73, 25, -18], 27.1492],
    [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
    [[22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373],
  ] as [[number, number, number], [number, number, number], number][])
    expect(difference(one, other)).toBeCloseTo(wanted, 4);
});

const phases = "context alloc pin h2d launch compute sync d2h free unexplained".split(" ");

it("colours of backends, and those of phases, are told apart by all kinds of eyes", () => {
  for (const palette of [light, dark]) {
    const shared = [palette.text, palette.muted];
    for (const own of [palette.series, partColours(palette, phases)]) {
      const { apart, pair } = nearest([...own, ...shared]);
      expect(apart, pair).toBeGreaterThanOrEqual(15);
    }
  }
});
