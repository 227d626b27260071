// SPDX-License-Identifier: Apache-2.0
// The card that the page begins with: its bars are those of the file, with a GPU and without one.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { readResultFile } from "../../src/data/results";
import { storyParts } from "../../src/data/story";
import { readingOf } from "../../src/pictures/picture";
import { storyPicture } from "../../src/pictures/story";
import { directory, open, openPage, tableOf } from "./browser";
import { diffbench, readJson } from "./result_files";

const cardOf = (page: Page) => page.locator("#story");
const phasesOf = (phases: Record<string, number | null>) =>
  storyParts.map((part) => phases[part] ?? "-");

/** Rows as on a GPU in the real file of a machine without one. */
function withGpuRows(): any {
  const file = readJson(directory, "residency.json");
  const { results } = file.diffbench.residency;
  const fused = results.find((row: { backend: string }) => row.backend === "fused");
  const phases = (wall: number, parts: object) => ({
    ...Object.fromEntries(Object.keys(fused.phases).map((part) => [part, null])),
    ...parts,
    unexplained: 0.01 * wall,
    wall,
  });
  const gpu = (backend: string, every: number | null, warm: object, cold: object) => ({
    ...fused,
    backend,
    device: "cuda",
    place: "gpu",
    roundtrip_every: every,
    phases: warm,
    end_to_end: { ...fused.end_to_end, cold_phases: cold },
  });
  const naive = phases(0.35, { h2d: 0.17, launch: 0.01, compute: 0.0065, d2h: 0.16 });
  const stays = phases(0.0028, { h2d: 4e-5, launch: 0.002, compute: 6.92e-4, d2h: 4e-5 });
  const cold = phases(0.21, { context: 0.2, alloc: 0.004, pin: 0.001, compute: 0.0029 });
  file.diffbench.residency.results = [
    ...results.filter((row: { place: string }) => row.place === "cpu"),
    gpu("cuda_stream, round trip every 1", 1, naive, phases(0.6, { context: 0.594 })),
    gpu("cuda_stream", null, stays, cold),
  ];
  return file;
}

it("has four bars of a file with a GPU, which are the file's", async () => {
  const file = withGpuRows();
  writeFileSync(join(directory, "gpu.json"), JSON.stringify(file));
  diffbench(directory, "report gpu.json --snapshots snapshots -o gpu.html");
  const { page, troubles } = await open("gpu.html");
  const rows: Record<string, any>[] = file.diffbench.residency.results;
  const cpu = rows
    .filter(({ place }) => place === "cpu")
    .sort((a, b) => a["phases"].wall - b["phases"].wall)[0]!;
  const [naive, stays] = rows.slice(-2) as [any, any];
  const wanted = [
    [cpu, cpu["phases"]],
    [naive, naive.phases],
    [stays, stays.phases],
    [stays, stays.end_to_end.cold_phases],
  ] as const;
  const table = await tableOf(cardOf(page));
  expect(table.map((each) => each.slice(1, 4))).toEqual(
    wanted.map(([row, phases]) => [row["backend"], "measured", phases.wall]),
  );
  expect(table.map((each) => each.slice(4, 4 + storyParts.length))).toEqual(
    wanted.map(([, phases]) => phasesOf(phases)),
  );
  expect(await cardOf(page).locator(".reading").textContent()).not.toContain("assumed");
  expect(await cardOf(page).locator(".reading").textContent()).toMatch(/on the GPU \(.+\) 350 ms/);
  expect(await cardOf(page).locator(".headline").textContent()).toMatch(
    /Measured: (no GPU beats \w+|cuda_stream on the GPU beats \w+) where the field goes to the host/,
  );
  // The story, the film, then the files.
  const order = await page
    .locator("main > *")
    .evaluateAll((parts) => parts.map((part) => part.id || part.className));
  expect(order).toEqual(["story", "field", "machine-group", "live"]);
  expect(troubles).toEqual([]);
  await page.context().close();
});

it("has the stand-in and an assumed card of a file without a GPU", async () => {
  diffbench(directory, "report residency.json -o standin.html");
  const { page, troubles } = await open("standin.html");
  const { results } = readJson(directory, "residency.json").diffbench.residency;
  const standIn = results.find(
    (row: { place: string; roundtrip_every: number }) =>
      row.place === "stand_in" && row.roundtrip_every === 1,
  );
  const table = await tableOf(cardOf(page));
  expect(table[1]!.slice(1, 4)).toEqual([standIn.backend, "measured", standIn.phases.wall]);
  expect(table[1]!.slice(4, 4 + storyParts.length)).toEqual(phasesOf(standIn.phases));
  for (const each of table.slice(2)) expect(each.slice(1, 3).join()).toMatch(/assumed.*,assumed$/);
  const buttons = cardOf(page).locator(".variants button");
  await buttons.last().click();
  expect(await cardOf(page).locator(".reading").textContent()).toContain(
    "assumed, the RTX 4060 Laptop takes",
  );
  expect(troubles).toEqual([]);
  await page.context().close();
});

it("says when a GPU pays, and where the time goes, of each verb that knows", async () => {
  for (const kind of ["comparison", "residency", "sweep"]) {
    const file = readResultFile({ file: kind, ...readJson(directory, `${kind}.json`) });
    const { picture } = storyPicture([file])!;
    expect(picture.headline!(0), kind).toMatch(
      /^Assumed: an H200 beats the CPU of .* in a warm run /,
    );
    expect(readingOf(picture, 0), kind).toMatch(
      /^\d+x\d+ float32.* on the CPU .*No GPU was measured/,
    );
  }
  const said = (kind: string) =>
    storyPicture([readResultFile({ file: kind, ...readJson(directory, `${kind}.json`) })])!.picture
      .headline!(0);
  expect(said("residency")).toContain(
    "Measured without a GPU: a copy of the field within the host",
  );
  expect(said("sweep")).not.toContain("fused beats scalar"); // both are on the CPU
  diffbench(directory, "report calibrate.json -o profile.html");
  const { page, troubles } = await openPage("profile.html");
  expect(await page.locator("#story .headline").textContent()).toContain("CPU of calibrate.json");
  expect(troubles).toEqual([]);
  await page.context().close();
});

it("is on the page that a run writes itself, with the assumed cards", async () => {
  const run = "--grid 48 --iters 20 --budget 0.2 --backend scalar --backend fused";
  diffbench(directory, `${run} --report own.html`);
  const { page, troubles } = await open("own.html");
  const table = await tableOf(cardOf(page));
  expect(table.length).toBeGreaterThan(2);
  for (const each of table.slice(2)) expect(each[2]).toBe("assumed");
  expect(troubles).toEqual([]);
  await page.context().close();
});
