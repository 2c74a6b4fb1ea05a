"use strict";
// Tables get a search, columns that sort, and a short form; without this script every table is there whole.
document.querySelectorAll("table.data").forEach((table) => {
  const body = table.tBodies[0], rows = [...body.rows], short = 25;
  const shown = (row) => !row.dataset.out;
  let whole = rows.length <= short + 5;
  const bar = document.createElement("p"), state = document.createElement("span");
  bar.className = "tools";
  state.setAttribute("role", "status");
  const more = document.createElement("button");
  more.type = "button";
  const draw = () => {
    let kept = 0, fitting = 0;
    for (const row of body.rows) {
      if (shown(row)) fitting += 1;
      row.hidden = !shown(row) || (!whole && kept >= short);
      if (!row.hidden) kept += 1;
    }
    state.textContent = kept === rows.length ? "" : ` ${kept} of ${rows.length} lines `;
    more.hidden = whole || kept === fitting;
    more.textContent = `show all ${fitting}`;
  };
  more.addEventListener("click", () => { whole = true; draw(); });
  if (rows.length > 8) {
    const label = document.createElement("label"), input = document.createElement("input");
    label.append("Search ", input);
    input.type = "search";
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase();
      rows.forEach((row) => { row.dataset.out = row.textContent.toLowerCase().includes(wanted) ? "" : "1"; });
      draw();
    });
    bar.append(label);
  }
  bar.append(state, more);
  table.closest(".scroll").before(bar);
  const value = (row, column) => row.cells[column].textContent.trim();
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const name = head.textContent, button = document.createElement("button");
    if (!name || rows.length < 2) return;
    button.type = "button";
    button.textContent = name;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      [...table.tHead.rows[0].cells].forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      // Numbers come first, whichever way they are sorted: a dash stands for what is not there.
      const way = up ? 1 : -1, number = (text) => parseFloat(text);
      const order = (s, t) => {
        const a = number(s), b = number(t);
        if (isNaN(a) !== isNaN(b)) return isNaN(a) - isNaN(b);
        return way * (isNaN(a) ? s.localeCompare(t, undefined, { numeric: true }) : a - b);
      };
      const sorted = [...body.rows].sort((p, q) => order(value(p, column), value(q, column)));
      body.append(...sorted);
      draw();
    });
  });
  draw();
});
