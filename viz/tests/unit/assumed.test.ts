// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import {
  assumedCards,
  assumedWay,
  assumedWays,
  naiveKind,
  pinnedKind,
} from "../../src/data/assumed";
import { predict } from "../../src/data/model";

const cardOf = (wanted: string) => assumedCards.find(({ key }) => key === wanted)!;
const shape = { cells: 640 * 640, iterations: 1000, every: 0, roundTrips: true };

describe("an assumed card", () => {
  it("costs what its figures say, at both ends", () => {
    const { figures } = cardOf("h200");
    const [side, bytes] = [8192, 4 * 8192 ** 2]; // far larger than the cache
    const large = { ...shape, cells: side ** 2 };
    const { best, worst } = assumedWay(cardOf("h200"), pinnedKind, "float32").assumed!;
    const quick = predict(best, { ...large, iterations: 1 });
    expect(quick.copyIn).toBeCloseTo(
      1e-6 * figures.copy_call_us.low + bytes / (1e9 * figures.pinned_h2d_gb_per_s.high),
      9,
    );
    expect(quick.setup).toBeCloseTo(
      1e-3 * figures.context_ms.low +
        1e-6 * figures.pin_call_us.low +
        1e-9 * bytes * figures.pin_ns_per_byte.low,
      9,
    );
    const call = 1e-6 * (figures.launch_us.high + figures.synchronize_us.high);
    const traffic = (2 * bytes) / (1e9 * figures.memory_gb_per_s.low);
    const step = 1e-6 * figures.graph_launch_us.high + traffic;
    expect(predict(worst, { ...large, iterations: 1024 }).steps / (call + 1024 * step)).toBeCloseTo(
      1,
      9,
    );
    // In the cache only launches count.
    const small = { ...shape, cells: 64 ** 2, iterations: 1024 };
    expect(predict(best, small).steps).toBeCloseTo(
      1e-6 * (1025 * figures.launch_us.low + figures.synchronize_us.low),
      9,
    );
  });

  it("is worth less the more often the field travels", () => {
    for (const card of assumedCards) {
      const way = assumedWay(card, naiveKind, "float32");
      const warm = [0, 1000, 100, 10, 1].map((every) => predict(way, { ...shape, every }).warm);
      warm.slice(1).forEach((each, index) => expect(each).toBeGreaterThan(warm[index]!));
    }
  });

  it("says from where on its memory may not hold two fields", () => {
    const way = assumedWay(cardOf("laptop"), naiveKind, "float32");
    const most = way.assumed!.largest;
    expect(2 * 4 * most ** 2).toBeLessThanOrEqual(6.5 * 2 ** 30);
    expect(predict(way, { ...shape, cells: most ** 2 }).beyond).toEqual([]);
    expect(predict(way, { ...shape, cells: (most + 1) ** 2 }).beyond[0]).toContain(
      "the memory of the assumed laptop surely holds",
    );
  });

  it("has its middle between its ends, each part by itself, in both types", () => {
    for (const card of assumedCards)
      for (const way of ["float32", "float64"].flatMap((dtype) => assumedWays(card, dtype)))
        for (const part of ["setup", "copyIn", "steps", "visits", "copyOut"] as const) {
          const asked = { ...shape, every: 10 };
          const [best, middle, worst] = [way.assumed!.best, way, way.assumed!.worst].map(
            (each) => predict(each, asked)[part],
          );
          expect(best).toBeLessThan(middle!);
          expect(middle).toBeLessThan(worst!);
        }
  });
});
