// Chromium, and a page of the report in it as its reader has it: opened from disk.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, inject } from "vitest";

export const directory = inject("directory");
export const screenshots = process.env["DIFFBENCH_SCREENSHOTS"] ?? join(directory, "screenshots");
mkdirSync(screenshots, { recursive: true });
// Its sandbox refuses to run as root; without a GPU, emulating one for it costs time.
export const launch = (...more: string[]) =>
  chromium.launch({
    executablePath: process.env["DIFFBENCH_CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", ...more],
  });
let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

interface How {
  width?: number;
  in?: Browser;
  /** Runs in the page before its own script. */
  before?: () => void;
}

/** A page with everything that must not happen on it. */
export async function openPage(file: string, how: How = {}) {
  const context = await (how.in ?? browser).newContext({
    viewport: { width: how.width ?? 1200, height: 900 },
    colorScheme: "light",
    acceptDownloads: true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(240_000); // a busy machine is no failure
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
  await opened.page.locator("main[data-built]").waitFor();
  // On a phone the list of many files alone is longer than the screen.
  await opened.page.locator(".chart").first().scrollIntoViewIfNeeded();
  await opened.page.locator("[data-drawn]").first().waitFor();
  return opened;
}

/** Goes through the page as a reader does: charts are drawn when they come into sight. */
export async function drawAll(page: Page): Promise<void> {
  await page.evaluate(async () => {
    let chart: Element | null;
    while ((chart = document.querySelector(".chart:not([data-drawn])")) !== null) {
      chart.scrollIntoView({ behavior: "instant" });
      await new Promise(requestAnimationFrame);
    }
  });
}

export const cardOf = (page: Page, file: string, picture: string): Locator =>
  page
    .locator("article", { has: page.locator("h2", { hasText: `: ${file}` }) })
    .locator(`[data-picture="${picture}"]`);

/** All cells of a card's table: full numbers, and text. */
export async function tableOf(card: Locator): Promise<(number | string)[][]> {
  const summary = card.locator("summary", { hasText: /^Table/ });
  if ((await card.locator("table").count()) === 0) await summary.click();
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
  return readFileSync(await download.path());
}
