// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { facts, text, texts } from "../../src/data/json";
import { machineOf, readResultFile } from "../../src/data/results";
import { csvOf } from "../../src/data/table";
import { bytesPerSecond, figure, quantity, seconds, shortened } from "../../src/data/units";

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
