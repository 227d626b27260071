// SPDX-License-Identifier: Apache-2.0
// Files that came after one another: what `diffbench compare` says of the two, which the program has put into the
// page.
import { at, flag, num, type Json } from "../data/json";
import { machineOf, readResultFile, type ResultFile } from "../data/results";
import { shortened } from "../data/units";
import { fillArticle } from "./article";
import { el } from "./dom";
import { articleInTurn } from "./in_turns";

interface Pair {
  before: ResultFile;
  after: ResultFile;
  sameMachine: boolean;
  verdicts: ResultFile;
}

function readPair(part: Json, files: ResultFile[]): Pair[] {
  const [before, after] = [files[num(part, "old") ?? -1], files[num(part, "new") ?? -1]];
  if (before === undefined || after === undefined) return [];
  const verdicts = readResultFile({
    file: `${before.name} and ${after.name}`,
    context: after.context,
    diffbench: at(part, "diffbench"),
  });
  return [{ before, after, sameMachine: flag(part, "same_machine") === true, verdicts }];
}

function headline({ before, after }: Pair): string {
  const kind = after.experiment.replaceAll("_", " ");
  return `Before and after: ${kind} ${shortened(before.name)} → ${shortened(after.name)}`;
}

function machines({ before, after, sameMachine }: Pair): HTMLElement {
  const machine = (file: ResultFile) => machineOf(file, shortened);
  return sameMachine
    ? el("p", { class: "muted" }, machine(after))
    : el(
        "p",
        { class: "warning" },
        `Two machines. Before: ${machine(before)}. After: ${machine(after)}.`,
      );
}

/** Null where no file of the page is comparable with another one. `pieces` fill it. */
export function beforeAfterSection(
  parts: Json[],
  files: ResultFile[],
  pieces: (() => void)[],
): HTMLElement | null {
  const pairs = parts.flatMap((part) => readPair(part, files));
  if (pairs.length === 0) return null;
  return el(
    "section",
    { class: "machine-group", id: "before-after", "aria-label": "Before and after" },
    ...pairs.map((pair, index) =>
      articleInTurn(`before-after-${index + 1}`, headline(pair), pieces, (article) => {
        article.append(machines(pair));
        fillArticle(article, pair.verdicts, true);
      }),
    ),
  );
}
