// Any limit: what is chosen is asked, and what is answered is shown. No figure is computed but sums and shares. Another script
// says how a question is answered (ask), and how a limit is chosen (written, recall, stopsOf, stateOf, questionOf).

const within = location.href === "about:srcdoc"; // the page stands in another one
const rowsAtOnce = 20;
const slider = byId("slider"), number = byId("number"), limit = byId("limit"), protect = byId("protect"), zoom = byId("zoom");
const onChange = [], onCurve = [], onMove = []; // what else is done then

let curve = null, isOld = true, move = null, stops = [1], chart = null, drawn = [], drawnTo = 0; // isOld: the curve is of another limit
let sort = "", reverse = false, from = 0;

// latest asks the last question of those that come while one is answered. Others are never asked. What is wrong is told.
function latest(show, tell = complain) {
  let busy = false, waiting = null;
  return async (question) => {
    waiting = question;
    if (busy) return;
    busy = true;
    while (waiting) {
      const now = waiting;
      let wrong = "";
      waiting = null;
      try {
        show(await ask(now), now);
      } catch (error) {
        wrong = error.message;
      }
      tell(now.ask, wrong);
    }
    busy = false;
  };
}

// complain shows what is wrong with the questions of each kind. Without a move all figures are old.
const wrongs = new Map();
function complain(what, wrong) {
  wrongs.set(what, wrong);
  byId("state").textContent = [...new Set(wrongs.values())].filter(Boolean).join("; ");
  root.classList.toggle("stale", Boolean(wrongs.get("move")));
}

const askMove = latest(showMove), askCurve = latest(showCurve, (what, wrong) => {
  if (wrong) showCurve(null);
  complain(what, wrong);
});
const listing = (begin, rows) => ({ ...questionOf("move"), sort, reverse, filter: byId("filter")?.value.trim() ?? "", from: begin, rows });
const list = () => askMove(listing(from, rowsAtOnce));

// relist lists other clients from the first one on.
function relist() {
  from = 0;
  list();
}

// change asks about the limit that is chosen; about its curve only where that is another one. A limit that was typed stays as
// it was.
function change(other, typed) {
  if (!typed) limit.value = written();
  complain("limit", "");
  if (other) {
    isOld = true;
    byId("explore").classList.add("waiting");
  }
  scale();
  if (!other && top() !== drawnTo) drawCurve();
  for (const act of onChange) act();
  relist();
  if (other) askCurve(questionOf("curve"));
  remember();
}

// The slider and the chart have the same scale of sizes, a logarithmic one from 1 to the last of the curve, or to N itself where
// that lies beyond.
const sliderLength = 1000;
const top = () => Math.max(10, Number(number.value), ...(curve?.points.slice(-1).map((p) => p.n) ?? [100]));
const sliderPlace = (n) => Math.round((sliderLength * Math.log(n)) / Math.log(top()));
const stopAt = (n) => Math.max(0, stops.findLastIndex((stop) => stop <= n));

function scale() {
  stops = stopsOf();
  slider.max = sliderLength;
  slider.value = sliderPlace(Math.max(1, Number(number.value)));
}

function choose(n) {
  if (slider.disabled) return;
  number.value = Math.min(Math.max(stops[0], Math.round(n)), top());
  change(false);
}

slider.addEventListener("input", () => choose(stops[stopAt(Math.round(Math.exp((Number(slider.value) / sliderLength) * Math.log(top()))))]));

// A key goes to the next size, however near it is.
slider.addEventListener("keydown", (event) => {
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity }[event.key];
  if (!steps || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  const n = Number(number.value), at = stopAt(n), between = steps < 0 && stops[at] < n ? 1 : 0;
  choose(stops[Math.min(Math.max(at + steps + between, 0), stops.length - 1)]);
});

number.addEventListener("change", () => change(false));
limit.addEventListener("change", () => {
  if (recall({ ...stateOf(), limit: limit.value.trim() })) change(true, true);
});

// The second handle: the least N that spares a share of the protected clients.
protect?.addEventListener("input", () => {
  const n = curve.keeps[Number(protect.value) - 1];
  choose(n || (Number(protect.value) > 0 ? curve.points[curve.points.length - 1].n : 1));
});

