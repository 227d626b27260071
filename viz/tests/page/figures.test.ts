// SPDX-License-Identifier: Apache-2.0
// The figures on the page, and in what it saves, are those of the files.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readResultFile } from "../../src/data/results";
import { picturesOf } from "../../src/pictures/catalogue";
import { light } from "../../src/pictures/palette";
import { isMissing, type Picture } from "../../src/pictures/picture";
import { cardOf, directory, open, saved, tableOf, unfold } from "./browser";
import { kinds, readJson } from "./result_files";

describe("its figures", () => {
  let page: Page;
  beforeAll(async () => {
    page = (await open("report.html")).page;
  });
  afterAll(() => page.context().close());

  it("of the comparison are those of the file", async () => {
    const { results } = readJson(directory, "comparison.json").diffbench;
    const timed = results.filter(
      (row: { seconds_per_iteration: number }) => row.seconds_per_iteration !== null,
    );
    const ladder = await tableOf(cardOf(page, "comparison.json", "ladder"));
    expect(ladder.length).toBe(timed.length);
    for (const row of timed) {
      const shown = ladder.find((each) => each[0] === row.backend)!;
      expect(shown.slice(3, 8)).toEqual([
        row.seconds_per_iteration,
        row.seconds_per_iteration_interval?.low ?? "-",
        row.seconds_per_iteration_interval?.high ?? "-",
        row.seconds_per_iteration_quartiles.q1,
        row.seconds_per_iteration_quartiles.q3,
      ]);
      expect(shown.slice(9, 14)).toEqual([
        row.cells_per_second,
        row.bytes_per_second,
        row.fraction_of_copy ?? "-",
        row.speedup_vs_baseline,
        row.speedup_vs_best_cpu,
      ]);
    }
    const ledger = await tableOf(cardOf(page, "comparison.json", "ledger"));
    for (const [name, run, wall, ...parts] of ledger) {
      const row = results.find((each: { backend: string }) => each.backend === name);
      const phases = run === "warm" ? row.phases : row.end_to_end.cold_phases;
      expect(wall).toBe(phases.wall);
      expect(parts).toEqual(
        [
          "context",
          "alloc",
          "pin",
          "h2d",
          "launch",
          "compute",
          "sync",
          "d2h",
          "free",
          "unexplained",
        ].map((part) => phases[part] ?? "-"),
      );
      const sum = parts.reduce(
        (total: number, part) => total + (typeof part === "number" ? part : 0),
        0,
      );
      expect(Math.abs(sum - Number(wall)) / Number(wall)).toBeLessThan(1e-6);
    }
  });

  it("of the experiments are those of their files", async () => {
    const own = (kind: string, part = kind) => readJson(directory, `${kind}.json`).diffbench[part];
    const transfer = await tableOf(cardOf(page, "transfer.json", "bandwidth-host"));
    const curves = own("transfer").host.curves;
    expect(transfer.map((row) => row.slice(2, 5))).toEqual(
      curves.flatMap(
        (curve: {
          points: { bytes: number; seconds_per_copy: number; bytes_per_second: number }[];
        }) =>
          curve.points.map((point) => [
            point.bytes,
            point.seconds_per_copy,
            point.bytes_per_second,
          ]),
      ),
    );
    const pitfalls = await tableOf(cardOf(page, "pitfalls.json", "pitfalls"));
    for (const entry of own("pitfalls"))
      expect(pitfalls.find((row) => row[0] === entry.name)).toEqual(
        expect.arrayContaining([entry.mistaken_seconds, entry.right_seconds, entry.factor]),
      );
    const scaling = await tableOf(cardOf(page, "scaling.json", "scaling"));
    expect(scaling.map((row) => row.slice(0, 4))).toEqual(
      own("scaling").results.map((row: Record<string, number>) => [
        row["threads_asked"],
        row["seconds_per_iteration"],
        row["speedup"],
        row["efficiency"],
      ]),
    );
    const sweep = await tableOf(cardOf(page, "sweep.json", "crossover"));
    expect(sweep.map((row) => row[4])).toEqual(
      own("sweep").points.flatMap(
        (point: { result: { results: { seconds_per_iteration: number }[] } }) =>
          point.result.results.map((row) => row.seconds_per_iteration),
      ),
    );
    const residency = await tableOf(cardOf(page, "residency.json", "amortisation"));
    for (const row of residency) {
      const entry = own("residency").results.find(
        (each: { backend: string }) => each.backend === row[0],
      );
      expect([row[2], row[4], row[5]]).toEqual([
        entry.seconds_per_iteration,
        entry.times_resident ?? "-",
        entry.visit_seconds > 0 ? entry.visit_seconds : "-", // noise may make it negative
      ]);
    }
  });

  it("of the crossover have a sentence on the view that is chosen", async () => {
    const card = cardOf(page, "sweep.json", "crossover");
    await unfold(card);
    const told = () => card.locator(".reading").textContent();
    const times = card.getByRole("group", { name: "Time of" });
    const axes = card.getByRole("group", { name: "Axis" });
    for (const time of await times.locator("button").all())
      for (const axis of await axes.locator("button").all()) {
        await time.click();
        await axis.click();
        for (const each of [time, axis])
          expect(await each.getAttribute("aria-pressed")).toBe("true");
        const other = (await axis.textContent()) === "by grid" ? "iters 16" : "grid 32";
        await card.locator(".views select").selectOption(`at ${other}`);
        expect(await told()).toContain(`For ${await time.textContent()} at ${other}, `);
        expect(await card.locator(".chart").getAttribute("aria-label")).toContain(await told());
      }
  });

  it("of the ranks are those of their files", async () => {
    type Rows = Record<string, number | null>[];
    const own = (kind: string): Rows =>
      readJson(directory, `${kind}.json`).diffbench.cluster.results;
    const cells = (rows: Rows, ...names: string[]) =>
      rows.map((row) => names.map((name) => row[name] ?? "-"));
    for (const kind of ["strong", "weak"]) {
      const scaling = await tableOf(cardOf(page, `${kind}.json`, "cluster-scaling"));
      expect(scaling.map((row) => [row[0], row[5], row[8], row[9]])).toEqual(
        cells(own(kind), "ranks", "seconds_per_step", "cells_per_second", "efficiency"),
      );
      const steps = await tableOf(cardOf(page, `${kind}.json`, "cluster-step"));
      expect(steps.map((row) => row.slice(2, 5))).toEqual(
        cells(
          own(kind).filter((row) => row["ranks"] !== 0),
          ...["compute_seconds", "copy_seconds", "wait_seconds"],
        ),
      );
    }
    const depths = await tableOf(cardOf(page, "halos.json", "cluster-depth"));
    expect(depths.map((row) => [row[0], row[2], row[5]])).toEqual(
      cells(own("halos"), "halo_depth", "seconds_per_step", "modelled_seconds"),
    );
    const predict = await tableOf(cardOf(page, "network.json", "cluster-predict"));
    expect(predict.map((row) => [row[0], ...row.slice(3, 7), row[8]])).toEqual(
      cells(
        own("network"),
        ...["ranks", "halo_depth", "seconds_per_step", "cells_per_second", "efficiency"],
        "efficiency_exchanging_every_step",
      ),
    );
  });

  it("of the networks are those of their files", async () => {
    const own = (kind: string, part: string) => readJson(directory, `${kind}.json`).diffbench[part];
    const learning = await tableOf(cardOf(page, "mlp.json", "learning"));
    expect(learning.map((row) => row[2])).toEqual(
      own("mlp", "mlp_train").results.flatMap((engine: { losses: number[] }) => engine.losses),
    );
    for (const kind of ["depth", "width"] as const) {
      const sizes = await tableOf(cardOf(page, `${kind}.json`, "sizes"));
      expect(sizes.map((row) => [row[0], row[1], row[3], row[4]])).toEqual(
        own(kind, `mlp_${kind}`).points.flatMap(
          (point: { size: number; parameters: number; rows: Record<string, number>[] }) =>
            point.rows
              .filter((row) => row["seconds_per_step"] !== null)
              .map((row) => [
                point.size,
                point.parameters,
                row["seconds_per_step"],
                row["seconds_100_epochs"],
              ]),
        ),
      );
    }
    const throughput = await tableOf(cardOf(page, "throughput.json", "throughput"));
    expect(throughput.map((row) => row[2])).toEqual(
      own("throughput", "mlp_throughput").results.flatMap(
        (engine: { curve: { rows_per_second: number }[] }) =>
          engine.curve.map((point) => point.rows_per_second),
      ),
    );
    const latency = await tableOf(cardOf(page, "latency.json", "latency"));
    const engines = own("latency", "mlp_latency").results;
    expect(latency).toEqual(
      engines.flatMap(
        (engine: {
          engine: string;
          histogram: { edges: number[]; counts: number[] };
          seconds: { median: number; p99: number };
        }) =>
          engine.histogram.counts.map((calls, bin) => [
            engine.engine,
            ...engine.histogram.edges.slice(bin, bin + 2),
            calls,
            engine.seconds.median,
            engine.seconds.p99,
          ]),
      ),
    );
    expect(latency.length).toBeGreaterThan(engines.length);
  });

  it("are in the charts, whichever way one looks at them", () => {
    for (const kind of kinds) {
      const file = readResultFile({ file: kind, ...readJson(directory, `${kind}.json`) });
      const pictures = picturesOf(file).filter((picture) => !isMissing(picture));
      for (const { id, variants = [""], option } of pictures as Picture[])
        variants.forEach((name, variant) => {
          const { series } = option(light, false, variant) as { series: { data: unknown[] }[] };
          const empty = series.filter(({ data }) => data.length === 0);
          expect(empty, `${kind}, ${id} ${name}`).toEqual([]);
        });
    }
  });

  it("can be saved: PNG, and CSV with full numbers", async () => {
    const card = cardOf(page, "comparison.json", "ladder");
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
    for (const part of ["The ladder", context.cpu_model, context.date, "comparison.json"])
      expect(inPicture).toContain(part);
    const csv = (await saved(page, card.getByRole("button", { name: "Save CSV" }))).toString();
    for (const row of readJson(directory, "comparison.json").diffbench.results)
      if (row.seconds_per_iteration !== null)
        expect(csv).toContain(String(row.seconds_per_iteration));
    const field = await saved(
      page,
      page.locator("#field").getByRole("button", { name: "Save PNG" }),
    );
    expect(field.subarray(1, 4).toString()).toBe("PNG");
    const ofField = (await written.jsonValue()).join("\n");
    for (const part of ["The field after step 40, 48x48", context.cpu_model, "comparison.json"])
      expect(ofField.split(inPicture).at(-1)).toContain(part);
  });

  it("of the timeline stay when a part of the axis is zoomed by its buttons", async () => {
    const card = cardOf(page, "comparison.json", "timeline");
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

  it("of the field are those of the snapshots", async () => {
    const { min, max } = readJson(directory, "comparison.json").diffbench.field;
    const csv = (
      await saved(page, page.locator("#field").getByRole("button", { name: "Save CSV" }))
    ).toString();
    const values = csv
      .trim()
      .split("\r\n")
      .slice(1)
      .map((line) => Number(line.split(",")[2]));
    expect(values.length).toBe(48 * 48);
    // Sixteen bits of the range over all snapshots, which begins with 0 to 0.005.
    expect(Math.abs(Math.max(...values) - max)).toBeLessThan(0.005 / 65000);
    expect(Math.abs(Math.min(...values) - min)).toBeLessThan(0.005 / 65000);
  });
});
