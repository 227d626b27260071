// SPDX-License-Identifier: Apache-2.0
// Files that would hurt: hostile strings, missing parts, very many rows.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cardOf, directory, drawAll, open, tableOf, tooWide } from "./browser";
import { diffbench, readJson } from "./result_files";

describe("bad and large files", () => {
  const write = (name: string, result: unknown) =>
    writeFileSync(join(directory, name), JSON.stringify(result));

  it("shows a planted script as text and keeps two machines apart", async () => {
    const hostile = readJson(directory, "comparison.json");
    const name = '</script><script>document.title="taken"</script><img src=x onerror=alert(1)>';
    hostile.diffbench.results[0].backend = name;
    hostile.context.cpu_model = name;
    write("hostile.json", hostile);
    diffbench(directory, "report hostile.json comparison.json -o hostile.html");
    const { page, troubles } = await open("hostile.html");
    await drawAll(page);
    expect((await tableOf(cardOf(page, "hostile.json", "bars-1"))).map((row) => row[0])).toContain(
      name,
    );
    // The middle of the picture is a row: its tooltip has figures, and names as they are.
    const chart = cardOf(page, "hostile.json", "bars-1").locator(".chart");
    await chart.hover();
    await chart.locator("div", { hasText: "time/iter" }).last().waitFor();
    expect(await page.locator(".chart img, .chart script").count()).toBe(0);
    expect(await page.title()).toMatch(/^Comparison, 2 files · 2 machines · \d{4}-\d\d-\d\d$/);
    expect(await page.locator("main .machine-name").allTextContents()).toEqual([
      expect.stringContaining("…"),
      expect.stringContaining(readJson(directory, "comparison.json").context.cpu_model),
    ]);
    expect(await page.locator("main > .warning").textContent()).toContain("2 machines");
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  it("draws what a file of an older program has, which does not say how", async () => {
    const old = readJson(directory, "comparison.json");
    for (const key of ["columns", "pictures", "sentence"]) delete old.diffbench[key];
    for (const row of old.diffbench.results) {
      delete row.phases;
      delete row.end_to_end;
    }
    write("old.json", old);
    diffbench(directory, "report old.json -o old.html");
    const { page, troubles } = await open("old.html");
    const timed = old.diffbench.results.filter((row: any) => row.seconds_per_iteration !== null);
    const shown = await tableOf(page.locator("article .card"));
    for (const { backend, seconds_per_iteration } of timed)
      expect(shown.find((row) => row[0] === backend)).toContain(seconds_per_iteration);
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  it("stays usable with 10 000 rows", async () => {
    const many = readJson(directory, "comparison.json");
    const longest = "x".repeat(5000);
    const row = many.diffbench.results.find(
      (each: { backend: string }) => each.backend === "fused",
    );
    many.diffbench.results = Array.from({ length: 10_000 }, (_each, index) => ({
      ...row,
      backend: index === 0 ? longest : `row ${index}`,
      samples_seconds: row.samples_seconds.slice(0, 3),
      seconds_per_iteration: row.seconds_per_iteration * (1 + index / 1000),
    }));
    write("many.json", many);
    diffbench(directory, "report many.json -o many.html");
    const { page, troubles } = await open("many.html");
    const ladder = cardOf(page, "many.json", "bars-1");
    expect((await tableOf(ladder)).length).toBe(100);
    await ladder.getByRole("searchbox").fill("row 9999");
    expect((await tableOf(ladder)).map((each) => each[0])).toEqual(["row 9999"]);

    await drawAll(page);
    expect(await tooWide(page)).toEqual([]);
    const left = ladder.locator(".not-drawn");
    expect(await left.locator("summary").textContent()).toContain("(9984)");
    expect(troubles).toEqual([]);
    await page.context().close();
  });
});
