// SPDX-License-Identifier: Apache-2.0
// Pages of each look on every width: text is not cut, and what is read takes most of the window. The browser is
// asked where things are; no pictures are compared.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { violations } from "./access";
import { directory, drawAll, open, openPage, screenshots, tooWide, unfold } from "./browser";
import { diffbench, kinds, readJson } from "./result_files";
import { writeSheets } from "../class_sheets";

const widths = [320, 390, 768, 1280];
const leastShare = 0.6;

/** Texts that end outside of the window, or of an element that hides what is beyond it and cannot be scrolled. */
const cutTexts = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const cut: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const parent = node.parentElement!;
      if (node.textContent!.trim() === "" || !parent.checkVisibility({ visibilityProperty: true }))
        continue;
      range.selectNodeContents(node);
      // A range does not know that a text of a chart is turned.
      const box = parent.closest("svg") ? parent : range;
      const { left, right, width, height } = box.getBoundingClientRect();
      if (width === 0 || height === 0) continue;
      let [from, to] = [-1, innerWidth + 1];
      for (let each: Element | null = parent; each !== null; each = each.parentElement) {
        const { overflowX, textOverflow } = getComputedStyle(each);
        // An ellipsis says that there is more.
        if (overflowX === "auto" || overflowX === "scroll" || textOverflow === "ellipsis") {
          [from, to] = [-Infinity, Infinity];
          break;
        }
        if (overflowX === "hidden" || overflowX === "clip") {
          const box = each.getBoundingClientRect();
          [from, to] = [Math.max(from, box.left - 1), Math.min(to, box.right + 1)];
        }
      }
      // Of one pixel: it is for screen readers.
      if ((left < from || right > to) && to - from > 4)
        cut.push(node.textContent!.trim().slice(0, 60));
    }
    return cut;
  });

/** The part of the window's width that the cards, or what stands in their place, take together. */
const share = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const boxes = [...document.querySelectorAll("main > *, main .card")]
      .map((each) => each.getBoundingClientRect())
      .filter(({ width, height }) => width > 0 && height > 0);
    const left = Math.min(...boxes.map((box) => box.left));
    return (Math.max(...boxes.map((box) => box.right)) - left) / innerWidth;
  });

/** Texts of charts that lie over each other. */
const overlaps = (page: Page): Promise<string[]> =>
  page.locator(".chart svg").evaluateAll((charts) =>
    charts.flatMap((chart) => {
      const texts = [...chart.querySelectorAll("text")]
        .map((text) => ({ text: text.textContent!, box: text.getBoundingClientRect() }))
        .filter(({ box }) => box.width > 0);
      return texts.flatMap(({ text, box }, index) =>
        texts
          .slice(0, index)
          .filter(
            (other) =>
              Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left) > 2 &&
              Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top) > 4,
          )
          .map((other) => `${other.text} | ${text}`),
      );
    }),
  );

/** What is pressed or followed: at least 24 pixels each way (WCAG 2.2, 2.5.8), but in a line of text. */
const smallTargets = (page: Page): Promise<string[]> =>
  page.locator("nav a, summary, button, select, input").evaluateAll((targets) =>
    targets.flatMap((target) => {
      const { width, height } = target.getBoundingClientRect();
      return width > 0 && (width < 24 || height < 24)
        ? [`${target.textContent} ${width}x${height}`]
        : [];
    }),
  );

async function fits(file: string): Promise<void> {
  const { page, troubles } = await openPage(file);
  await page.locator("main").waitFor();
  if (file !== "live-layout.html") await page.locator("main #live").waitFor();
  await unfold(page);
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await drawAll(page);
    await page.evaluate(() => new Promise(requestAnimationFrame));
    const where = `${file} at ${width} px`;
    expect(await share(page), where).toBeGreaterThanOrEqual(leastShare);
    expect(await tooWide(page), where).toEqual([]);
    expect(await cutTexts(page), where).toEqual([]);
    expect(await overlaps(page), where).toEqual([]);
    expect(await smallTargets(page), where).toEqual([]);
    await page.screenshot({
      path: join(screenshots, `${file.replace(".html", "")}-${width}.jpeg`),
      fullPage: true,
    });
  }
  expect(await violations(page), file).toEqual([]);
  expect(troubles).toEqual([]);
  await page.context().close();
}

it("fits on all widths: live", async () => {
  diffbench(directory, "live -o live-layout.html");
  await fits("live-layout.html");
});

it("fits on all widths: a lesson, which is the page", async () => {
  const lesson = ["lesson", "3", "--quick", "--no-quiz", "--out"];
  diffbench(directory, ...lesson, "taken");
  writeFileSync(join(directory, "taken/guesses.txt"), "3.1 700000\n");
  diffbench(directory, ...lesson, "taken");
  const { page, troubles } = await open("taken/page.html");
  expect(await page.title()).toMatch(/^Lesson 3: doubling nets · /);
  const first = page.locator(".question").first();
  for (const words of [
    "3.1 How many parameters",
    "Guess: 700000: ",
    "times too high",
    "230 parameters (reasoned)",
  ])
    expect(await first.textContent()).toContain(words);
  expect(await page.locator(".step").count()).toBe(2);
  expect(await page.locator(".step .chart").count()).toBe(2);
  expect(troubles).toEqual([]);
  await page.context().close();
  await fits("taken/page.html");
});

it("fits on all widths: a class", async () => {
  diffbench(directory, "report", ...writeSheets(directory, 5), "-o layout-class.html");
  await fits("layout-class.html");
});

