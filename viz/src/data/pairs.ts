// SPDX-License-Identifier: Apache-2.0
// Which file of the page came before which, and what `diffbench compare` says of the two: the program has
// decided that, and put it into the page.
import { at, facts, flag, list, num, positive, text, word, type Json } from "./json";
import type * as schema from "./result_schema";
import { readResultFile, type ResultFile } from "./results";

const verdicts: Record<schema.Verdict, true> = {
  FASTER: true,
  SLOWER: true,
  SAME: true,
  UNCLEAR: true,
};

export interface ComparedRow {
  name: string;
  /** Why it is not compared; "" for a row that is. */
  reason: string;
  verdict: schema.Verdict | null;
  old: number | null;
  new: number | null;
  /** New over old, with its 99 % interval. */
  ratio: number | null;
  low: number | null;
  high: number | null;
}

/** Of a file of `compare`. */
export const comparedRows = (file: ResultFile): ComparedRow[] =>
  list(file.data, "rows").map((row) => ({
    name: text(row, "row"),
    reason: text(row, "reason"),
    verdict: word(row, verdicts, "verdict"),
    ratio: positive(row, "ratio"),
    low: positive(row, "interval", "low"),
    high: positive(row, "interval", "high"),
    old: positive(row, "old_seconds"),
    new: positive(row, "new_seconds"),
  }));

export interface Pair {
  before: ResultFile;
  after: ResultFile;
  sameMachine: boolean;
  /** What `compare` writes of the two. Its context has both machines, "one → other" where they differ. */
  verdicts: ResultFile;
  rows: ComparedRow[];
  differences: { what: string; old: string; new: string }[];
}

function contextOfBoth(before: ResultFile, after: ResultFile): Json {
  const old = new Map(facts(before.context));
  const now = new Map(facts(after.context));
  const both = [...new Set([...now.keys(), ...old.keys()])].map((name): [string, string] => {
    const [earlier, value] = [old.get(name) ?? "none", now.get(name) ?? "none"];
    return [name, earlier === value ? value : `${earlier} → ${value}`];
  });
  // Of a commit's name the page shows the beginning, and of two that is one.
  return Object.fromEntries(
    both.filter(([name, value]) => name !== "git_sha" || !value.includes("→")),
  );
}

export function readPair(part: Json, files: ResultFile[]): Pair | null {
  const before = files[num(part, "old") ?? -1];
  const after = files[num(part, "new") ?? -1];
  if (before === undefined || after === undefined) return null;
  const verdicts = readResultFile({
    file: `${before.name} → ${after.name}`,
    context: contextOfBoth(before, after),
    diffbench: at(part, "diffbench"),
  });
  return {
    before,
    after,
    sameMachine: flag(part, "same_machine") === true,
    verdicts,
    rows: comparedRows(verdicts),
    differences: list(verdicts.data, "differences").map((each) => ({
      what: text(each, "what"),
      old: text(each, "old"),
      new: text(each, "new"),
    })),
  };
}

/**
 * Pairs of which each one begins with the file that the one before ended with, all on one machine; a pair of
 * two machines stands alone.
 */
export function chainsOf(pairs: Pair[]): Pair[][] {
  const ofOne = pairs.filter((pair) => pair.sameMachine);
  const ends = ofOne.filter(({ after }) => !ofOne.some(({ before }) => before === after));
  const chains = ends.map((end) => {
    const chain = [end];
    let earlier: Pair | undefined;
    while (
      (earlier = ofOne.find(({ after }) => after === chain[0]!.before)) !== undefined &&
      !chain.includes(earlier)
    )
      chain.unshift(earlier);
    return chain;
  });
  return [...chains, ...pairs.filter((pair) => !pair.sameMachine).map((pair) => [pair])];
}
