// SPDX-License-Identifier: Apache-2.0
// What the what-if panel is set to, as the fragment of the page's address: it survives a reload and can be
// passed on, and works on a page opened from disk. What of a fragment is no setting is ignored.
import type { Setting } from "./scenario";

export const anchor = "what-if";

/** A profile and a card by name, and what the sliders say; what is null the fragment does not say. */
export interface Asked {
  profile: string | null;
  card: string | null;
  dtype: string | null;
  side: number | null;
  iterations: number | null;
  every: number | null;
  roundTrips: boolean | null;
}

export function addressOf(setting: Setting): string {
  const { profile, card, dtype, side, iterations, every, roundTrips } = setting;
  const members = {
    grid: String(side),
    iters: String(iterations),
    every: String(every),
    copies: roundTrips ? "round-trip" : "snapshot",
    dtype,
    card: card?.key ?? "none",
    profile: profile.source,
  };
  return `#${anchor}&${new URLSearchParams(members).toString()}`;
}

/** null: the fragment is not of the panel. */
export function askedIn(fragment: string): Asked | null {
  const own = `#${anchor}`;
  if (fragment !== own && !fragment.startsWith(`${own}&`)) return null;
  const members = new URLSearchParams(fragment.slice(own.length + 1));
  const whole = (name: string, least: number) => {
    const found = members.get(name) ?? "";
    const value = /^\d{1,9}$/.test(found) ? Number(found) : -1;
    return value >= least ? value : null;
  };
  const copies = members.get("copies");
  return {
    profile: members.get("profile"),
    card: members.get("card"),
    dtype: members.get("dtype"),
    side: whole("grid", 1),
    iterations: whole("iters", 1),
    every: whole("every", 0),
    roundTrips: copies === "round-trip" ? true : copies === "snapshot" ? false : null,
  };
}
