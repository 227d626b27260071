// SPDX-License-Identifier: Apache-2.0
// The page as a reader has it: on every width, light and dark, by keyboard, on paper.
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { violations } from "./access";
import { directory, drawAll, open, screenshots, screensOf, tooWide } from "./browser";
import { readResultFile } from "../../src/data/results";
import { picturesOf } from "../../src/pictures/catalogue";
import { diffbench, kinds, readJson } from "./result_files";

/** No timing decides a test: the bar, 0.6 s, is for whoever reads this. */
async function tellFirstChart(page: Page, file: string): Promise<void> {
  const first = await page.evaluate(
    () => performance.getEntriesByName("first-chart")[0]!.startTime,
  );
  console.log(
    `first chart after ${first.toFixed(0)} ms, page of ${(sizeOf(file) / 1e6).toFixed(1)} MB`,
  );
}

const sizeOf = (file: string) => statSync(join(directory, file)).size;

/** Pages of so many files: of all kinds, and all of one. */
it.each([
  ["of all kinds", kinds],
  ["of one kind", ["comparison"] as const],
])("has thirty-three files, %s, in 6000 pixels, and is small", async (name, kinds) => {
  const names = Array.from({ length: 33 }, (_each, index) => `many-${kinds.length}-${index}.json`);
  names.forEach((name, index) => {
    const file = readJson(directory, `${kinds[index % kinds.length]}.json`);
    file.context.date = `2026-01-${10 + Math.floor(index / kinds.length)}T12:00:00+0000`;
    writeFileSync(join(directory, name), JSON.stringify(file));
  });
  const page = await pageOf(`many-${kinds.length}.html`, names);
  expect(sizeOf(`many-${kinds.length}.html`), name).toBeLessThanOrEqual(4e6);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  console.log(`33 files ${name}: ${height} pixels`);
  expect(height, name).toBeLessThanOrEqual(6000);
  // Each is reached by one press, with its first picture.
  expect(await page.locator("[data-file]").count()).toBe(33);
  const closed = page.locator("details.result").last();
  await closed.locator("> summary").press("Enter");
  await closed.locator("details.card[open] .chart").first().waitFor();
  await page.context().close();
});

async function pageOf(name: string, files: string[]): Promise<Page> {
  diffbench(directory, "report", ...files, "-o", name);
  const { page, troubles } = await open(name, { width: 1280 });
  await tellFirstChart(page, name);
  expect(troubles).toEqual([]);
  return page;
}

it("goes to what its address names", async () => {
  const { page, troubles } = await open("report.html");
  const address = page.url();
  await page.goto("about:blank");
  await page.goto(`${address}#live`);
  await page.locator("main #live").waitFor();
  const top = await page.locator("#live").evaluate((card) => card.getBoundingClientRect().top);
  expect(top).toBeLessThan(900); // the height of the window
  expect(troubles).toEqual([]);
  await page.context().close();
});

/** Charts of hardly any shapes: one that failed has none. */
const blankCharts = (page: Page) =>
  page
    .locator(".chart")
    .evaluateAll(
      (charts) =>
        charts.filter((chart) => chart.querySelectorAll("svg path, svg text").length < 5).length,
    );

async function drawsEveryPicture(page: Page, screenshot: string): Promise<void> {
  await drawAll(page);
  const drawn = await page.locator(".card[data-picture]").count();
  const files = kinds.map((kind) => readResultFile(readJson(directory, `${kind}.json`)));
  const wanted = files.reduce((sum, file) => sum + picturesOf(file).length, 0);
  expect(drawn).toBeGreaterThanOrEqual(wanted); // and those of a class
  expect(await page.locator(".story").count()).toBe(1);
  expect(await tooWide(page)).toEqual([]);
  await page.screenshot({ path: join(screenshots, `${screenshot}.jpeg`), fullPage: true });
}

it("draws every picture on a desk, by day and by night, open to all readers", async () => {
  const { page, troubles } = await open("report.html", { width: 1440 });
  const data = kinds.reduce((sum, kind) => sum + sizeOf(`${kind}.json`), 0);
  expect(sizeOf("report.html")).toBeLessThanOrEqual(0.9e6 + data);
  expect(await screensOf(page)).toBeLessThanOrEqual((12 / 19) * kinds.length); // 12 of 19 files
  await drawsEveryPicture(page, "desk");
  expect(await blankCharts(page)).toBe(0);
  expect(await violations(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await drawsEveryPicture(page, "dark");
  expect(await violations(page, ["color-contrast"])).toEqual([]);
  expect(troubles).toEqual([]);
  await page.context().close();
});

it("draws every picture on a phone, and when that becomes a projector", async () => {
  const { page, troubles } = await open("report.html", { width: 390, height: 844 });
  expect(await screensOf(page)).toBeLessThanOrEqual((20 / 19) * kinds.length); // 20 of 19 files
  await drawsEveryPicture(page, "phone");
  expect(await blankCharts(page)).toBe(0);
  await page.setViewportSize({ width: 1920, height: 1080 });
  await drawsEveryPicture(page, "projector");
  const grown = await page
    .locator(".chart svg")
    .evaluateAll((charts) => charts.every((chart) => chart.clientWidth > 700));
  expect(grown).toBe(true);
  expect(troubles).toEqual([]);
  await page.context().close();
});

it("can be used with the keyboard alone, and printed", async () => {
  diffbench(directory, "report comparison.json -o one.html");
  const { page } = await open("one.html");
  const ladder = page.locator('[data-picture="bars-1"]');
  await ladder.locator(".chart").focus();
  await page.keyboard.press("ArrowRight");
  const first = await ladder.locator(".figures").textContent();
  expect(first).toContain("time/iter ");
  await page.keyboard.press("ArrowRight");
  expect(await ladder.locator(".figures").textContent()).not.toBe(first);
  await page.keyboard.press("Escape");
  expect(await ladder.locator(".figures").textContent()).toBe("");
  const another = page.locator('[data-picture="stack-2"]');
  await another.locator("> summary").press("Enter");
  await another.locator(".chart").waitFor();
  await page.emulateMedia({ media: "print" });
  const dead = page.locator("button:visible:not(th button), input:visible, select:visible");
  expect(await dead.count()).toBe(0);
  const paper = await page.pdf({ path: join(screenshots, "paper.pdf") });
  expect(paper.subarray(0, 5).toString()).toBe("%PDF-");
  expect(await page.locator(".chart:not([data-drawn])").count()).toBe(0);
  await page.context().close();
});
