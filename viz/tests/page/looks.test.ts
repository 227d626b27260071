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

/** It does not wait for what is below it. No timing decides a test: the bar, 0.6 s, is for whoever reads this. */
async function firstChartIsNotLast(page: Page, file: string): Promise<void> {
  const [first, built] = await page.evaluate(() =>
    ["first-chart", "built"].map((name) => performance.getEntriesByName(name)[0]!.startTime),
  );
  expect(first).toBeLessThan(built!);
  const size = (statSync(join(directory, file)).size / 1e6).toFixed(1);
  console.log(`first chart after ${first!.toFixed(0)} ms, page of ${size} MB`);
}

it("has fifty files on twenty-five screens, and is small", async () => {
  const sizeOf = (file: string) => statSync(join(directory, file)).size;
  const data = kinds.reduce((sum, kind) => sum + sizeOf(`${kind}.json`), 0);
  expect(sizeOf("report.html")).toBeLessThanOrEqual(0.9e6 + data);
  const names = Array.from({ length: 50 }, (_each, index) => `fifty-${index}.json`);
  names.forEach((name, index) => {
    const file = readJson(directory, `${kinds[index % kinds.length]}.json`);
    file.context.date = `2026-01-${10 + Math.floor(index / kinds.length)}T12:00:00+0000`;
    writeFileSync(join(directory, name), JSON.stringify(file));
  });
  diffbench(directory, "report", ...names, "-o fifty.html");
  expect(sizeOf("fifty.html")).toBeLessThanOrEqual(4e6);
  const { page, troubles } = await open("fifty.html", { width: 1440 });
  await firstChartIsNotLast(page, "fifty.html");
  expect(await screensOf(page)).toBeLessThanOrEqual(25);
  expect(await page.locator("nav a").count()).toBeGreaterThan(50);
  expect(troubles).toEqual([]);
  await page.context().close();
});

it("goes to what its address names, though that is built last", async () => {
  const { page, troubles } = await open("report.html");
  const address = page.url();
  await page.goto("about:blank");
  await page.goto(`${address}#live`);
  await page.locator("main[data-built]").waitFor();
  const top = await page.locator("#live").evaluate((card) => card.getBoundingClientRect().top);
  expect(top).toBeLessThan(900); // the height of the window
  expect(troubles).toEqual([]);
  await page.context().close();
});

/** Charts of hardly any colours: one that failed is all surface. */
const blankCharts = (page: Page) =>
  page.locator(".chart canvas").evaluateAll(
    (canvases) =>
      (canvases as HTMLCanvasElement[]).filter((canvas) => {
        const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
        const colours = new Set<number>();
        return new Uint32Array(data.buffer).every((pixel) => colours.add(pixel).size <= 3);
      }).length,
  );

async function drawsEveryPicture(page: Page, screenshot: string): Promise<void> {
  await drawAll(page);
  const drawn = await page.locator("article .card[data-picture]").count();
  const files = kinds.map((kind) => readResultFile(readJson(directory, `${kind}.json`)));
  const wanted = files.reduce((sum, file) => sum + picturesOf(file).length, 0);
  expect(drawn).toBeGreaterThanOrEqual(wanted); // and those of a class
  expect(await page.locator("#story").count()).toBe(1);
  expect(await tooWide(page)).toEqual([]);
  await page.screenshot({ path: join(screenshots, `${screenshot}.jpeg`), fullPage: true });
}

it("draws every picture on a desk, by day and by night, open to all readers", async () => {
  const { page, troubles } = await open("report.html", { width: 1440 });
  expect(await screensOf(page)).toBeLessThanOrEqual((12 / 19) * kinds.length); // 12 of 19 files
  expect(
    await page.locator("article").evaluateAll(
      (all) =>
        all.filter(
          (each) =>
            each.querySelector("details.card") !== null && // a profile has no picture
            each.querySelectorAll("details.card[open]").length !== 1,
        ).length,
    ),
  ).toBe(0);
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
    .locator(".chart canvas")
    .evaluateAll((canvases) => canvases.every((canvas) => canvas.clientWidth > 700));
  expect(grown).toBe(true);
  expect(troubles).toEqual([]);
  await page.context().close();
});

it("tells the story on the first screen of a phone", async () => {
  const { page } = await open("report.html", { width: 390, height: 844 });
  await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
  const top = async (part: string) => (await page.locator(`#story ${part}`).boundingBox())!.y;
  expect(await top("h2")).toBeLessThan(150);
  // The first bars are there, too, and not the sentence alone.
  expect(await top(".chart")).toBeLessThan(720);
  await page.locator("nav summary").click();
  expect(await page.locator("nav a").first().isVisible()).toBe(true);
  await page.context().close();
});

it("can be used with the keyboard alone, and printed", async () => {
  diffbench(directory, "report comparison.json -o one.html");
  const { page } = await open("one.html");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  const theme = () => page.evaluate(() => document.documentElement.dataset["theme"]);
  expect(await theme()).toBe("dark");
  const ladder = page.locator('[data-picture="bars-1"]');
  await ladder.locator(".chart").focus();
  await page.keyboard.press("ArrowRight");
  const first = await ladder.locator(".figures").textContent();
  expect(first).toContain("time/iter ");
  await page.keyboard.press("ArrowRight");
  expect(await ladder.locator(".figures").textContent()).not.toBe(first);
  await page.keyboard.press("Escape");
  expect(await ladder.locator(".figures").textContent()).toBe("");
  // What the reader chose stays when the page is loaded again.
  const another = page.locator('article [data-picture="stack-2"]');
  await another.locator("> summary").press("Enter");
  await another.locator(".chart").waitFor();
  await page.reload();
  await page.locator("main[data-built]").waitFor();
  expect(await theme()).toBe("dark");
  expect(await another.getAttribute("open")).not.toBeNull();
  await page.emulateMedia({ media: "print" });
  const dead = page.locator("button:visible:not(th button), input:visible, select:visible");
  expect(await dead.count()).toBe(0);
  const paper = await page.pdf({ path: join(screenshots, "paper.pdf") });
  expect(paper.subarray(0, 5).toString()).toBe("%PDF-");
  expect(await page.locator(".chart:not([data-drawn])").count()).toBe(0);
  await page.context().close();
});
