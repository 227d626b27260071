// SPDX-License-Identifier: Apache-2.0
// A table that stays quick with tens of thousands of rows: it shows a part, sorts and filters all.
import { type Cell, type Head, shown, type Table } from "../data/table";
import { button, el } from "./dom";

const pageLength = 100;

function compare(a: Cell, b: Cell): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1; // unknown last
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

export function tableView(table: Table, label: string): HTMLElement {
  let rows = table.rows;
  let length = pageLength;
  let sorted: { column: number; ascending: boolean } | null = null;
  const body = el("tbody");
  const more = button("", () => {
    length += 10 * pageLength;
    fill();
  });
  const filter = el("input", {
    type: "search",
    placeholder: "filter",
    "aria-label": `Filter ${label}`,
  });
  const found = el("span", { class: "muted", role: "status" });

  const cellOf = (cell: Cell, column: Head | undefined) =>
    typeof cell === "number"
      ? el(
          "td",
          { class: "number", "data-value": String(cell) },
          shown(cell, column ?? { name: "" }),
        )
      : el(
          "td",
          (cell ?? "").length > 60 ? { class: "sentence" } : {},
          shown(cell, column ?? { name: "" }),
        );

  function fill(): void {
    body.replaceChildren(
      ...rows
        .slice(0, length)
        .map((row) =>
          el("tr", {}, ...row.map((cell, index) => cellOf(cell, table.columns[index]))),
        ),
    );
    more.hidden = rows.length <= length;
    more.textContent = `Show more (${Math.max(0, rows.length - length)} left)`;
  }

  function select(): void {
    const wanted = filter.value.toLowerCase();
    const holds = (cell: Cell) =>
      String(cell ?? "")
        .toLowerCase()
        .includes(wanted);
    rows = table.rows.filter((row) => wanted === "" || row.some(holds));
    if (sorted !== null) {
      const { column, ascending } = sorted;
      const sign = ascending ? 1 : -1;
      rows.sort((a, b) => sign * compare(a[column] ?? null, b[column] ?? null));
    }
    found.textContent = wanted === "" ? "" : ` ${rows.length} of ${table.rows.length} rows`;
    fill();
  }

  const heads = table.columns.map((column, index) => {
    const sort = button(column.name, () => {
      sorted = { column: index, ascending: sorted?.column === index ? !sorted.ascending : true };
      const order = sorted.ascending ? "ascending" : "descending";
      heads.forEach((head, other) =>
        head.setAttribute("aria-sort", other === index ? order : "none"),
      );
      select();
    });
    return el("th", { scope: "col", "aria-sort": "none" }, sort);
  });

  const view = el("div", { class: "table" });
  if (table.rows.length > 20) {
    filter.addEventListener("input", () => {
      length = pageLength;
      select();
    });
    view.append(el("p", {}, filter, found));
  }
  view.append(
    el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
      el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body),
    ),
    more,
  );
  fill();
  return view;
}
