// SPDX-License-Identifier: Apache-2.0
// Numbers and names for people: three digits that count, a unit that fits, and no name of many lines.

/** At most so many characters; of a longer one the middle is left out, as both ends tell names apart. */
export function shortened(name: string, most = 60): string {
  const characters = [...name];
  if (characters.length <= most) return name;
  const kept = most - 1;
  const head = characters.slice(0, Math.ceil(kept / 2));
  return `${head.join("")}…${characters.slice(head.length - kept).join("")}`;
}

export function figure(value: number): string {
  if (!Number.isFinite(value)) return "-";
  if (value === 0) return "0";
  const magnitude = Math.abs(value);
  if (magnitude >= 1e6 || magnitude < 1e-4) return value.toExponential(2);
  const rounded = Number(value.toPrecision(3)); // 0.9996 has the digits of 1.00
  return rounded.toFixed(Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded)))));
}

function scaled(value: number, steps: [number, string][]): string {
  const magnitude = Math.abs(value);
  const last = steps[steps.length - 1] ?? [1, ""];
  // 999.6 us is 1.00 ms, not 1000 us.
  const [factor, unit] = steps.find(([each]) => magnitude >= 0.9995 * each) ?? last;
  return `${figure(value / factor)} ${unit}`;
}

export function seconds(value: number): string {
  if (value === 0) return "0 s";
  return scaled(value, [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "us"],
    [1e-9, "ns"],
  ]);
}

export function bytes(value: number): string {
  return scaled(value, [
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
    [1, "B"],
  ]);
}

/** Rates in decimal units, as everywhere in the program. */
export function bytesPerSecond(value: number): string {
  return scaled(value, [
    [1e9, "GB/s"],
    [1e6, "MB/s"],
    [1e3, "kB/s"],
    [1, "B/s"],
  ]);
}

export const cellsPerSecond = (value: number) => `${figure(value / 1e9)} GCell/s`;

/** Numbers of things: small ones in full, large ones in thousands (k), millions (M), ... */
export function quantity(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e4) return String(value);
  return scaled(value, [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
    [1, ""],
  ]).trimEnd();
}

export const percent = (value: number) => `${figure(100 * value)} %`;
export const times = (value: number) => `${figure(value)}x`;
export const count = (value: number) => String(value);
