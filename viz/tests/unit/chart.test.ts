import { describe, expect, it } from "vitest";
import { categoryAxis, logTicks, valueAxis } from "../../src/pictures/chart";
import { light } from "../../src/pictures/palette";
import { shifts } from "../../src/pictures/roofline";

describe("axes", () => {
  it("have few and even ticks, over a factor of two and over many decades", () => {
    expect(logTicks(0.9, 2.1, 10)).toEqual([1, 1.2, 1.5, 2]);
    expect(logTicks(3, 300, 10)).toEqual([5, 10, 20, 50, 100, 200]);
    expect(logTicks(0.5, 5000, 10)).toEqual([1, 10, 100, 1000]);
    expect(logTicks(1, Infinity, 10)).toEqual([]);
    expect(logTicks(1, 1e24, 10).length).toBeLessThanOrEqual(10);
    expect(logTicks(900, 2 ** 23, 2)).toEqual([
      2 ** 10,
      2 ** 12,
      2 ** 14,
      2 ** 16,
      2 ** 18,
      2 ** 20,
      2 ** 22,
    ]);
  });

  it("leave out zeros that say nothing", () => {
    const axis = valueAxis(light, { name: "", show: (value) => `${value.toFixed(2)} ms` });
    const { formatter } = axis.axisLabel as { formatter: (value: number) => string };
    expect([100, 0.5, 1.25, 0].map(formatter)).toEqual(["100 ms", "0.5 ms", "1.25 ms", "0 ms"]);
  });

  it("keep the beginning and the end of long names, in two lines", () => {
    const { formatter } = categoryAxis(light, [], { width: 7 * 16 }).axisLabel;
    expect(formatter("simd")).toBe("simd");
    expect(formatter("simd, round trip every 100")).toBe("simd, round trip\nevery 100");
    expect(formatter("simd, overlapped snapshot every 100 cold")).toBe(
      "simd, overlapped\n… every 100 cold",
    );
    expect(
      formatter("x".repeat(99))
        .split("\n")
        .map((line) => line.length),
    ).toEqual([16, 16]);
  });
});

describe("the roofline's names", () => {
  it("stand apart, and move no further than they must", () => {
    expect(shifts([0, 5, 40, 41], 15)).toEqual([0, 10, 0, 14]);
  });
});
