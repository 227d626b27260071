// SPDX-License-Identifier: Apache-2.0
// Chromium, and a page of the report in it as its reader has it: opened from disk.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, inject } from "vitest";

export const directory = inject("directory");
export const screenshots = process.env["DIFFBENCH_SCREENSHOTS"] ?? join(directory, "screenshots");
mkdirSync(screenshots, { recursive: true });
let browser: Browser;
beforeAll(async () => {
  browser = await chromium.connect(inject("browser"));
});
afterAll(() => browser?.close());

interface How {
  width?: number;
  height?: number;
  javaScript?: boolean;
  /** Runs in the page before its own script. */
  before?: () => void;
}

/** A page with everything that must not happen on it. */
export async function openPage(file: string, how: How = {}) {
  const context = await browser.newContext({
    viewport: { width: how.width ?? 1200, height: how.height ?? 900 },
    colorScheme: "light",
    acceptDownloads: true,
    javaScriptEnabled: how.javaScript ?? true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000); // a busy machine is no failure
  if (how.before) await page.addInitScript(how.before);
  const troubles: string[] = [];
  const address = `file://${join(directory, file)}`;
  page.on("console", (message) => troubles.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => troubles.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => {
    if (request.url() !== address && !/^(data|blob):/.test(request.url()))
      troubles.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  return { page, troubles };
}

/** One with charts, the first of them drawn. */
export async function open(file: string, how: How = {}) {
  const opened = await openPage(file, how);
  await opened.page.locator("main #live").waitFor();
  // On a phone the list of many files alone is longer than the screen.
  await opened.page.locator(".chart").first().scrollIntoViewIfNeeded();
  await opened.page.locator("[data-drawn]").first().waitFor();
  return opened;
}

/** Opens all files and cards of the page, or these. */
export async function unfold(part: Page | Locator): Promise<void> {
  const open = (parts: Locator) =>
    parts.evaluateAll(async (all) => {
      for (const each of all) if (each instanceof HTMLDetailsElement) each.open = true;
      // What is in them is made when the browser tells of it.
      await new Promise((done) => setTimeout(done));
    });
  if (!("goto" in part)) return open(part);
  await open(part.locator("details.result"));
  await open(part.locator("details.card"));
}

/** How many screens a page is long: printed, so that one sees how far it is from its bar. */
export async function screensOf(page: Page): Promise<number> {
  const screens = await page.evaluate(() => document.documentElement.scrollHeight / innerHeight);
  console.log(`${screens.toFixed(1)} screens`);
  return screens;
}

/** What makes a page wider than its window: nothing should. */
export const tooWide = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    document.documentElement.scrollWidth <= innerWidth
      ? []
      : [...document.querySelectorAll("body *")]
          .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
          .map((each) => each.cloneNode(false) as Element)
          .slice(-3)
          .map(({ outerHTML }) => outerHTML),
  );

/** Opens all cards and goes through them as a reader does: charts are drawn when they come into sight. */
export async function drawAll(page: Page): Promise<void> {
  await unfold(page);
  await page.evaluate(async () => {
    let chart: Element | null;
    while ((chart = document.querySelector(".chart:not([data-drawn])")) !== null) {
      chart.scrollIntoView({ behavior: "instant" });
      await new Promise(requestAnimationFrame);
    }
  });
}

export const cardOf = (page: Page, file: string, picture: string): Locator =>
  page.locator(`[data-file="${file}"] [data-picture="${picture}"]`);

/** All cells of a card's table: full numbers, and text. */
export async function tableOf(card: Locator): Promise<(number | string)[][]> {
  await unfold(card.page().locator("details.result"));
  await unfold(card);
  // Without a click: what lies above it may still grow. A picture that is a table has no such part.
  await card.locator("summary", { hasText: /^Table/ }).evaluateAll((summaries) => {
    for (const each of summaries) (each.parentElement as HTMLDetailsElement).open = true;
  });
  await card.locator("table").waitFor();
  return card
    .locator("tbody tr")
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.querySelectorAll("td")].map((cell) =>
          cell.dataset["value"] === undefined
            ? (cell.textContent ?? "")
            : Number(cell.dataset["value"]),
        ),
      ),
    );
}

/** What a click on that button saves. */
export async function saved(page: Page, button: Locator): Promise<Buffer> {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const path = join(directory, `saved-${Math.random()}`);
  await download.saveAs(path); // its own path is the browser's
  return readFileSync(path);
}
