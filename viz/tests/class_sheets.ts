// SPDX-License-Identifier: Apache-2.0
// The sheets of a made class, as `diffbench lesson` writes them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const header = "name,host,date,lesson,question,text,guess,answer,unit,source,verdict,command";

/** Each of so many students has guessed 4 times the answer of question 1, half of them a wrong choice in 2, none in 3. */
export function writeSheets(folder: string, students: number): string[] {
  return Array.from({ length: students }, (_each, index) => {
    const who = `Student ${index},pc${index},2026-11-25T10:${10 + (index % 50)}:00+0100`;
    const answer = 10 + index;
    const choice = index % 2 === 0 ? "a,right" : "b,wrong";
    const [letter, verdict] = choice.split(",");
    const lines = [
      `${who},1,1,"How many times, as fast?",${4 * answer},${answer},times,measured,4.0 times too high,diffbench x`,
      `${who},1,2,Which one?,${letter},"a) this one, that is",,reasoned,${verdict},diffbench x`,
      `${who},1,3,How many bytes?,,${answer} to ${2 * answer},bytes,assumed (h200),,diffbench x`,
    ];
    const name = `sheet-${index}.csv`;
    writeFileSync(join(folder, name), [header, ...lines, ""].join("\n"));
    return name;
  });
}
