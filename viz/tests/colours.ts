// SPDX-License-Identifier: Apache-2.0
// How far colours are apart, to eyes with all kinds of cones and to those that lack one.

/** Linear sRGB as seen without one kind of cones (Machado, Oliveira, Fernandes 2009, severity 1). */
const eyes = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};
type Triple = [number, number, number];

function linear(hex: string): Triple {
  return [1, 3, 5].map((at) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Triple;
}

/** CIELAB under D65. */
function lab([r, g, b]: Triple): Triple {
  const [x, y, z] = [
    (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047,
    0.2126729 * r + 0.7151522 * g + 0.072175 * b,
    (0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883,
  ].map((t) => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116)) as Triple;
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** CIEDE2000 (Sharma, Wu, Dalal 2005). */
export function difference([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const seventh = (chroma: number) => Math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7));
  const stretch = 1.5 - 0.5 * seventh((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2);
  const polar = (a: number, b: number): [number, number] => [
    Math.hypot(stretch * a, b),
    (Math.atan2(b, stretch * a) * 180) / Math.PI,
  ];
  const [[c1, angle1], [c2, angle2]] = [polar(a1, b1), polar(a2, b2)];
  const [h1, h2] = [angle1, angle2].map((angle) => (angle + 360) % 360) as [number, number];
  const grey = c1 * c2 === 0;
  const turn = grey ? 0 : ((h2 - h1 + 540) % 360) - 180;
  const hue = grey ? h1 + h2 : (h1 + turn / 2 + 360) % 360;
  const [dl, dc, dh] = [l2 - l1, c2 - c1, 2 * Math.sqrt(c1 * c2) * Math.sin(radians(turn / 2))];
  const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const t =
    1 -
    0.17 * Math.cos(radians(hue - 30)) +
    0.24 * Math.cos(radians(2 * hue)) +
    0.32 * Math.cos(radians(3 * hue + 6)) -
    0.2 * Math.cos(radians(4 * hue - 63));
  const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2);
  const [sc, sh] = [1 + 0.045 * c, 1 + 0.015 * c * t];
  const rotation = -Math.sin(radians(60 * Math.exp(-(((hue - 275) / 25) ** 2)))) * 2 * seventh(c);
  return Math.sqrt(
    (dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rotation * (dc / sc) * (dh / sh),
  );
}

/** The least that two of these colours ("#rrggbb") are apart to any of those eyes, and which two. */
export function nearest(colours: string[]): { apart: number; pair: string } {
  let found = { apart: Infinity, pair: "" };
  for (const [eye, rows] of Object.entries(eyes)) {
    const seen = colours.map((hex) => {
      const light = linear(hex);
      const cones = rows.map((row) => row.reduce((sum, each, at) => sum + each * light[at]!, 0));
      return lab(cones.map((each) => Math.min(1, Math.max(0, each))) as Triple);
    });
    seen.forEach((one, index) =>
      seen.slice(0, index).forEach((other, before) => {
        const apart = difference(one, other);
        if (apart < found.apart)
          found = { apart, pair: `${colours[index]} and ${colours[before]} (${eye})` };
      }),
    );
  }
  return found;
}
