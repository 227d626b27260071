// SPDX-License-Identifier: Apache-2.0
// The page of `diffbench live`: the card alone.
import { el } from "../page/dom";
import { liveCard } from "./card";

export function livePage(): HTMLElement[] {
  document.title = "diffbench live";
  return [el("header", {}, el("h1", {}, "diffbench live")), el("main", {}, liveCard())];
}