it("fits on all widths: marks, wherever they stand", async () => {
  const file = readJson(directory, "sweep.json");
  for (const picture of file.diffbench.pictures)
    picture.marks = [4.01, 4.99, 8, 15.9, 17, 30, 63].map((at) => ({
      at,
      low: at,
      high: at,
      text: `fused wins from ${at} (at most 6.36)`,
    }));
  writeFileSync(join(directory, "marks.json"), JSON.stringify(file));
  diffbench(directory, "report marks.json -o layout-marks.html");
  await fits("layout-marks.html");
});

it.each(kinds)("fits on all widths: %s", async (kind) => {
  diffbench(directory, `report ${kind}.json -o layout-${kind}.html`);
  await fits(`layout-${kind}.html`);
});

/** What stands on the first screen. */
async function firstScreen(file: string, width: number) {
  const { page, troubles } = await open(file, { width, height: 844 });
  await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
  const top = (part: string) =>
    page
      .locator(part)
      .first()
      .evaluate((each) => each.getBoundingClientRect().top);
  const figures = await page.locator(".story .lead strong").evaluateAll((all) =>
    all.map((each) => ({
      text: each.textContent!,
      times:
        parseFloat(getComputedStyle(each).fontSize) /
        parseFloat(getComputedStyle(document.body).fontSize),
    })),
  );
  const seen = {
    title: await page.title(),
    heading: await page.locator("h1").textContent(),
    lead: (await page.locator(".story .lead").allTextContents()).join(" "),
    figures,
    chart: await top(".story .chart"),
    landmarks: await page.locator("header, nav, main, footer").count(),
  };
  expect(troubles).toEqual([]);
  await page.context().close();
  return seen;
}

it.each(widths)("begins with a sentence, its figures and a picture, at %d px", async (width) => {
  // What a busy machine lets the program say is longer or shorter, or has no figures at all.
  const residency = readJson(directory, "residency.json");
  const { context, diffbench: own } = residency;
  own.sentence =
    "Of a GPU nothing is measured here. Within this host: simd takes 685 ns a step when its field goes to the " +
    "host and back every step, 8.64 times as long as when the field stays (79.3 ns); fused takes 113 ns: simd is " +
    "faster than fused from 12.8 steps between two round trips.";
  writeFileSync(join(directory, "first.json"), JSON.stringify(residency));
  diffbench(directory, "report first.json -o first.html");
  for (const file of ["first.html", "layout-assumed.html"]) {
    if (file === "layout-assumed.html") diffbench(directory, `report assumed.json -o ${file}`);
    const seen = await firstScreen(file, width);
    expect(seen.title).toBe(seen.heading);
    for (const part of [context.cpu_model, context.date.slice(0, 10)])
      expect(seen.title).toContain(part);
    expect(seen.figures.length).toBeGreaterThanOrEqual(1);
    expect(seen.figures.length).toBeLessThanOrEqual(3);
    for (const { text, times } of seen.figures) {
      expect(times, text).toBeGreaterThan(1.6);
      expect(seen.lead).toContain(text);
    }
    expect(seen.lead.length).toBeLessThan(450);
    expect(seen.chart, file).toBeLessThan(width < 390 ? 600 : 500);
    expect(seen.landmarks).toBe(4);
    if (file === "first.html") expect(own.sentence).toContain(seen.lead.slice(0, -1));
  }
});

it("has its sentences and tables without its script, as a mail's preview or a strict viewer shows it", async () => {
  diffbench(directory, "report residency.json assumed.json -o text.html");
  const { diffbench: own } = readJson(directory, "residency.json");
  for (const width of widths) {
    const { page } = await openPage("text.html", { width, javaScript: false });
    const text = await page.locator("main").innerText();
    for (const line of own.sentence.split("\n")) expect(text).toContain(line);
    for (const row of own.residency.results) expect(text).toContain(row.backend);
    expect(await page.locator("main table").count()).toBe(2);
    expect(await tooWide(page)).toEqual([]);
    await page.screenshot({ path: join(screenshots, `text-${width}.jpeg`), fullPage: true });
    await page.context().close();
  }
});

it("concludes beside other programs as ever, and says how far that is off", async () => {
  const file = readJson(directory, "comparison.json");
  const doubt =
    "That was measured beside other programs: each time would be 0.5 to 1.5 times as long.";
  file.diffbench.disturbed = true;
  file.diffbench.width = { low: 0.5, high: 1.5 };
  file.diffbench.sentence = `One row is 12 times as fast as another.\n${doubt}`;
  writeFileSync(join(directory, "width.json"), JSON.stringify(file));
  diffbench(directory, "report width.json -o width.html");
  const { page } = await open("width.html", { width: 390 });
  expect(await page.locator(".lead strong").allInnerTexts()).toEqual(["12 times"]);
  expect(await page.locator("article .warning").allInnerTexts()).toEqual([doubt]);
  await page.context().close();
});

it("says once that nothing is concluded, and what would help", async () => {
  for (const kind of ["comparison", "residency"]) {
    const file = readJson(directory, `${kind}.json`);
    file.diffbench.disturbed = true;
    file.diffbench.width = null;
    file.diffbench.sentence = "No conclusion: other programs were running.";
    writeFileSync(join(directory, `disturbed-${kind}.json`), JSON.stringify(file));
  }
  const disturbed = "disturbed-comparison.json disturbed-residency.json";
  for (const [files, names] of [
    [disturbed, 0],
    [`${disturbed} transfer.json`, 2],
  ] as const) {
    diffbench(directory, `report ${files} -o disturbed.html`);
    const { page } = await open("disturbed.html", { width: 390 });
    await unfold(page);
    const said = (await page.locator("body").innerText()).match(/No conclusion.*/g)!;
    expect(said.length).toBe(1);
    expect(said[0]).toContain("Measure again when nothing else runs.");
    expect(said[0]!.match(/disturbed-\w+\.json/g)?.length ?? 0).toBe(names);
    await page.context().close();
  }
});
