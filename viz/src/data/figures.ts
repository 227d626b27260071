// SPDX-License-Identifier: Apache-2.0
// How a result wants to be drawn, and the entries of the list that it is drawn of. The file says both (`pictures`
// and `columns`); where an older one does not, each list of results is drawn by what its entries hold.
import { at, list, num, readable, text, texts, type Json } from "./json";
import type * as schema from "./result_schema";
import type { ResultFile } from "./results";
import type { Cell, Head } from "./table";
import { bytes, bytesPerSecond, percent, quantity, seconds, times } from "./units";

export type Kind = schema.Picture["kind"];

export interface Mark {
  at: number;
  low: number;
  high: number;
  text: string;
}

export interface Figure {
  title: string;
  kind: Kind;
  /** The path of the list in the result. */
  rows: string;
  x: string;
  y: string[];
  by: string[];
  interval: string;
  log: string;
  only: string[];
  marks: Mark[];
}

/** A thing of the list: its own members as "a.b", and through its prototype those of what it is part of. */
export type Entry = Record<string, Json>;

const isObject = (value: Json): value is Record<string, Json> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function addLeaves(value: Record<string, Json>, prefix: string, into: Entry, but?: string): Entry {
  for (const [key, each] of Object.entries(value)) {
    const name = prefix + key;
    if (key === but) continue;
    if (isObject(each)) addLeaves(each, `${name}.`, into);
    else into[name] = each;
  }
  return into;
}

function entriesAt(value: Json, path: string[], around: Entry | null, prefix = ""): Entry[] {
  if (Array.isArray(value)) return value.flatMap((each) => entriesAt(each, path, around, prefix));
  if (!isObject(value)) return [];
  const [next, ...rest] = path;
  const own = addLeaves(value, prefix, Object.create(around) as Entry, next);
  if (next === undefined) return [own];
  const inner = at(value, next);
  return entriesAt(inner, rest, own, Array.isArray(inner) ? "" : `${prefix}${next}.`);
}

/** Those of the list at `rows` in the result, with one list within another joined. */
export function entriesOf({ data, own }: ResultFile, rows: string): Entry[] {
  const path = rows === "" ? [] : rows.split(".");
  return entriesAt(
    at(data, path[0] ?? "") === undefined && path.length > 0 ? own : data,
    path,
    null,
  );
}

/** "a.0" is the first element of the list a. */
export function valueOf(entry: Entry, key: string): Json {
  const found = entry[key];
  const end = key.lastIndexOf(".");
  if (found !== undefined || end < 0) return found;
  const elements = entry[key.slice(0, end)];
  return Array.isArray(elements) ? (elements as Json[])[Number(key.slice(end + 1))] : undefined;
}

