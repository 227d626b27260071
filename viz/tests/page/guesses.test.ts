// SPDX-License-Identifier: Apache-2.0
// The sheets of a class of thirty, as its teacher sees them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cardOf, directory, open, tableOf } from "./browser";
import { diffbench } from "./result_files";
import { writeSheets } from "../class_sheets";

it("draws what thirty students guessed, and has it all as CSV", async () => {
  const sheets = writeSheets(directory, 30);
  diffbench(directory, "report", ...sheets, "-o class.html --csv class.csv");
  expect(readFileSync(join(directory, "class.csv"), "utf8").split("\n")).toHaveLength(1 + 90 + 1);
  const { page, troubles } = await open("class.html");
  const card = cardOf(page, "lesson 1, 30 students", "guesses");
  expect(await card.locator(".reading").first().textContent()).toBe(
    "15 of 60 guesses are right, of 30 students. Furthest off is question 1.1: half of the guesses are 4 times too high or more.",
  );
  const rows = await tableOf(card);
  expect(rows).toHaveLength(90);
  const [question, student, host, guess, answer, ratio] = rows[0]!;
  expect([question, student, host, guess, answer, ratio]).toEqual([
    "1.1 How many times, as fast?",
    "Student 0",
    "pc0",
    "40 times",
    "10 times",
    4,
  ]);
  expect(troubles).toEqual([]);
  await page.context().close();
});
