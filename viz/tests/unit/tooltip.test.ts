// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { seconds } from "../../src/data/units";
import { teller, written } from "../../src/pictures/tooltip";

const textOf = (html: string) =>
  html
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

describe("a tooltip", () => {
  const cell = (index: number) => (cells: (string | number | null)[]) => cells[index]!;
  const tell = teller([
    { name: "row", of: cell(0) },
    { name: "grid", of: cell(1) },
    { name: "step", show: seconds, of: cell(2) },
    { name: "warm", show: seconds, of: cell(3) },
  ]);

  it("tells the figures of its row as the table shows them, and leaves out what is nothing", () => {
    const told = tell("simd", ["simd", "64", 1.5e-3, null]);
    expect(told).toEqual({ head: "simd", lines: [["step", "1.50 ms"]] });
    expect(tell("simd", ["simd", "64", 1.5e-3, 2], ["grid", "warm"]).lines).toEqual([
      ["grid", "64"],
      ["warm", "2.00 s"],
    ]);
    expect(textOf(written({ data: { told } }))).toBe("simd step 1.50 ms");
  });

  it("of several points says once what they share, and a row once", () => {
    const names = ["grid", "step"];
    const points = [
      { data: { told: tell("simd", ["simd", "64", 1, null], names) }, color: "#123456" },
      { data: { told: tell("cuda", ["cuda", "64", 2, null], names) } },
      { data: { told: tell("cuda", ["cuda", "64", 2, null], names) } },
      { data: [1, 2] }, // of a line that guides the eye
    ];
    expect(textOf(written(points))).toBe("grid 64 ● simd step 1.00 s cuda step 2.00 s");
    expect(written([{ data: [1, 2] }])).toBe("");
  });

  it("takes no name for markup", () => {
    const name = '<img src=x onerror="alert(1)">';
    const told = { head: name, lines: [[name, name]] as [string, string][] };
    expect(written({ data: { told } })).not.toContain("<img");
    const two = [{ data: { told } }, { data: { told: { head: name + 2, lines: [] } } }];
    expect(written(two)).not.toContain("<img");
  });
});
