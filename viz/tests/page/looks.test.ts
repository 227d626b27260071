// The page as a reader has it: on every width, light and dark, by keyboard, on paper.
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { directory, drawAll, open } from "./browser";
import { diffbench, kinds, readJson } from "./result_files";

const screenshots = process.env["DIFFBENCH_SCREENSHOTS"] ?? "screenshots";
mkdirSync(screenshots, { recursive: true });

const pictures = [
  "advice",
  "amortisation",
  "bandwidth-host",
  "compared",
  "crossover",
  "epochs",
  "field",
  "ladder",
  "ladder",
  "latency",
  "learning",
  "ledger",
  "ledger",
  "pitfalls",
  "profile",
  "roofline",
  "scaling",
  "scaling",
  "selftest",
  "sizes",
  "sizes",
  "throughput",
  "timeline",
  "timeline",
];

it("is small, and quick with 5 MB of results", async () => {
  const sizeOf = (file: string) => statSync(join(directory, file)).size;
  const data = kinds.reduce((sum, kind) => sum + sizeOf(`${kind}.json`), 0);
  expect(sizeOf("report.html")).toBeLessThanOrEqual(2e6 + data);
  const names = Array.from({ length: 12 }, (_each, index) => `copy-${index}.json`);
  const comparison = readJson(directory, "comparison.json");
  const { results } = comparison.diffbench;
  while (JSON.stringify(results).length < 4.4e5) results.push(...results.slice(0, 13));
  for (const name of names) writeFileSync(join(directory, name), JSON.stringify(comparison));
  diffbench(directory, "report", ...names, "-o five.html");
  const { page } = await open("five.html");
  const first = await page.evaluate(
    () => performance.getEntriesByName("first-chart")[0]!.startTime,
  );
  const size = (sizeOf("five.html") / 1e6).toFixed(1);
  // No timing decides a test: the bar, 1 s, is for whoever reads this.
  console.log(`first chart after ${first.toFixed(0)} ms, page of ${size} MB`);
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

const clickAll = (buttons: Locator) =>
  buttons.evaluateAll((elements) => elements.forEach((each) => (each as HTMLElement).click()));

/** Serious violations of accessibility: of those rules, or of all. */
async function violations(page: Page, rules?: string[]): Promise<string[]> {
  await clickAll(page.locator("summary", { hasText: /^Table/ }));
  await page.evaluate(axe.source);
  return page.evaluate(async (only) => {
    const { axe } = window as unknown as { axe: typeof import("axe-core") };
    const found = await axe.run(document, {
      resultTypes: ["violations"],
      ...(only ? { runOnly: only } : {}),
    });
    return found.violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  }, rules);
}

// Two widths have all layouts of the charts; dark differs from light in nothing but colours.
it.each([
  { name: "desk", charts: true, accessible: { rules: undefined } },
  { name: "dark", dark: true, accessible: { rules: ["color-contrast"] } },
  { name: "phone", width: 390, charts: true },
  { name: "projector", width: 1920 },
])(
  "draws every picture without a word on the console or a request: $name",
  async ({ name, charts, accessible, ...options }) => {
    const { page, troubles } = await open("report.html", options);
    await drawAll(page);
    const drawn = await page
      .locator(".card:not(.missing)[data-picture]")
      .evaluateAll((cards) => cards.map((card) => card.getAttribute("data-picture")));
    expect(drawn.sort()).toEqual(pictures);
    await page.screenshot({ path: join(screenshots, `${name}.jpeg`), fullPage: true });
    if (charts) {
      expect(await blankCharts(page)).toBe(0);
      await clickAll(page.locator(".variants button"));
    }
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
    ).toBeLessThanOrEqual(0);
    if (accessible) expect(await violations(page, accessible.rules)).toEqual([]);
    expect(troubles).toEqual([]);
    await page.context().close();
  },
);

it("can be used with the keyboard alone, and printed", async () => {
  const { page } = await open("report.html");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
  await page.locator("#field canvas").focus();
  const before = await page.locator(".read-out").textContent();
  await page.keyboard.press("ArrowLeft");
  expect(await page.locator(".read-out").textContent()).not.toBe(before);
  const paper = await page.pdf({ path: join(screenshots, "paper.pdf") });
  expect(paper.subarray(0, 5).toString()).toBe("%PDF-");
  await page.context().close();
});
