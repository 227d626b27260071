// SPDX-License-Identifier: Apache-2.0
// The figures on the page, and in what it saves, are those of the files.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readResultFile } from "../../src/data/results";
import { figuresOf } from "../../src/data/figures";
import { list, text } from "../../src/data/json";
import { picturesOf } from "../../src/pictures/catalogue";
import { light } from "../../src/pictures/palette";
import { checkPicture, pointsOf } from "../points";
import { cardOf, directory, open, saved, tableOf, unfold } from "./browser";
import { kinds, readJson } from "./result_files";

describe("its figures", () => {
  let page: Page;
  beforeAll(async () => {
    page = (await open("report.html")).page;
  });
  afterAll(() => page.context().close());

  it("are those of the file, of every verb", async () => {
    for (const kind of kinds) {
      const file = readResultFile({ file: `${kind}.json`, ...readJson(directory, `${kind}.json`) });
      const pictures = picturesOf(file);
      // Each that the file speaks of is drawn, but for a list that may be empty: no key leads nowhere.
      const titles = list(file.own, "pictures").map((each) => text(each, "title"));
      expect(titles.length, kind).toBeGreaterThan(0);
      expect(pictures.map(({ title }) => title)).toEqual(
        expect.arrayContaining(titles.filter((title) => title !== "What else differs")),
      );
      for (const picture of pictures) checkPicture(picture, `${kind}: ${picture.title}`);
      // What the first list says of itself stands in the page's table, in full numbers.
      const [figure] = figuresOf(file);
      const wanted = picturesOf(file)[0]!.table();
      const shown = await tableOf(cardOf(page, `${kind}.json`, pictures[0]!.id));
      expect(shown, `${kind}: ${figure!.title}`).toEqual(
        wanted.rows.slice(0, 100).map((row) => row.map((cell) => cell ?? "-")),
      );
    }
  });

  it("of a comparison are drawn whole: every row, and phases that add up", () => {
    const { results } = readJson(directory, "comparison.json").diffbench;
    const timed = results.filter((row: any) => row.seconds_per_iteration !== null);
    const file = readResultFile(readJson(directory, "comparison.json"));
    const [times, ledger] = picturesOf(file);
    const drawn = pointsOf(times!.option!(light, false, 0)).map(({ value }) => [value].flat()[0]);
    expect(drawn.sort()).toEqual(timed.map((row: any) => row.seconds_per_iteration).sort());
    const { columns, rows } = ledger!.table();
    const at = (key: string) => columns.findIndex(({ name }) => name === key);
    for (const row of rows.filter((each) => each[at("phases, wall")] != null)) {
      const parts = columns.flatMap(({ name }, index) =>
        /^phases, (?!wall)/.test(name) ? Number(row[index]) : [],
      );
      const wall = Number(row[at("phases, wall")]);
      expect(Math.abs(parts.reduce((sum, each) => sum + each) - wall) / wall).toBeLessThan(1e-6);
    }
  });

  it("can be saved: PNG, and CSV with full numbers", async () => {
    const card = cardOf(page, "comparison.json", "bars-1");
    const written = await page.evaluateHandle(() => {
      const texts: string[] = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y, width) {
        texts.push(text);
        if (width === undefined) fillText.call(this, text, x, y);
        else fillText.call(this, text, x, y, width);
      };
      return texts;
    });
    const png = await saved(page, card.getByRole("button", { name: "Save PNG" }));
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    const inPicture = (await written.jsonValue()).join("\n");
    const { context } = readJson(directory, "comparison.json");
    for (const part of ["Time of a step", context.cpu_model, context.date, "comparison.json"])
      expect(inPicture).toContain(part);
    const csv = (await saved(page, card.getByRole("button", { name: "Save CSV" }))).toString();
    for (const row of readJson(directory, "comparison.json").diffbench.results)
      if (row.seconds_per_iteration !== null)
        expect(csv).toContain(String(row.seconds_per_iteration));
  });

  it("of the timeline stay when a part of the axis is zoomed by its buttons", async () => {
    const card = page.locator('[data-picture^="timeline"]').first();
    await unfold(card);
    const picture = async () => {
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
      return card
        .locator("canvas")
        .first()
        .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
    };
    const press = (name: string) => card.getByRole("button", { name, exact: true }).press("Enter");
    await card.scrollIntoViewIfNeeded();
    await card.locator("[data-drawn]").waitFor();
    const whole = await picture();
    await press("Zoom in");
    const zoomed = await picture();
    await press("Earlier");
    const earlier = await picture();
    expect(new Set([whole, zoomed, earlier]).size).toBe(3);
    await press("Zoom out");
    expect(await picture()).toBe(whole);
    await press("Zoom out"); // there is no more than all
    expect(await picture()).toBe(whole);
  });
});
