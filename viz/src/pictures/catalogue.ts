// All pictures, in the order of the page.
import type { ResultFile } from "../data/results";
import { ladder } from "./ladder";
import { ledger } from "./ledger";
import type { Missing, Picture } from "./picture";

const makers: ((file: ResultFile) => Picture | Missing | null)[] = [ladder, ledger];

export function picturesOf(file: ResultFile): (Picture | Missing)[] {
  return makers.flatMap((make) => {
    const made = make(file);
    return made === null ? [] : [made];
  });
}
