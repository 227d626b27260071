// SPDX-License-Identifier: Apache-2.0
// The colours of a field.

/** Viridis (van der Walt and Smith, 2015) at nine places: even steps of lightness, whatever the eye. */
const viridis = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
] as const;

/** Colour of a value between 0 and 1; grey for what is not finite. */
export function colourOf(fraction: number): [number, number, number] {
  if (!Number.isFinite(fraction)) return [128, 128, 128];
  const place = Math.min(1, Math.max(0, fraction)) * (viridis.length - 1);
  const index = Math.min(Math.floor(place), viridis.length - 2);
  const [a, b] = [viridis[index]!, viridis[index + 1]!];
  const mix = (channel: 0 | 1 | 2) =>
    Math.round(a[channel] + (place - index) * (b[channel] - a[channel]));
  return [mix(0), mix(1), mix(2)];
}
