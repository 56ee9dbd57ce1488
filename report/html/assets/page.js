// What the other scripts share. All text goes into the page as text (textContent), never as markup.

const root = document.documentElement;
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const format = new Intl.NumberFormat("en-US");
const thousands = (n) => format.format(n);

// percent writes a share as the tables do: it rounds neither something to nothing nor nearly all to all.
function percent(part, whole) {
  const p = whole ? (100 * part) / whole : 0;
  if (p > 0 && p < 0.01) return "<0.01";
  if (p > 99.99 && p < 100) return ">99.99";
  return p.toFixed(2);
}

// make builds an element with a text and attributes.
function make(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// color is what a colour of the style sheet comes to in the present theme.
const probe = document.body.appendChild(make("i", "", { hidden: "", "aria-hidden": "true" }));
function color(name) {
  probe.className = "";
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

// sums are so many numbers, by their differences. Where there are no more, the last number stays.
function sums(differences, length = differences.length) {
  let n = 0;
  return Array.from({ length }, (_, i) => (n += differences[i] ?? 0));
}

// Each drawer is called again when the theme or the width changes, and before and after printing.
const drawers = [];
function redraw() {
  for (const draw of drawers) draw();
}
for (const input of document.querySelectorAll("input[name=theme]")) input.addEventListener("change", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
matchMedia("print").addEventListener("change", redraw);

let width = 0;
let waiting = 0;
new ResizeObserver(() => {
  if (document.body.clientWidth === width) return;
  width = document.body.clientWidth;
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(redraw);
}).observe(document.body);

// A closed section is open on paper.
addEventListener("beforeprint", () => {
  for (const detail of document.querySelectorAll("details")) detail.open = true;
});

// axis is how the axes of all charts look.
function axis(more) {
  return {
    stroke: color("soft"),
    grid: { stroke: color("grid"), width: 1 },
    ticks: { stroke: color("grid"), width: 1 },
    font: "12px system-ui, sans-serif",
    ...more,
  };
}

root.classList.add("scripted");