export function cellOf(entry: Entry, key: string): Cell {
  const value = valueOf(entry, key);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return readable(value);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

const isNumber = (cell: Cell) => cell !== null && cell !== "" && Number.isFinite(Number(cell));

/** These of an entry in words: numbers with what they are, of truths the name where they hold. */
export const words = (file: ResultFile, entry: Entry, keys: string[]): string =>
  keys
    .map((key) => {
      const cell = cellOf(entry, key);
      const truth = valueOf(entry, key);
      if (typeof truth === "boolean") return truth ? headOf(file, key).name : "";
      if (!isNumber(cell)) return cell;
      const head = headOf(file, key);
      return `${head.name} ${typeof cell === "number" ? head.show!(cell) : cell}`;
    })
    .filter((part) => part !== null && part !== "")
    .join(", ");

export interface Reading {
  value: number | null;
  low: number | null;
  high: number | null;
}

/** A span alone, as of what is assumed, has no value. An emulated device has no time, whatever the file says. */
export function readingOf(entry: Entry, key: string, interval = ""): Reading {
  if (text(entry, "device") === "emulated") return { value: null, low: null, high: null };
  const end = (name: string) => num(entry, `${interval}.${name}`) ?? num(entry, `${key}.${name}`);
  const [low, high] = [end("low"), end("high")];
  const known = low !== null && high !== null && low <= high;
  const value = valueOf(entry, key);
  return {
    value: typeof value === "number" && Number.isFinite(value) ? value : null,
    low: known ? low : null,
    high: known ? high : null,
  };
}

/** Why an entry is listed and not drawn. */
export function reasonOf(entry: Entry): string {
  const status = text(entry, "status");
  const reason = text(entry, "reason") || text(entry, "failure");
  if (status === "skipped" || status === "failed") return `${status}${reason && `: ${reason}`}`;
  if (text(entry, "device") === "emulated") return "emulated device: verified, never timed";
  return reason || "the file has no figure for it";
}

type Show = (value: number) => string;
const units: Record<string, Show> = {
  s: seconds,
  x: times,
  "%": percent,
  B: bytes,
  "B/s": bytesPerSecond,
};
/** By the keys of schema 1, where the file does not say. */
const unitOf = (key: string): string =>
  /bytes_per_second/.test(key)
    ? "B/s"
    : /seconds|losses_seconds/.test(key)
      ? "s"
      : /bytes/.test(key)
        ? "B"
        : /efficiency|fraction|share|imbalance|planted_slowdown/.test(key)
          ? "%"
          : /speedup|ratio|factor|times_/.test(key)
            ? "x"
            : "";

export function headOf(file: ResultFile, key: string): Head {
  const said = list(file.own, "columns").find((each) => text(each, "key") === key);
  const unit = (said === undefined ? "" : text(said, "unit")) || unitOf(key);
  const name =
    text(said, "name") ||
    (key === "times_best_cpu"
      ? "times as fast as the fastest CPU row"
      : readable(key.replaceAll("_", " ").replaceAll(".", ", ")));
  // Fractions and factors stand in the table as they are.
  const ofNumber = unit === "s" || unit.startsWith("B") ? { unit } : {};
  return { name, ...ofNumber, show: units[unit] ?? quantity };
}

/** The keys that printed tables have, too. */
export const shownKeys = (file: ResultFile): string[] =>
  list(file.own, "columns").map((each) => text(each, "key"));

/** The lists whose elements are results, or hold them, as in bench/report/result_lines.cpp. */
const resultLists =
  "results points rows ways grids kinds curves curve checks parts fits questions".split(" ");

function listsIn(value: Json, path: string[] = []): string[][] {
  if (Array.isArray(value)) {
    const first: Json = value.find(isObject);
    const inner = listsIn(first, path);
    return inner.length > 0 || first === undefined ? inner : [path];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    !Array.isArray(each) || resultLists.includes(key) ? listsIn(each, [...path, key]) : [],
  );
}

/** Where a file has what it assumes of a card that is not here. */
const assumedRows = "assumed.rows";

function usualFigure(file: ResultFile, rows: string): Figure {
  const entries = entriesOf(file, rows);
  const keys = [...new Set(entries.flatMap((entry) => Object.keys(entry)))];
  const some = (key: string, type: string) => entries.some((entry) => typeof entry[key] === type);
  const x = keys.find((key) => some(key, "string")) ?? "";
  const spans = keys.flatMap((key) => (key.endsWith(".low") ? [key.slice(0, -4)] : []));
  const numbers = [...spans, ...keys.filter((key) => some(key, "number"))].filter(
    (key) => !/interval|quartiles|\.(low|high)$/.test(key),
  );
  const y =
    numbers.find((key) => /^times_/.test(key)) ??
    numbers.find((key) => /seconds|ratio|per_second/.test(key)) ??
    numbers[0];
  const values = entries
    .map((entry) => readingOf(entry, y ?? ""))
    .flatMap(({ value, high }) => value ?? high ?? []);
  const named = new Set(entries.map((entry) => cellOf(entry, x)));
  const far = Math.min(...values) > 0 && Math.max(...values) > 20 * Math.min(...values);
  const card = text(at(file.data, "assumed") ?? at(file.own, "assumed"), "name");
  return {
    title:
      rows === ""
        ? "Results"
        : rows === assumedRows && card !== ""
          ? `Assumed, not measured: ${card}`
          : rows.replaceAll(".", ", "),
    kind: x !== "" && y !== undefined && named.size === entries.length ? "bars" : "table",
    rows,
    x,
    y: y === undefined ? [] : [y],
    by: [],
    interval: y === undefined ? "" : `${y}_interval`,
    log: far ? "y" : "",
    only: [],
    marks: [],
  };
}

const kinds: Record<Kind, true> = {
  bars: true,
  lines: true,
  stack: true,
  timeline: true,
  map: true,
  table: true,
};

/** What the file says, and then what it does not speak of. */
export function figuresOf(file: ResultFile): Figure[] {
  const said = list(file.own, "pictures").map((each): Figure => ({
    title: text(each, "title"),
    // Of a newer program there may be kinds that this page does not know.
    kind: Object.hasOwn(kinds, text(each, "kind")) ? (text(each, "kind") as Kind) : "table",
    rows: text(each, "rows"),
    x: text(each, "x"),
    y: texts(each, "y"),
    by: texts(each, "by"),
    interval: text(each, "interval"),
    log: text(each, "log"),
    only: texts(each, "only"),
    marks: list(each, "marks").flatMap((mark) => {
      const place = num(mark, "at");
      const [low, high] = [num(mark, "low") ?? 0, num(mark, "high") ?? 0];
      return place === null ? [] : [{ at: place, low, high, text: text(mark, "text") }];
    }),
  }));
  const known = new Set([assumedRows, ...said.map(({ rows }) => rows)]);
  const lists = [
    ...listsIn(file.data),
    ...(file.data === file.own ? [] : listsIn(at(file.own, "assumed"), ["assumed"])),
  ].map((path) => path.join("."));
  const assumed =
    said.some(({ rows }) => rows === assumedRows) || entriesOf(file, assumedRows).length === 0
      ? []
      : [usualFigure(file, assumedRows)];
  return [
    ...assumed,
    ...said,
    ...lists.filter((rows) => !known.has(rows)).map((rows) => usualFigure(file, rows)),
  ];
}
