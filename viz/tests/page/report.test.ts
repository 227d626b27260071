// The page as a reader has it: in Chromium, from disk, on files that the program wrote.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { diffbench, kinds, makeResultFiles, readJson } from "./result_files";

const screenshots = process.env["DIFFBENCH_SCREENSHOTS"] ?? "screenshots";
const directory = mkdtempSync(join(tmpdir(), "diffbench-page-"));
let browser: Browser;

/** A page with everything that must not happen on it. */
async function open(file: string, options: { width?: number; dark?: boolean } = {}) {
  const { width = 1200, dark = false } = options;
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: dark ? "dark" : "light",
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
  await page.locator("[data-drawn]").first().waitFor();
  return { page, troubles };
}

async function drawAll(page: Page): Promise<void> {
  for (const chart of await page.locator(".chart").all()) await chart.scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.querySelector(".chart:not([data-drawn])") === null);
}

const cardOf = (page: Page, file: string, picture: string): Locator =>
  page
    .locator("article", {
      has: page.getByRole("heading", { name: `: ${file}`, exact: false, level: 2 }),
    })
    .locator(`[data-picture="${picture}"]`);

/** All cells of a card's table: full numbers, and text. */
async function tableOf(card: Locator): Promise<(number | string)[][]> {
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

async function saved(page: Page, button: Locator): Promise<Buffer> {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return readFileSync(await download.path());
}

beforeAll(async () => {
  mkdirSync(screenshots, { recursive: true });
  makeResultFiles(directory);
  diffbench(
    directory,
    "report",
    ...kinds.map((kind) => `${kind}.json`),
    "--snapshots snapshots -o report.html",
  );
  browser = await chromium.launch({
    executablePath: process.env["DIFFBENCH_CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox"], // its sandbox refuses to run as root
  });
});
afterAll(async () => {
  await browser?.close();
  rmSync(directory, { recursive: true, force: true });
});

describe("the page", () => {
  it("is small, and quick with 5 MB of results", async () => {
    const data = kinds.reduce(
      (sum, kind) => sum + statSync(join(directory, `${kind}.json`)).size,
      0,
    );
    const bytes = statSync(join(directory, "report.html")).size;
    expect(bytes).toBeLessThanOrEqual(2e6 + data);
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
    const size = (statSync(join(directory, "five.html")).size / 1e6).toFixed(1);
    // No timing decides a test: the bar, 1 s, is for whoever reads this.
    console.log(`first chart after ${first.toFixed(0)} ms, page of ${size} MB`);
    await page.context().close();
  });

  it("draws every picture, on every width, without a word on the console or a request", async () => {
    for (const [name, options] of [
      ["desk", {}],
      ["dark", { dark: true }],
      ["phone", { width: 390 }],
      ["projector", { width: 1920 }],
    ] as const) {
      const { page, troubles } = await open("report.html", options);
      await drawAll(page);
      const pictures = await page
        .locator(".card:not(.missing)")
        .evaluateAll((cards) => cards.map((card) => card.getAttribute("data-picture")));
      expect(pictures.filter((each) => each !== null).sort()).toEqual(
        [
          "advice",
          "amortisation",
          "bandwidth-host",
          "compared",
          "crossover",
          "epochs",
          "field",
          "ladder",
          "ladder",
          "learning",
          "ledger",
          "ledger",
          "pitfalls",
          "profile",
          "roofline",
          "scaling",
          "scaling",
          "sizes",
          "throughput",
          "selftest",
          "timeline",
          "timeline",
        ].sort(),
      );
      // A chart that failed is one colour. Two widths have all layouts.
      const looked = name === "desk" || name === "phone";
      for (const canvas of looked ? await page.locator(".chart canvas").all() : []) {
        const colours = await canvas.evaluate((element: HTMLCanvasElement) => {
          const { data } = element
            .getContext("2d")!
            .getImageData(0, 0, element.width, element.height);
          return new Set(new Uint32Array(data.buffer)).size;
        });
        expect(colours).toBeGreaterThan(3);
      }
      for (const chooser of looked ? await page.locator(".variants").all() : [])
        for (const variant of await chooser.getByRole("button").all()) await variant.click();
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
      ).toBeLessThanOrEqual(0);
      await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
      expect(troubles).toEqual([]);
      await page.context().close();
    }
  });

  it("has no serious violation of accessibility, light or dark", async () => {
    for (const dark of [false, true]) {
      const { page } = await open("report.html", { dark });
      await drawAll(page);
      for (const summary of await page.locator("summary", { hasText: /^Table/ }).all())
        await summary.click();
      await page.evaluate(axe.source);
      const violations = await page.evaluate(async () => {
        const { axe } = window as unknown as { axe: typeof import("axe-core") };
        const found = await axe.run(document, { resultTypes: ["violations"] });
        return found.violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
      });
      expect(violations).toEqual([]);
      await page.context().close();
    }
  });

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
});

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
      expect(shown.slice(3, 6)).toEqual([
        row.seconds_per_iteration,
        row.seconds_per_iteration_quartiles.q1,
        row.seconds_per_iteration_quartiles.q3,
      ]);
      expect(shown.slice(7, 12)).toEqual([
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
    const learning = await tableOf(cardOf(page, "mlp.json", "learning"));
    expect(learning.map((row) => row[2])).toEqual(
      own("mlp", "mlp_train").results.flatMap((engine: { losses: number[] }) => engine.losses),
    );
    const sizes = await tableOf(cardOf(page, "depth.json", "sizes"));
    expect(sizes.map((row) => [row[1], row[3]])).toEqual(
      own("depth", "mlp_depth").points.flatMap(
        (point: { parameters: number; rows: { seconds_per_step: number; device: string }[] }) =>
          point.rows
            .filter((row) => row.seconds_per_step !== null)
            .map((row) => [point.parameters, row.seconds_per_step]),
      ),
    );
    const throughput = await tableOf(cardOf(page, "throughput.json", "throughput"));
    expect(throughput.map((row) => row[2])).toEqual(
      own("throughput", "mlp_throughput").results.flatMap(
        (engine: { curve: { rows_per_second: number }[] }) =>
          engine.curve.map((point) => point.rows_per_second),
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

  it("can be saved: PNG, and CSV with full numbers", async () => {
    const card = cardOf(page, "comparison.json", "ladder");
    const png = await saved(page, card.getByRole("button", { name: "Save PNG" }));
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    const csv = (await saved(page, card.getByRole("button", { name: "Save CSV" }))).toString();
    for (const row of readJson(directory, "comparison.json").diffbench.results)
      if (row.seconds_per_iteration !== null)
        expect(csv).toContain(String(row.seconds_per_iteration));
    const field = await saved(
      page,
      page.locator("#field").getByRole("button", { name: "Save PNG" }),
    );
    expect(field.subarray(1, 4).toString()).toBe("PNG");
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

  it("of the what-if panel are those of diffbench advise, and move with the sliders", async () => {
    const panel = page.locator("#what-if");
    const status = panel.locator(".reading");
    const first = await status.textContent();
    const slide = (name: string, value: string) =>
      panel.getByRole("slider", { name }).evaluate((input: HTMLInputElement, wanted) => {
        for (let index = 0; index <= Number(input.max); ++index) {
          input.value = String(index);
          input.dispatchEvent(new Event("input"));
          if (input.getAttribute("aria-valuetext") === wanted) return;
        }
        throw new Error(`no ${wanted}`);
      }, value);
    await slide("Grid", "96x96");
    await slide("Iterations", "100");
    expect(await status.textContent()).not.toBe(first);
    expect(await status.textContent()).toContain("Predicted, not measured");
    expect(await status.textContent()).toContain("No GPU was recorded");
    const table = await tableOf(panel);
    const { ways } = readJson(directory, "advise.json").diffbench.advise;
    expect(table.length).toBe(ways.length);
    for (const way of ways) {
      const shown = table.find((row) => row[0] === way.backend)!;
      expect(Math.abs(Number(shown[2]) / way.warm_seconds - 1)).toBeLessThan(1e-9);
      expect(Math.abs(Number(shown[3]) / way.cold_seconds - 1)).toBeLessThan(1e-9);
    }
    await slide("Grid", "512x512");
    expect(await status.textContent()).toContain(
      "EXTRAPOLATED: the largest recorded grid is 256x256",
    );
  });
});

describe("bad and large files", () => {
  const write = (name: string, result: unknown) =>
    writeFileSync(join(directory, name), JSON.stringify(result));

  it("shows a planted script as text and keeps two machines apart", async () => {
    const hostile = readJson(directory, "comparison.json");
    const name = '</script><script>document.title="taken"</script><img src=x onerror=alert(1)>';
    hostile.diffbench.results[0].backend = name;
    hostile.context.cpu_model = name;
    write("hostile.json", hostile);
    diffbench(directory, "report hostile.json comparison.json -o hostile.html");
    const { page, troubles } = await open("hostile.html");
    await drawAll(page);
    expect((await tableOf(cardOf(page, "hostile.json", "ladder"))).map((row) => row[0])).toContain(
      name,
    );
    await page.locator(".chart canvas").first().hover();
    expect(await page.title()).toBe("diffbench report");
    expect(await page.locator(".machine-group").count()).toBe(2);
    expect(await page.locator(".warning").first().textContent()).toContain("2 machines");
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  it("says what a file lacks", async () => {
    const poor = readJson(directory, "comparison.json");
    for (const row of poor.diffbench.results) {
      delete row.phases;
      delete row.end_to_end;
    }
    delete poor.diffbench.copy;
    write("poor.json", poor);
    diffbench(directory, "report poor.json -o poor.html");
    const { page, troubles } = await open("poor.html");
    for (const picture of ["ledger", "timeline", "roofline"])
      expect(await page.locator(`[data-picture="${picture}"]`).textContent()).toContain(
        "Not drawn",
      );
    expect(await page.locator("#what-if").textContent()).toMatch(
      /no profile|No GPU was recorded/, // with none or only a CPU's in bench/results
    );
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  it("stays usable with 10 000 rows", async () => {
    const many = readJson(directory, "comparison.json");
    const row = many.diffbench.results.find(
      (each: { backend: string }) => each.backend === "fused",
    );
    many.diffbench.results = Array.from({ length: 10_000 }, (_each, index) => ({
      ...row,
      backend: `row ${index}`,
      samples_seconds: row.samples_seconds.slice(0, 3),
      seconds_per_iteration: row.seconds_per_iteration * (1 + index / 1000),
    }));
    write("many.json", many);
    diffbench(directory, "report many.json -o many.html");
    const { page, troubles } = await open("many.html");
    const ladder = cardOf(page, "many.json", "ladder");
    expect((await tableOf(ladder)).length).toBe(100);
    await ladder.getByRole("searchbox").fill("row 9999");
    expect((await tableOf(ladder)).map((each) => each[0])).toEqual(["row 9999"]);
    expect(troubles).toEqual([]);
    await page.context().close();
  });
});
