// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { written } from "../../src/pictures/tooltip";

const textOf = (html: string) =>
  html
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

describe("a tooltip", () => {
  const tell = (head: string, step: string) => ({
    head,
    lines: [
      ["grid", "64"],
      ["step", step],
    ] as [string, string][],
  });

  it("of several points says once what they share, and a row once", () => {
    const points = [
      { data: { told: tell("simd", "1.00 s") }, color: "#123456" },
      { data: { told: tell("cuda", "2.00 s") } },
      { data: { told: tell("cuda", "2.00 s") } },
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
