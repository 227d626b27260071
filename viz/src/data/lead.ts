// SPDX-License-Identifier: Apache-2.0
// What a result says first. The program words it; here the first sentence with figures is taken out of its text, and the
// figures in it, so that they can be set in larger type.
import { at, flag, num, text } from "./json";
import type { ResultFile } from "./results";

export interface Piece {
  text: string;
  isFigure: boolean;
}

const number = String.raw`\d[\d.]*(?:e[+-]?\d+)?`;
const figure = new RegExp(
  String.raw`(${number}(?: to ${number})? ?(?:times|x\b|%|[num]?s\b|[kMGT]?B/s|[kMG]?Cell/s))`,
);
const isFactor = (piece: Piece) => piece.isFigure && /(times|x)$/.test(piece.text);

/** Text and figures in turn. */
const piecesOf = (line: string): Piece[] =>
  line
    .split(figure)
    .map((part, index) => ({ text: part, isFigure: index % 2 === 1 }))
    .filter((piece) => piece.text !== "");

/** The first sentence with such a piece, else the first one; of its clauses as many as have two figures. */
function firstOf(line: string, wanted: (piece: Piece) => boolean): string {
  const sentences = line.match(/.+?[.!?](?= |$)|.+$/g) ?? [line];
  const chosen = sentences.find((each) => piecesOf(each).some(wanted)) ?? sentences[0] ?? "";
  const clauses = chosen.trim().split("; ");
  const figures = (count: number) =>
    piecesOf(clauses.slice(0, count).join("; ")).filter((piece) => piece.isFigure).length;
  let count = 1;
  while (count < clauses.length && figures(count) < 2) ++count;
  return clauses.slice(0, count).join("; ").replace(/\.?$/, ".");
}

const isDisturbed = (file: ResultFile): boolean => flag(file.own, "disturbed") === true;
const hasWidth = (file: ResultFile): boolean => num(file.own, "width", "high") !== null;

/** Beside other programs, and how far that is off is not known: nothing is concluded, and the page says so once. */
export const isUndecided = (file: ResultFile): boolean => isDisturbed(file) && !hasWidth(file);

/** How far figures are off that were measured beside other programs; empty where nothing else ran. */
export const doubtOf = (file: ResultFile): string =>
  isDisturbed(file) && hasWidth(file) ? (file.sentences.at(-1) ?? "") : "";

/** What was measured, and what is assumed of a card. */
export function leadOf(file: ResultFile): Piece[][] {
  const assumed = text(at(file.data, "assumed") ?? at(file.own, "assumed"), "sentence");
  const [head, ...rest] = assumed.split(": ");
  const [measured = ""] = file.sentences;
  const isAny = (piece: Piece) => piece.isFigure;
  const lines = [
    ...(measured === "" || measured === assumed ? [] : [firstOf(measured, isAny)]),
    ...(assumed === "" ? [] : [`${head}: ${firstOf(rest.join(": "), isFactor)}`]),
  ].map(piecesOf);
  // Three figures in all. Of two sentences the factors are what the reader takes away.
  return lines.map((pieces, index) => {
    const factors = pieces.filter(isFactor);
    const figures = pieces.filter(isAny);
    const large = lines.length > 1 && factors.length > 0 ? factors : figures;
    const shown = large.slice(0, lines.length === 1 ? 3 : 1 + index);
    return pieces.map((piece) => ({ ...piece, isFigure: shown.includes(piece) }));
  });
}
