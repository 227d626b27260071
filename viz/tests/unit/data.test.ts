// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { facts, text, texts } from "../../src/data/json";
import { machineOf, readResultFile, whyNotDrawn } from "../../src/data/results";
import { csvOf } from "../../src/data/table";
import { bytesPerSecond, figure, quantity, seconds, shortened } from "../../src/data/units";
import { picturesOf } from "../../src/pictures/catalogue";
import { light } from "../../src/pictures/palette";
import { isMissing } from "../../src/pictures/picture";

const row = (backend: string, more: object = {}) => ({
  backend,
  device: "cpu",
  status: "ok",
  verified: { bitwise: true, steps: 10, max_abs_error: 0, nonfinite: 0 },
  seconds_per_iteration: 2e-5,
  samples_seconds: [2e-4, 2.1e-4],
  ...more,
});
const file = (results: object[], more: object = {}) =>
  readResultFile({
    file: "run.json",
    context: { cpu_model: "a CPU", usable_cpus: "2" },
    diffbench: { schema: 1, command: "diffbench", results, ...more },
  });

describe("units", () => {
  it("shows three digits and a unit that fits", () => {
    expect(seconds(16.14e-6)).toBe("16.1 us");
    expect(seconds(0.9996e-3)).toBe("1.00 ms");
    expect(seconds(0)).toBe("0 s");
    expect(bytesPerSecond(54.7e9)).toBe("54.7 GB/s");
    expect(figure(0.00981)).toBe("0.00981");
  });

  it("shows negative, huge and tiny values as short", () => {
    expect(seconds(-3.46e-3)).toBe("-3.46 ms");
    expect(seconds(1e308)).toBe("1.00e+308 s");
    expect(quantity(-1e308)).toBe("-1.00e+299 G");
    expect(figure(Infinity)).toBe("-");
    expect(figure(5e-324)).toBe("4.94e-324");
  });

  it("leaves the middle of a long name out", () => {
    expect(shortened("simd")).toBe("simd");
    expect(shortened("cudaGetDeviceCount", 9)).toBe("cuda…ount");
    expect([...shortened("\u{1f600}".repeat(100))].length).toBe(60);
  });
});

describe("result files", () => {
  it("never gives an emulated row a time, whatever the file says", () => {
    const emulated = file([row("cuda", { device: "emulated" })]).rows[0]!;
    expect(emulated.seconds).toBeNull();
    expect(whyNotDrawn(emulated)).toContain("never timed");
  });

  it("takes nothing for granted", () => {
    for (const part of [
      null,
      3,
      "x",
      [],
      {},
      { diffbench: { results: [null, 1, { backend: {} }] } },
    ]) {
      const read = readResultFile(part);
      expect(() => picturesOf(read)).not.toThrow();
      expect(picturesOf(read).every(isMissing)).toBe(true);
    }
  });

  it("shows characters that turn or steer text as escapes", () => {
    const name = "a\u202eb\u2066\u0007\u009b\r\n c\u200f\u2028";
    const seen = "a\\u202eb\\u2066\\u0007\\u009b  c\\u200f\\u2028";
    expect(text({ name }, "name")).toBe(seen);
    expect(texts([name])).toEqual([seen]);
    expect(facts({ [name]: name })).toEqual([[seen, seen]]);
  });

  it("shortens each part of a machine's name where that is a headline", () => {
    const cuda = `no device: ${"the driver is too old; ".repeat(20)}`;
    const part = { context: { cpu_model: "a CPU", usable_cpus: "2", cuda, host_name: "h" } };
    expect(machineOf(readResultFile(part))).toContain(cuda);
    const short = machineOf(readResultFile(part), shortened);
    expect(short.length).toBeLessThan(100);
    expect(short).toMatch(/^a CPU, 2 CPUs; GPU: no device.*…[^…]*; host h$/);
  });

  it("does not take infinite or missing times for times", () => {
    for (const seconds_per_iteration of [null, 0, -1, Infinity, NaN, "1"])
      expect(file([row("a", { seconds_per_iteration })]).rows[0]!.seconds).toBeNull();
  });
});

describe("pictures", () => {
  it("has the fastest row first and the figures of the file", () => {
    const ladder = picturesOf(
      file([
        row("slow"),
        row("fast", { seconds_per_iteration: 1e-5 }),
        row("gone", { status: "skipped", reason: "no driver", seconds_per_iteration: null }),
      ]),
    ).find((picture) => picture.id === "ladder")!;
    if (isMissing(ladder)) throw new Error(ladder.missing);
    expect(ladder.table.rows.map((each) => [each[0], each[3]])).toEqual([
      ["fast", 1e-5],
      ["slow", 2e-5],
    ]);
    expect(ladder.notDrawn).toEqual([["gone", "skipped: no driver"]]);
    expect(ladder.reading).toContain("fast has the smallest median, 10.0 us a step");
    expect(() => ladder.option(light, false, 0)).not.toThrow();
  });

  it("holds only what runs on the host against the host's memory", () => {
    const rows = [row("cpu row"), row("gpu row", { device: "cuda", seconds_per_iteration: 1e-6 })];
    const roofline = picturesOf(
      file(rows, {
        problem: { nx: 64, ny: 64, bytes_per_step: 32768, flops_per_step: 28672 },
        copy: { memcpy_bytes_per_second: 1e10 },
      }),
    ).find((picture) => picture.id === "roofline")!;
    if (isMissing(roofline)) throw new Error(roofline.missing);
    expect(roofline.reading).toContain("no roof for gpu row");
    expect(roofline.reading).toContain("cpu row 1.43 GFlop/s, 16.4 % of what the host's memory");
  });

  it("shows pageable against pinned memory first, then all ways to copy", () => {
    const curve = (way: string, direction: string) => ({
      way,
      direction,
      points: [{ bytes: 1024, seconds_per_copy: 1e-6, bytes_per_second: 1e9, verified: true }],
    });
    const curves = [curve("pageable", "h2d"), curve("pinned", "d2h"), curve("managed", "h2d")];
    const transfer = { device: { name: "a GPU", curves } };
    const bandwidth = picturesOf(file([], { experiment: "transfer", transfer })).find(
      (picture) => picture.id === "bandwidth-device",
    )!;
    if (isMissing(bandwidth)) throw new Error(bandwidth.missing);
    const shown = (variant: number) =>
      (bandwidth.option(light, false, variant) as { series: { name: string }[] }).series.map(
        (series) => series.name,
      );
    expect(bandwidth.variants?.length).toBe(2);
    expect(shown(0)).toEqual(["pageable H2D", "pinned D2H"]);
    expect(shown(1)).toEqual(["pageable H2D", "pinned D2H", "managed H2D"]);
  });

  it("says what is missing", () => {
    const ledger = picturesOf(file([row("a")])).find((picture) => picture.id === "ledger")!;
    expect(isMissing(ledger) && ledger.missing).toContain("no row has phases");
  });
});

describe("CSV", () => {
  it("keeps full numbers, quotes text and defuses formulas", () => {
    const table = {
      columns: [{ name: "row" }, { name: "time", unit: "s" }],
      rows: [
        ['a "b", c', 0.1 + 0.2],
        ["=1+1", null],
      ],
    };
    expect(csvOf(table)).toBe('row,time (s)\r\n"a ""b"", c",0.30000000000000004\r\n\'=1+1,\r\n');
  });
});
