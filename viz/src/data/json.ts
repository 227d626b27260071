// SPDX-License-Identifier: Apache-2.0
// Reading JSON of which nothing is taken for granted: what is missing or of another type is null or
// empty, and a picture that needs it says so.

export type Json = unknown;

/** The member at the end of the path; undefined where there is none. */
export function at(value: Json, ...path: string[]): Json {
  let here = value;
  for (const name of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, name)) return undefined;
    here = (here as Record<string, Json>)[name];
  }
  return here;
}

export function num(value: Json, ...path: string[]): number | null {
  const found = at(value, ...path);
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}

/** A number above 0: times, rates and sizes, which logarithmic axes can show. */
export function positive(value: Json, ...path: string[]): number | null {
  const found = num(value, ...path);
  return found !== null && found > 0 ? found : null;
}

/** Control characters (C0, C1), line separators, and what turns the direction of text (UAX #9). */
const unseen = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** With white space as spaces, and characters that nobody would see as JSON escapes them. */
export const readable = (found: string): string =>
  found
    .replace(/[\t\n\r]+/g, " ")
    .replace(unseen, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);

export function text(value: Json, ...path: string[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? readable(found) : "";
}

export function flag(value: Json, ...path: string[]): boolean | null {
  const found = at(value, ...path);
  return typeof found === "boolean" ? found : null;
}

export function list(value: Json, ...path: string[]): Json[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function texts(value: Json, ...path: string[]): string[] {
  return list(value, ...path)
    .filter((each) => typeof each === "string")
    .map(readable);
}

/** Members as [name, text]; numbers and booleans as JSON writes them, nothing for null. */
export function facts(value: Json, ...path: string[]): [string, string][] {
  const found = at(value, ...path);
  if (typeof found !== "object" || found === null || Array.isArray(found)) return [];
  return Object.entries(found)
    .filter(([, each]) => ["string", "number", "boolean"].includes(typeof each))
    .map(([name, each]) => [readable(name), readable(String(each))]);
}
