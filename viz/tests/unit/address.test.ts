// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { addressOf, askedIn } from "../../src/data/address";
import { assumedCards } from "../../src/data/assumed";
import type { Profile } from "../../src/data/model";
import type { Setting } from "../../src/data/scenario";
import { usualSetting, withAsked } from "../../src/page/whatif_controls";

const profile = (source: string, dtype = "float32"): Profile => ({
  machine: "a CPU",
  date: "",
  disturbed: false,
  transfer: "pageable",
  source,
  ways: [
    {
      backend: "fast",
      device: "cpu",
      dtype,
      grids: [64, 1024].map((side) => ({
        side,
        threads: 1,
        setup: 0,
        copyIn: 0,
        copyOut: 0,
        calls: [1, 2].map((steps) => ({ steps, seconds: steps })),
      })),
    },
  ],
});
const profiles = [profile("a.json"), profile("a file & more #2.json", "float64")];
const start = usualSetting(profiles[0]!);
const read = (fragment: string) => withAsked(profiles, start, askedIn(fragment)!);

describe("the address of the what-if panel", () => {
  it("brings back what the panel was set to", () => {
    for (const card of [null, ...assumedCards])
      for (const each of profiles) {
        const setting: Setting = {
          profile: each,
          card,
          dtype: each.ways[0]!.dtype,
          side: 96,
          iterations: 50,
          every: 10,
          roundTrips: card !== null,
        };
        expect(read(addressOf(setting))).toEqual(setting);
      }
  });

  it("of another part of the page is none of its", () => {
    for (const fragment of ["", "#", "#file-1", "#what-ifs", "#what-if-title&grid=8"])
      expect(askedIn(fragment)).toBeNull();
  });

  it("is ignored where it is broken, part by part", () => {
    expect(read("#what-if")).toEqual(start);
    for (const broken of [
      "grid=-1&iters=0&every=x&copies=both&dtype=int8&card=gtx&profile=none",
      "grid=1e9&iters=1e999&every=-1",
      "grid=NaN&iters=Infinity&every=",
      "grid=99999999999999999999",
      "%E0%A4%A&=&&&grid",
      "__proto__=1&constructor=2&card=__proto__",
    ])
      expect(read(`#what-if&${broken}`), broken).toEqual(start);
    expect(read("#what-if&grid=97&iters=nothing")).toEqual({ ...start, side: 96 });
    expect(read("#what-if&grid=999999999").side).toBe(2048);
  });
});
