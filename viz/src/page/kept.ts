// SPDX-License-Identifier: Apache-2.0
// What the reader chose, kept while this page is loaded again: colours, views of cards, what is open.

const place = `diffbench ${location.pathname}`;

function read(): Record<string, string> {
  try {
    return { ...(JSON.parse(sessionStorage.getItem(place) ?? "{}") as Record<string, string>) };
  } catch {
    return {}; // the browser keeps nothing for this page
  }
}
const all = read();

export const kept = (name: string): string | undefined => all[name];

export function keep(name: string, value: string): void {
  all[name] = value;
  try {
    sessionStorage.setItem(place, JSON.stringify(all));
  } catch {
    // It is kept until the page is left.
  }
}
