// SPDX-License-Identifier: Apache-2.0
// Pages of each look on every width: text is not cut, and what is read takes most of the window. The browser is
// asked where things are; no pictures are compared.
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { directory, openPage, tooWide, unfold } from "./browser";
import { diffbench, type Kind } from "./result_files";
import { writeSheets } from "../class_sheets";

const widths = [390, 800, 1280, 1600];
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
      const { left, right, width, height } = range.getBoundingClientRect();
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

async function fits(file: string): Promise<void> {
  const { page, troubles } = await openPage(file);
  await page.locator("main").waitFor();
  if (file !== "live-layout.html") await page.locator("main[data-built]").waitFor();
  await unfold(page);
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(() => new Promise(requestAnimationFrame));
    const where = `${file} at ${width} px`;
    expect(await share(page), where).toBeGreaterThanOrEqual(leastShare);
    expect(await tooWide(page), where).toEqual([]);
    expect(await cutTexts(page), where).toEqual([]);
  }
  expect(troubles).toEqual([]);
  await page.context().close();
}

it("fits on all widths: live", async () => {
  diffbench(directory, "live -o live-layout.html");
  await fits("live-layout.html");
});

it("fits on all widths: a class", async () => {
  diffbench(directory, "report", ...writeSheets(directory, 5), "-o layout-class.html");
  await fits("layout-class.html");
});

const looks: Kind[] = ["comparison", "sweep", "advise", "depth", "selftest"];
it.each(looks)("fits on all widths: %s", async (kind) => {
  diffbench(directory, `report ${kind}.json -o layout-${kind}.html`);
  await fits(`layout-${kind}.html`);
});
