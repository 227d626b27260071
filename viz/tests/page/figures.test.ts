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
      const said = list(file.own, "pictures");
      expect(said.length, kind).toBeGreaterThan(0);
      // Of a run of the host alone a timeline would be a single bar.
      const titles = said
        .filter((each) => text(each, "kind") !== "timeline")
        .map((each) => text(each, "title"));
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
    const drawn = pointsOf(times!.option!(light, 1200, 0)).map(({ value }) => [value].flat()[0]);
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

  it("can be saved: SVG and PNG that say what they are, and CSV with full numbers", async () => {
    const card = cardOf(page, "comparison.json", "bars-1");
    await unfold(page.locator("details.result"));
    await unfold(card);
    const save = (kind: string) => saved(page, card.getByRole("button", { name: `Save ${kind}` }));
    const { context, diffbench } = readJson(directory, "comparison.json");
    const timed = diffbench.results.filter((row: any) => row.seconds_per_iteration !== null);
    const svg = (await save("SVG")).toString();
    const texts = await page.evaluate((source) => {
      const parsed = new DOMParser().parseFromString(source, "image/svg+xml");
      return [...parsed.querySelectorAll("text")].map((each) => each.textContent);
    }, svg);
    const rows = timed.map((row: any) => row.backend);
    for (const part of ["Time of a step", context.cpu_model, context.date, ...rows])
      expect(texts.join("\n")).toContain(part);
    const png = await save("PNG");
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    const [width, height] = [16, 20].map((at) => png.readUInt32BE(at));
    expect([width, height]).toEqual(
      /<svg[^>]* width="(\d+)" height="(\d+)"/
        .exec(svg)!
        .slice(1)
        .map((each) => 2 * Number(each)),
    );
    const csv = (await save("CSV")).toString();
    for (const row of timed) expect(csv).toContain(String(row.seconds_per_iteration));
  });

  it("of a timeline are there where an engine works beside the host", async () => {
    const device = readJson(directory, "comparison.json");
    for (const stretch of device.diffbench.results[0].moments.warm)
      if (stretch.phase === "compute") stretch.lane = "kernels";
    const file = readResultFile({ file: "device.json", ...device });
    const timelines = picturesOf(file).filter(({ id }) => id.startsWith("timeline"));
    expect(timelines.map(({ title }) => title)).toEqual(["The first warm run, moment by moment"]);
    checkPicture(timelines[0]!, "device");
  });
});
