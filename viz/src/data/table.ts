// SPDX-License-Identifier: Apache-2.0
// The table behind a picture: full numbers, each column with the way to show them.
import { figure, seconds } from "./units";

export type Cell = string | number | null;

/** The head of a column. */
export interface Head {
  name: string;
  /** Of the numbers as they are in the table and in the CSV file. */
  unit?: string;
  /** How a number is shown on the page; three digits without. */
  show?: (value: number) => string;
}

/** With what it has of each thing that is a row. */
export interface Column<T> extends Head {
  of: (each: T) => Cell;
}

export const inSeconds = <T>(name: string, of: Column<T>["of"]): Column<T> => ({
  name,
  unit: "s",
  show: seconds,
  of,
});

export interface Table {
  columns: Head[];
  rows: Cell[][];
}

export const tableOf = <T>(columns: Column<T>[], things: T[]): Table => ({
  columns,
  rows: things.map((each) => columns.map(({ of }) => of(each))),
});

export function shown(cell: Cell, column: Head): string {
  if (cell === null) return "-";
  return typeof cell === "number" ? (column.show ?? figure)(cell) : cell;
}

/** RFC 4180; numbers in full, nothing for null. */
export function csvOf(table: Table): string {
  const quoted = (value: string) =>
    /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  // A spreadsheet takes text that begins like this for a formula.
  const harmless = (value: string) => (/^[=+\-@\t]/.test(value) ? `'${value}` : value);
  const lines = [
    table.columns.map((column) =>
      quoted(column.unit ? `${column.name} (${column.unit})` : column.name),
    ),
    ...table.rows.map((row) =>
      row.map((cell) =>
        cell === null ? "" : typeof cell === "number" ? String(cell) : quoted(harmless(cell)),
      ),
    ),
  ];
  return lines.map((line) => line.join(",") + "\r\n").join("");
}
