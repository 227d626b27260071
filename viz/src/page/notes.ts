// SPDX-License-Identifier: Apache-2.0
import { el } from "./dom";

const short = 120; // characters: a line or two

/** Notes of a run or of a comparison: short ones are shown, of more their number. Null where there are none. */
export function notesList(notes: string[]): HTMLElement | null {
  if (notes.length === 0) return null;
  const list = el("ul", { class: "notes" }, ...notes.map((note) => el("li", {}, note)));
  if (notes.join("").length < short) return list;
  return el("details", { class: "notes" }, el("summary", {}, `Notes (${notes.length})`), list);
}