function showProtected() {
  if (!protect) return;
  const able = curve && !isOld && !slider.disabled && curve.keeps.some((n) => n > 0) && curve.groups.some((g) => g.protected);
  protect.disabled = !able;
  if (!able) byId("protect-words").textContent = isOld ? "" : "not known";
  if (!able) return;
  const kept = curve.keeps.findLastIndex((n) => n > 0 && n <= Number(number.value)), clients = sumOf(some(curve.groups, "protected"), "clients");
  const text = `${kept < 0 ? `less than ${data.percents[0]}` : data.percents[kept]} % of ${thousands(clients)}`;
  protect.value = kept + 1;
  byId("protect-words").textContent = text;
  protect.setAttribute("aria-valuetext", `${text} ${data.protects}`);
}

// What a limit does.

const num = (n) => [typeof n === "number" ? thousands(n) : n, { class: "num" }];
const sumOf = (groups, figure) => groups.reduce((sum, g) => (g[figure] === null ? null : sum + g[figure]), 0);
const part = (n, all) => (n === null || all === null ? "–" : percent(n, all));
const count = (n) => (n === null ? "–" : thousands(n));

// some are the groups of a role, or all where none has it.
function some(groups, role) {
  const its = groups.filter((g) => g[role]);
  return its.length > 0 ? its : groups;
}

function row(head, cells) {
  const tr = make("tr");
  tr.append(head);
  for (const [text, attributes] of cells) tr.append(make("td", text, attributes));
  return tr;
}

function showMove(answer, asked) {
  move = answer;
  const { groups } = move, target = some(groups, "target"), spared = some(groups, "protected");
  const all = { identity: "all", ...Object.fromEntries(["clients", "hit", "requests", "refused"].map((figure) => [figure, sumOf(groups, figure)])) };
  all.requests ??= move.requests;
  const cards = [
    [`${part(sumOf(target, "refused"), sumOf(target, "requests"))} %`, `of the target refused: ${count(sumOf(target, "refused"))} of ${thousands(sumOf(target, "requests"))} requests`],
    [thousands(sumOf(spared, "hit")), `of ${thousands(sumOf(spared, "clients"))} ${spared === groups ? "" : "protected "}clients hit (${percent(sumOf(spared, "hit"), sumOf(spared, "clients"))} %)`],
    [`${part(all.refused, all.requests)} %`, "of all requests refused"],
  ].slice(target === groups ? 1 : 0);
  byId("cards").replaceChildren(...cards.map(([figure, label]) => {
    const li = make("li");
    li.append(make("b", figure), label);
    return li;
  }));
  slider.setAttribute("aria-valuetext", `${move.limit}: ${cards.map(([figure, label]) => `${figure} ${label}`).join(", ")}`);
  byId("hit-limit").textContent = move.limit;
  const role = (g) => [g.protected && "protected", g.target && "target"].filter(Boolean).join(", ");
  const rows = [...groups, all].map((g) => row(make("th", g.identity, { scope: "row" }), [[role(g), {}], num(g.clients), num(g.hit), num(percent(g.hit, g.clients)), num(count(g.requests)), num(count(g.refused)), num(part(g.refused, g.requests))]));
  rows[rows.length - 1].classList.add("sum");
  byId("groups").tBodies[0].replaceChildren(...rows);
  byId("uncounted").hidden = all.refused !== null;
  showLines();
  if (byId("clients")) showRows(all.hit);
  for (const act of onMove) act(asked);
  showProtected();
  chart?.redraw(false);
}

// showLines shows what to paste for the limit: for a server, and for a terminal.
function showLines() {
  const blocks = [...(move.lines ?? []), ...(move.command ? [["The same on a terminal", move.command]] : [])].map(([place, text]) => {
    const block = make("div", "", { class: "block" }), pre = make("pre", "", { tabindex: "0", "aria-label": `Lines for ${place}` });
    pre.append(make("code", text));
    block.append(make("p", place, { class: "place" }), pre);
    copying(block);
    return block;
  });
  if (move.lack && !move.lines?.length) blocks.unshift(make("p", move.lack, { class: "note" }));
  byId("lines").replaceChildren(...blocks);
}

