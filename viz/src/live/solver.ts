// What every way to solve the problem is to the card.

export interface Solver {
  /** Brings the field there; the steps before are forgotten. */
  upload(cells: Float32Array): Promise<void> | void;
  /** Done when the promise is. */
  advance(steps: number): Promise<void> | void;
  /** The field as it is, in memory of its own. */
  download(): Promise<Float32Array<ArrayBuffer>> | Float32Array<ArrayBuffer>;
}

/** Lets the page react, and paint. */
export const breathe = () => new Promise<void>((resolve) => setTimeout(resolve));
