// Chromium, and a page of the report in it as its reader has it: opened from disk.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, inject } from "vitest";

export const directory = inject("directory");
let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({
    executablePath: process.env["DIFFBENCH_CHROMIUM"] ?? "/usr/bin/chromium",
    // Its sandbox refuses to run as root; without a GPU, emulating one for it costs time.
    args: ["--no-sandbox", "--disable-gpu"],
  });
});
afterAll(() => browser?.close());

/** A page with everything that must not happen on it. */
export async function open(file: string, { width = 1200 } = {}) {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: "light",
    acceptDownloads: true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000); // a busy machine is no failure
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
  // On a phone the list of many files alone is longer than the screen.
  await page.locator(".chart").first().scrollIntoViewIfNeeded();
  await page.locator("[data-drawn]").first().waitFor();
  return { page, troubles };
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