function showRows(hit) {
  byId("clients").tBodies[0].replaceChildren(...move.hit.map((c) => {
    const head = make("th", c.id === undefined ? c.client : "", { scope: "row" });
    if (c.id !== undefined) head.append(openingOf(c));
    return row(head, [[c.identity, {}], [c.short, { title: c.agent }], num(c.requests), num(c.refused), num(percent(c.refused, c.requests)), [c.reasons.join("\n"), { class: "why" }]]);
  }));
  const last = from + move.hit.length, filtered = byId("filter").value.trim() !== "";
  byId("found").textContent = move.found === 0 ? (hit > 0 ? "No client that is listed." : "It hits no client.")
    : `${thousands(from + 1)} to ${thousands(last)} of ${thousands(move.found)}${!filtered && move.found < hit ? ` that are listed; it hits ${thousands(hit)}` : ""}`;
  byId("earlier").disabled = from === 0;
  byId("later").disabled = last >= move.found;
}

// isName reports whether a column begins with the first name when it is sorted; others begin with the largest number.
const isName = (column) => column === "client" || column === "identity";

byId("filter")?.addEventListener("input", relist);
for (const [id, by] of [["earlier", -rowsAtOnce], ["later", rowsAtOnce]]) byId(id)?.addEventListener("click", () => {
  from = Math.max(0, from + by);
  list();
});
for (const head of byId("clients")?.tHead.rows[0].cells ?? []) {
  const column = head.textContent;
  if (["agent", "why"].includes(column)) continue;
  sortable(head, (down) => {
    sort = column === "%" ? "share" : column;
    reverse = isName(sort) === down;
    relist();
  });
}

// Clients can be taken away: all that are listed, by a file that the browser saves.

const mostRows = 100_000;

