// SPDX-License-Identifier: Apache-2.0
// What stands below the first screen is built piece by piece after that is drawn, so that the first picture
// waits for its own data alone. Between two pieces the browser answers its reader.

import { el } from "./dom";
import { ofThisPage } from "./lifetime";

/** An article that is there at once, so that links lead to it; `fill` is one of the pieces. */
export function articleInTurn(
  anchor: string,
  headline: string,
  pieces: (() => void)[],
  fill: (article: HTMLElement) => void,
): HTMLElement {
  const article = el(
    "article",
    { id: anchor, class: "unbuilt", "aria-labelledby": `${anchor}-head` },
    el("h2", { id: `${anchor}-head` }, headline),
  );
  pieces.push(() => {
    article.classList.remove("unbuilt");
    fill(article);
  });
  return article;
}

/** In their order; all that is left at once before printing. `done` follows the last one. None when the page is gone. */
export function inTurns(pieces: (() => void)[], done: () => void): void {
  const left = [...pieces];
  const signal = ofThisPage();
  const build = () => {
    if (signal.aborted) return;
    try {
      left.shift()?.();
    } finally {
      if (left.length > 0) setTimeout(build);
      else done();
    }
  };
  // Before the charts' own listener, which draws those that wait.
  const buildAll = () => left.splice(0).forEach((piece) => piece());
  addEventListener("beforeprint", buildAll, { capture: true, signal });
  // After the second frame: what the first one has brought into sight is drawn by then.
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(build)));
}
