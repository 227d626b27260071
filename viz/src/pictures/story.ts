// SPDX-License-Identifier: Apache-2.0
// The card that a page begins with: where the time of one run goes, and what its file says of it.
import type { ResultFile } from "../data/results";
import { picturesOf } from "./catalogue";
import type { Picture } from "./picture";

/** Of the experiments in this order. */
const tellers = ["residency", "comparison"];

/** null: no file of the page has a ledger of whole runs. */
export function storyOf(files: ResultFile[]): { picture: Picture; file: ResultFile } | null {
  for (const experiment of tellers)
    for (const file of files)
      if (file.experiment === experiment) {
        const ledger = picturesOf(file).find(({ id, option }) => /^stack/.test(id) && option);
        if (ledger !== undefined) return { picture: { ...ledger, id: "story" }, file };
      }
  return null;
}