// take asks for all clients of the limit that is chosen, and saves what is made of them.
async function take(name, type, made) {
  const question = { ...listing(0, mostRows), times: false };
  try {
    const answer = await ask(question);
    save(name, type, made(question, answer));
    const all = answer.hit.length === answer.found;
    complain("save", all ? "" : `The first ${thousands(answer.hit.length)} of ${thousands(answer.found)} clients were saved; shadow replay --top N has all`);
  } catch (error) {
    complain("save", error.message);
  }
}

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  make("a", "", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// cell is a text in a CSV. A spreadsheet must not take it for a formula.
function cell(value) {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

byId("save-json")?.addEventListener("click", () => take("shadow-clients.json", "application/json", (question, answer) => JSON.stringify({ question, ...answer }, null, 2)));
byId("save-csv")?.addEventListener("click", () => take("shadow-clients.csv", "text/csv", ({ by: key, action: name }, answer) => {
  const head = ["limit", "by", "action", "client", "identity", "agent", "requests", "refused"];
  const rows = answer.hit.map((c) => [answer.limit, key ?? "client", name ?? data.answer.action, c.client, c.identity, c.agent, c.requests, c.refused]);
  return [head, ...rows].map((cells) => `${cells.map(cell).join(",")}\n`).join("");
}));

// The curve.

const tones = ["all", "crawler", "tool", "monitor", "doubted", "unknown"];

// linesOf are the lines that the chart can have: shares in percent, null where they are not known; and what share a move has.
function linesOf({ groups, points, requests }) {
  const share = (role, figure, all) => {
    const whole = sumOf(role, all) ?? requests, indices = role.map((g) => groups.indexOf(g));
    const part = (n) => (n === null || !whole ? n : (100 * n) / whole);
    const values = points.map((p) => (figure === "refused" && !p.counted ? null : part(indices.reduce((sum, i) => sum + p[figure][i], 0))));
    return { values, of: ({ groups: its }) => part(its.length === groups.length ? sumOf(indices.map((i) => its[i]), figure) : null) };
  };
  const target = some(groups, "target"), spared = some(groups, "protected");
  const lines = [
    { name: target === groups ? "requests refused" : "target requests refused", color: "refused", on: true, ...share(target, "refused", "requests") },
    { name: spared === groups ? "clients hit" : `${data.protects} hit`, color: spared === groups ? "all" : "browser", dashed: true, on: true, ...share(spared, "hit", "clients") },
  ];
  if (groups.length < 2) return lines;
  for (const [i, g] of groups.entries()) {
    if (spared.length > 1 || spared[0] !== g) lines.push({ name: `${g.identity} hit`, color: tones[i % tones.length], dashed: true, on: false, ...share([g], "hit", "clients") });
  }
  return lines;
}

// showCurve shows a curve, or that none is known.
function showCurve(answer) {
  const shown = new Map(drawn.map((line) => [line.name, line.on]));
  curve = answer;
  isOld = !curve;
  byId("explore").classList.remove("waiting");
  for (const act of onCurve) act();
  drawn = curve ? linesOf(curve) : [];
  for (const line of drawn) line.on = shown.get(line.name) ?? line.on;
  scale();
  byId("legend").replaceChildren(...drawn.map((line) => {
    const label = make("label"), box = make("input", "", { type: "checkbox" });
    box.checked = line.on;
    box.addEventListener("change", () => {
      line.on = box.checked;
      drawCurve();
    });
    const mark = make("i", "", { class: line.dashed ? "dashed" : "" });
    mark.style.borderColor = `var(--${line.color})`;
    label.append(box, mark, line.name);
    return label;
  }));
  showProtected();
  drawCurve();
}

function drawCurve() {
  chart?.destroy();
  chart = null;
  drawnTo = top();
  const some = curve && curve.points.length > 0;
  byId("chart-words").textContent = !some ? "" : `${curve.note ?? ""} Drag in the chart to move N.${looserWords()}`
    + (boundOf() === null ? "" : ` The dotted line is the bound: under the promise no limit by client refuses more than ${percent(data.bound, 100)} % of the target requests.`);
  if (!some) return;
  const sizes = curve.points.map((p) => p.n);
  chart = limitChart(byId("chart"), {
    sizes, lines: drawn.filter((line) => line.on), top: top(), most: Number(zoom.value), stepped: curve.stepped, pick: choose, placed: below,
    marks: () => ({ n: Number(number.value), shares: (line) => (move && !isOld && !isPart() ? line.of(move) : null), answer: answerOf(), bound: boundOf() }),
  });
}

// below puts the slider below what the chart draws in.
function below({ left, width: wide }) {
  const knob = 16; // pixels
  slider.style.marginLeft = `${left / dot() - knob / 2}px`;
  slider.style.width = `${wide / dot() + knob}px`;
}

// looserWords says why the answer is not the least limit that hits no protected client.
function looserWords() {
  const least = isOld ? 0 : curve.keeps[curve.keeps.length - 1];
  if (!least || answerOf() <= least) return "";
  return ` The answer is looser than N = ${thousands(least)}, the least that hits no protected client: ${data.answer.why}.`;
}

// isPart reports whether the figures are those of a part of the time.
function isPart() {
  const { since: begin, until: end } = questionOf("move");
  return Boolean(begin || end);
}

// What was found is about the requests that the answer is about, counted as it counts them, in the log as it was then.
const isAnswers = () => (!data.state || move?.version === data.state.version) && Object.entries(stateOf()).every(([name, value]) => name === "limit" || value === data.answer[name]);
const answerOf = () => (isAnswers() && data.answer.shape && data.answer.shape === curve?.shape ? data.answer.n : 0);
const boundOf = () => (isAnswers() && curve?.groups.some((g) => g.target) ? data.bound : null);

zoom.addEventListener("change", drawCurve);
drawers.push(drawCurve);

// The address has the state, once it has stayed for a moment: each one is a place to come back to. The browser reports such a
// change later; own is what it will report, and what was chosen meanwhile must stay. So must an address that was given meanwhile.
let pending = 0, own = "", last = "";
const addressOf = () => `#${new URLSearchParams(stateOf())}`;
function remember() {
  clearTimeout(pending);
  if (within) return; // it has no address
  const before = location.hash;
  pending = setTimeout(() => {
    const at = location.hash;
    if ((at !== before && at !== last) || at === addressOf() || (at === "" && limit.value === data.answer.limit && isAnswers())) return;
    location.hash = last = addressOf();
    own = location.href;
  }, 250);
}

// restore goes by the address; one without a limit is a place on the page.
function restore() {
  clearTimeout(pending);
  const state = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  if (state.limit !== undefined) {
    if (!recall({ ...data.answer, ...state })) return;
    change(true, true);
    clearTimeout(pending); // it is there
  } else if (location.hash === "" || !move) {
    backToAnswer();
  }
}

function backToAnswer() {
  recall(data.answer);
  change(true, true);
}

byId("back").addEventListener("click", backToAnswer);
addEventListener("hashchange", (event) => {
  if (event.newURL !== own) restore();
  own = "";
});
