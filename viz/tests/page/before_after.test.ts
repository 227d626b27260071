// SPDX-License-Identifier: Apache-2.0
// Runs before and after one another: the page says of them what `diffbench compare` says.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { cardOf, directory, drawAll, open, screenshots, tableOf, tooWide } from "./browser";
import { diffbench, readJson } from "./result_files";

interface Measured {
  backend: string;
  samples_seconds: number[];
  seconds_per_iteration: number | null;
}

/** The comparison again, at another time: rows take so many times as long, without any scatter. */
function written(name: string, date: string, factors: Record<string, number>, machine = {}): void {
  const result = readJson(directory, "comparison.json");
  Object.assign(result.context, { date: `${date}T12:00:00+0000`, ...machine });
  for (const row of result.diffbench.results as Measured[]) {
    const { samples_seconds: samples, seconds_per_iteration: median } = row;
    const factor = factors[row.backend] ?? 1;
    row.samples_seconds = samples.map(() => factor * samples[0]!);
    row.seconds_per_iteration = median && factor * median;
  }
  for (const entry of result.benchmarks) entry.cpu_time = entry.real_time * entry.threads;
  writeFileSync(join(directory, name), JSON.stringify(result));
}

const articleOf = (page: Page, title: string) =>
  page.locator("#before-after article", { has: page.locator("h2", { hasText: title }) });

it("shows verdicts of compare, and what differs", async () => {
  written("second.json", "2026-02-02", { simd: 2 });
  written("first.json", "2026-01-01", {});
  written("third.json", "2026-03-03", { simd: 0.5 }, { compiler: "Other 1.0" });
  const elsewhere = { cpu_model: "Another CPU", host_name: "elsewhere" };
  written("theirs.json", "2026-03-04", { fused: 0.25 }, elsewhere);
  // In another order than their dates.
  diffbench(directory, "report second.json first.json theirs.json third.json -o runs.html");
  const { page, troubles } = await open("runs.html");

  const chain = articleOf(page, "second.json → third.json");
  diffbench(directory, "compare second.json third.json --json verdicts.json");
  const { rows } = readJson(directory, "verdicts.json").diffbench.compare;
  const compared = rows.filter((row: { ratio: number | null }) => row.ratio !== null);
  const shown = await tableOf(chain.locator('[data-picture="bars-1"]'));
  for (const { row, verdict, ratio } of compared)
    expect(shown.find((cells) => cells[0] === row)).toEqual(
      expect.arrayContaining([row, verdict, ratio]),
    );
  expect((await tableOf(chain.locator('[data-picture="table-2"]'))).flat()).toContain("Other 1.0");
  const simd = compared.find((row: { row: string }) => row.row === "simd");
  expect(simd.verdict).toBe("FASTER");

  const two = articleOf(page, "third.json → theirs.json");
  expect(await two.locator(".warning").textContent()).toContain("Two machines");
  expect(await two.locator(".warning").textContent()).toContain("Another CPU");
  expect(await two.locator(".sentence").first().textContent()).toContain("FASTER: fused");
  expect(await two.locator("ul.notes").textContent()).toContain("may explain a ratio");

  await drawAll(page);
  await page.screenshot({ path: join(screenshots, "runs.jpeg"), fullPage: true });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 390, height: 900 });
  await drawAll(page);
  expect(await tooWide(page)).toEqual([]);
  await page.screenshot({ path: join(screenshots, "runs-phone-dark.jpeg"), fullPage: true });
  expect(troubles).toEqual([]);
  await page.context().close();
});

it("has no such section where nothing is comparable", async () => {
  written("other.json", "2026-01-02", {});
  const other = readJson(directory, "other.json");
  other.diffbench.problem.nx = 7;
  writeFileSync(join(directory, "other.json"), JSON.stringify(other));
  diffbench(directory, "report comparison.json other.json transfer.json -o unlike.html");
  const { page } = await open("unlike.html");
  expect(await page.locator("#before-after").count()).toBe(0);
  expect(await cardOf(page, "other.json", "bars-1").count()).toBe(1);
  await page.context().close();
});
