// SPDX-License-Identifier: Apache-2.0
// The pieces of a page: one after another, all of them though one fails, all at once before printing.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { inTurns } from "../../src/page/in_turns";

const listeners: Record<string, () => void> = {};
beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("requestAnimationFrame", (call: () => void) => setTimeout(call));
  vi.stubGlobal("addEventListener", (name: string, call: () => void) => (listeners[name] = call));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("are built in their order, and then it is done", () => {
  const built: string[] = [];
  inTurns([() => built.push("a"), () => built.push("b")], () => built.push("done"));
  expect(built).toEqual([]); // the first picture comes first
  vi.runAllTimers();
  expect(built).toEqual(["a", "b", "done"]);
});

it("are built though one of them fails", () => {
  const built: string[] = [];
  const broken = () => {
    throw new Error("broken");
  };
  inTurns([() => built.push("a"), broken, () => built.push("c")], () => built.push("done"));
  expect(() => vi.runAllTimers()).toThrow("broken"); // as the browser's console has it
  vi.runAllTimers();
  expect(built).toEqual(["a", "c", "done"]);
});

it("are all there before the page is printed, each once", () => {
  const built: string[] = [];
  inTurns([() => built.push("a"), () => built.push("b"), () => built.push("c")], () =>
    built.push("done"),
  );
  listeners["beforeprint"]!();
  expect(built).toEqual(["a", "b", "c"]);
  vi.runAllTimers();
  expect(built).toEqual(["a", "b", "c", "done"]);
});
