// SPDX-License-Identifier: Apache-2.0
// Files that are dropped onto the page build it anew. What the earlier one listens to, and what it still has to
// build, ends then.

let lifetime = new AbortController();

/** Of what is on the page now: aborted when it is built anew. */
export const ofThisPage = (): AbortSignal => lifetime.signal;

/** Calls `end` when the page that is there now is built anew. */
export function whenGone(end: () => void): void {
  lifetime.signal.addEventListener("abort", end, { once: true });
}

/** Before the page is built anew. */
export function endPage(): void {
  lifetime.abort();
  lifetime = new AbortController();
}
