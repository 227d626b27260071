// SPDX-License-Identifier: Apache-2.0
// The file that a page begins with.
import { isUndecided } from "../data/lead";
import type { ResultFile } from "../data/results";
import { picturesOf } from "./catalogue";

/** Where time goes, and which backend is worth it, is what most readers ask first. */
const tellers = ["residency", "comparison"];

/** One that concludes something and can be drawn, by those experiments; null: there is none. */
export function storyOf(files: ResultFile[]): ResultFile | null {
  const rank = (file: ResultFile) =>
    (isUndecided(file) ? 10 : 0) + ((tellers.indexOf(file.experiment) + 3) % 3);
  return (
    [...files]
      .sort((a, b) => rank(a) - rank(b))
      .find((file) => picturesOf(file).some(({ option }) => option !== null)) ?? null
  );
}
