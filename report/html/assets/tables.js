// Heads that sort, and fields that search.

const keyOf = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.key ?? cell.textContent;
};

const collator = new Intl.Collator("en", { numeric: true });

// compare orders numbers by their size and all else as people would; what is no number comes last.
function compare(a, b) {
  const x = Number(a.replaceAll(",", "")), y = Number(b.replaceAll(",", ""));
  const isX = a !== "" && !Number.isNaN(x), isY = b !== "" && !Number.isNaN(y);
  if (isX && isY) return x - y;
  if (isX !== isY) return isX ? -1 : 1;
  return collator.compare(a, b);
}

// sortable gives a head a button that sorts by its column: numbers begin with the largest.
function sortable(head, sort) {
  const button = make("button", head.textContent, { type: "button" });
  head.replaceChildren(button);
  button.addEventListener("click", () => {
    const was = head.getAttribute("aria-sort"), down = was ? was === "ascending" : head.classList.contains("num");
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    sort(down);
  });
}

function sortBy(table, column, down) {
  const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row, column), row]);
  rows.sort((a, b) => (down ? compare(b[0], a[0]) : compare(a[0], b[0])));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

function addSearch(figure, table) {
  const field = make("input", "", { type: "search", "aria-label": figure.dataset.search, placeholder: figure.dataset.search, autocomplete: "off", spellcheck: "false" });
  const found = make("span", "", { class: "note", role: "status" });
  const line = make("p", "", { class: "search" });
  line.append(field, found);
  figure.prepend(line);
  const whole = (row) => [...row.cells].map((cell) => `${cell.textContent} ${cell.title}`).join(" ");
  const rows = [...table.tBodies[0].rows].map((row) => [whole(row).toLowerCase(), row]);
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    let shown = 0;
    for (const [text, row] of rows) {
      row.hidden = !text.includes(wanted);
      shown += !row.hidden;
    }
    found.textContent = wanted ? `${thousands(shown)} of ${thousands(rows.length)}` : "";
  });
}

for (const figure of document.querySelectorAll("figure.table")) {
  const table = figure.querySelector("table");
  [...table.tHead.rows[0].cells].forEach((head, column) => sortable(head, (down) => sortBy(table, column, down)));
  if (figure.dataset.search) addSearch(figure, table);
  if (table.rows.length > 20) figure.classList.add("tall");
}
