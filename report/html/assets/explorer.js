// Any limit: what is chosen here is asked of the program that holds the log, and what it answers is shown. No figure is
// computed but shares.

// Where the page stands in another one, that one passes questions on to an engine.
const within = location.href === "about:srcdoc", wanting = new Map();
let asked = 0;
addEventListener("message", ({ source, data: { number, answer, error } }) => {
  if (!within || source !== parent) return;
  const { resolve, reject } = wanting.get(number);
  wanting.delete(number);
  if (error) reject(new Error(error));
  else resolve(answer);
});

// What is dragged is for the page around.
if (within) addEventListener("dragenter", () => parent.postMessage({ dragged: true }, "*"));

// ask returns the answer to a question.
async function ask(question) {
  if (within) {
    return new Promise((resolve, reject) => {
      wanting.set(++asked, { resolve, reject });
      parent.postMessage({ number: asked, question }, "*"); // there is no secret in a question
    });
  }
  let reply;
  try {
    reply = await fetch("ask", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) });
  } catch {
    throw new Error("The program has ended. Start shadow explore again, and open the address that it prints.");
  }
  const answer = await reply.json();
  if (!reply.ok) throw new Error(answer.error);
  return answer;
}

// latest asks the last question of those that come while one is answered. Others are never asked.
function latest(show) {
  let busy = false, waiting = null;
  return async function next(question) {
    if (busy) {
      waiting = question;
      return;
    }
    busy = true;
    let wrong = "";
    try {
      show(await ask(question), question);
    } catch (error) {
      wrong = error.message;
    }
    complain(question.ask, wrong);
    busy = false;
    if (waiting) {
      const again = waiting;
      waiting = null;
      next(again);
    }
  };
}

// complain shows what is wrong with the questions of each kind. Without a move all figures are old.
const wrongs = new Map();
function complain(what, wrong) {
  wrongs.set(what, wrong);
  byId("state").textContent = [...new Set(wrongs.values())].filter(Boolean).join(" ");
  root.classList.toggle("stale", Boolean(wrongs.get("move")));
}

const rowsAtOnce = 20;
const kind = byId("kind"), rate = byId("rate"), per = byId("per"), by = byId("by"), action = byId("action");
const slider = byId("slider"), number = byId("number"), limit = byId("limit");
const since = byId("since"), until = byId("until"), other = byId("other");
let curve = null, move = null, sort = "refused", from = 0, client = null, oneCharts = [], top = 100, stops = [1], times = null, timeChart = null, curveChart = null;

// reach makes top the largest N of the slider and of the chart, whose scale is the same: that of the curve, or N itself where
// it lies beyond. The slider stops at different N only.
function reach() {
  top = Math.max(10, Number(number.value), ...(curve?.points.slice(-1).map((p) => p.n) ?? [100]));
  stops = [];
  for (let i = 0; i <= 400; i++) {
    const n = Math.round(Math.exp((i / 400) * Math.log(top)));
    if (stops.length === 0 || n > stops[stops.length - 1]) stops.push(n);
  }
  slider.max = stops.length - 1;
  slider.value = Math.max(0, stops.findLastIndex((n) => n <= Number(number.value)));
}

// wholeNumber makes a field hold a whole number from 1 on, and returns it.
function wholeNumber(of) {
  const n = Math.max(1, Math.round(Number(of.value) || 1));
  if (of.value !== String(n)) of.value = n;
  return n;
}

// written is the limit that the controls say.
function written() {
  const n = wholeNumber(number), count = wholeNumber(rate);
  if (kind.value === "nginx" && per.value !== "1s") per.value = "1m"; // it has no other
  switch (kind.value) {
    case "token": return `token:${count}/${per.value},burst=${n}`;
    case "nginx": return `nginx:${count}r/${per.value === "1s" ? "s" : "m"}${n > 1 ? `,burst=${n - 1},nodelay` : ""}`;
    case "window": case "fixed": return `${kind.value}:${n}/${per.value}`;
  }
  return curve?.limit.before ? `${curve.limit.before}${n + curve.limit.add}${curve.limit.after}` : limit.value;
}

// spread sets the controls to a limit as it is written.
function spread(text) {
  const bucket = /^(token):(\d+)\/(\w+),burst=(\d+)$/.exec(text) ?? /^(nginx):(\d+)r\/(s|m)(?:,burst=(\d+),nodelay)?$/.exec(text);
  const window = /^(window|fixed):(\d+)\/(\w+)$/.exec(text);
  const period = bucket ? { s: "1s", m: "1m" }[bucket[3]] ?? bucket[3] : window?.[3];
  const known = [...per.options].some((o) => o.value === period);
  limit.value = text;
  if (bucket && known) {
    kind.value = bucket[1];
    rate.value = bucket[2];
    per.value = period;
    number.value = bucket[1] === "nginx" ? Number(bucket[4] ?? 0) + 1 : bucket[4];
  } else if (window && known) {
    kind.value = window[1];
    number.value = window[2];
    per.value = period;
  } else {
    kind.value = "other";
  }
}

const question = (what) => ({ ask: what, limit: limit.value, by: by.value, action: action.value });
const moving = () => ({
  ...question("move"), other: other.value.trim(), since: momentOf(since.value), until: momentOf(until.value), sort, filter: byId("filter").value, from, rows: rowsAtOnce,
});
const askMove = latest(showMove), askCurve = latest(showCurve), askClient = latest(showClient), askTimes = latest(showTimes);

// Moments are microseconds since 1970 for the program, and UTC without a zone for people.
const momentText = (at) => (at ? new Date(at / 1e3).toISOString().slice(0, 19).replace("T", " ") : "");
function momentOf(text) {
  const at = Date.parse(`${text.trim().replace(" ", "T")}Z`);
  return Number.isNaN(at) ? 0 : at * 1e3;
}

// change asks about the limit that is chosen; about its curve only where that is another one. A limit that was typed stays as
// it was.
function change(shape, typed) {
  if (!typed) limit.value = written();
  if (shape) curve = null;
  rate.disabled = kind.value !== "token" && kind.value !== "nginx";
  per.disabled = kind.value === "other";
  slider.disabled = number.disabled = kind.value === "other" && !curve?.limit.before;
  from = 0;
  if (shape || Number(number.value) > top) reach();
  else slider.value = Math.max(0, stops.findLastIndex((n) => n <= Number(number.value)));
  askMove(moving());
  askTimes(question("times"));
  if (shape) askCurve(question("curve"));
  remember();
}

const list = () => askMove(moving());

// remember keeps the state in the address.
function remember() {
  if (within) return; // it has no address
  history.replaceState(null, "", `#${new URLSearchParams({ limit: limit.value, by: by.value, action: action.value })}`);
}

function row(head, cells) {
  const tr = make("tr");
  tr.append(head);
  for (const [text, attributes] of cells) tr.append(make("td", text, attributes));
  return tr;
}
const num = (n) => [typeof n === "number" ? thousands(n) : n, { class: "num" }];
const sumOf = (groups, figure) => groups.reduce((sum, g) => sum + g[figure], 0);

function showMove(answer) {
  move = answer;
  const target = move.groups.filter((g) => g.target), protectedOnes = move.groups.filter((g) => g.protected);
  const cards = [
    [`${percent(sumOf(target, "refused"), sumOf(target, "requests"))} %`, `of the target refused: ${thousands(sumOf(target, "refused"))} of ${thousands(sumOf(target, "requests"))} requests`],
    [thousands(sumOf(protectedOnes, "hit")), `of ${thousands(sumOf(protectedOnes, "clients"))} protected clients hit (${percent(sumOf(protectedOnes, "hit"), sumOf(protectedOnes, "clients"))} %)`],
    [`${percent(move.all.refused, move.all.requests)} %`, "of all requests refused"],
  ];
  byId("cards").replaceChildren(...cards.map(([figure, label]) => {
    const li = make("li");
    li.append(make("b", figure), label);
    return li;
  }));
  slider.setAttribute("aria-valuetext", `${move.limit}: ${cards.map(([figure, label]) => `${figure} ${label}`).join(", ")}`);
  byId("hit-limit").textContent = move.limit;
  byId("command").textContent = move.command;
  byId("terminal").hidden = !move.command;
  const role = (g) => [g.protected && "protected", g.target && "target"].filter(Boolean).join(", ");
  const rows = [...move.groups, move.all].map((g) => row(make("th", g.identity, { scope: "row" }), [[role(g), {}], num(g.clients), num(g.hit), num(percent(g.hit, g.clients)), num(g.requests), num(g.refused), num(percent(g.refused, g.requests))]));
  rows[rows.length - 1].classList.add("sum");
  byId("groups").tBodies[0].replaceChildren(...rows);
  showRows();
  showCompared();
  curveChart?.redraw(false);
}

function showCompared() {
  const compared = move.compared;
  byId("both").hidden = byId("either").hidden = !compared;
  byId("compare-words").textContent = compared ? `${move.limit} hits ${thousands(compared.newly_hit)} clients that ${compared.limit} spares, and spares ${thousands(compared.released)} that it hits.` : "";
  if (!compared) return;
  const rows = move.groups.concat(move.all).map((g, i) => {
    const its = [...compared.groups, compared.all][i];
    return row(make("th", g.identity, { scope: "row" }), [num(g.hit), num(its.hit), num(g.refused), num(its.refused)]);
  });
  rows[rows.length - 1].classList.add("sum");
  byId("both").tBodies[0].replaceChildren(...rows);
  const either = (clients, is) => clients.map((c) => row(make("th", c.client, { scope: "row" }), [[is, {}], [c.identity, {}], [c.short, { title: c.agent }], num(c.requests), num(c.refused)]));
  byId("either").tBodies[0].replaceChildren(...either(compared.newly_hit_clients, "newly hit"), ...either(compared.released_clients, "released"));
}

// Over time.

function showTimes(answer) {
  times = answer;
  drawTimes();
}

function drawTimes() {
  const box = byId("time-chart");
  timeChart?.destroy();
  timeChart = null;
  if (!times) return;
  const at = times.requests.map((_, i) => (times.start + i * times.step) / 1e6), length = times.step / 1e6;
  const bars = uPlot.paths.bars({ size: [0.9, 100], align: 1 });
  const chosen = { from: momentOf(since.value), to: momentOf(until.value) };
  timeChart = newChart(box, 200, {
    cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, x: true, y: false },
    scales: { x: { time: true, range: [at[0], at[at.length - 1] + length] } }, axes: [clock(), axis({ size: 58 })], tzDate: utc,
    series: [{}, { stroke: color("pale"), fill: color("pale"), paths: bars, points: { show: false } }, { stroke: color("refused"), fill: color("refused"), paths: bars, points: { show: false } }],
    hooks: {
      setSelect: [(u) => {
        if (u.select.width < 4) return;
        choose(u.posToVal(u.select.left, "x") * 1e6, u.posToVal(u.select.left + u.select.width, "x") * 1e6);
      }],
      draw: [(u) => {
        if (!chosen.from && !chosen.to) return;
        const left = chosen.from ? u.valToPos(chosen.from / 1e6, "x", true) : u.bbox.left, right = chosen.to ? u.valToPos(chosen.to / 1e6, "x", true) : u.bbox.left + u.bbox.width;
        u.ctx.strokeStyle = color("accent");
        u.ctx.lineWidth = 2 * dot();
        u.ctx.strokeRect(left, u.bbox.top, Math.max(2, right - left), u.bbox.height);
      }],
    },
  }, [at, times.requests, times.refused]);
  byId("worst").disabled = !times.worst_minute;
  byId("time-words").textContent = `Requests, and in red those that are refused, in stretches of ${thousands(length)} s. Drag to choose a part of the time: the figures and clients are those of a replay of the whole log within it.`
    + (times.worst_minute ? ` In the worst minute, ${momentText(times.worst_minute.at).slice(0, 16)} UTC, ${thousands(times.worst_minute.refused)} are refused.` : "");
}

// choose looks at a part of the time, in whole seconds.
function choose(begin, end) {
  since.value = momentText(Math.floor(begin / 1e6) * 1e6);
  until.value = momentText(Math.ceil(end / 1e6) * 1e6);
  from = 0;
  drawTimes();
  list();
}

function showRows() {
  byId("clients").tBodies[0].replaceChildren(...move.hit.map((c) => {
    const open = make("button", c.client, { type: "button", class: "open" }), head = make("th", "", { scope: "row" });
    head.append(open);
    open.addEventListener("click", () => {
      client = c;
      byId("one-title").textContent = `One client: ${c.client}`;
      byId("one-words").textContent = "Its requests are being looked for …";
      askClient({ ...question("client"), client: c.id });
      byId("one").scrollIntoView();
      byId("one-title").focus({ preventScroll: true });
    });
    return row(head, [[c.identity, {}], [c.short, { title: c.agent }], num(c.requests), num(c.refused), num(percent(c.refused, c.requests)), [c.reasons.join("\n"), { class: "why" }]]);
  }));
  const last = from + move.hit.length;
  byId("found").textContent = move.found === 0 ? "no client" : `${thousands(from + 1)} to ${thousands(last)} of ${thousands(move.found)}`;
  byId("earlier").disabled = from === 0;
  byId("later").disabled = last >= move.found;
}

// Charts.

const dot = () => devicePixelRatio;

function newChart(box, height, options, columns) {
  return new uPlot({
    width: box.clientWidth, height, legend: { show: false }, cursor: { drag: { x: false, y: false }, points: { show: false }, x: false, y: false }, ...options,
  }, columns, box);
}

function showCurve(answer) {
  curve = answer;
  if (kind.value === "other") number.value = curve.is;
  slider.disabled = number.disabled = kind.value === "other" && !curve.limit.before;
  reach();
  drawCurve();
}

function drawCurve() {
  const box = byId("chart");
  curveChart?.destroy();
  curveChart = null;
  if (!curve || curve.points.length === 0) {
    byId("chart-words").textContent = "";
    return;
  }
  const share = (part, all) => (all ? (100 * part) / all : 0);
  const counted = curve.points.map((p) => (p.refused_counted ? share(p.target_refused, curve.target_requests) : null));
  const hit = curve.points.map((p) => share(p.protected_hit, curve.protected_clients));
  curveChart = newChart(box, Math.round(Math.min(340, Math.max(220, box.clientWidth * 0.36))), {
    scales: { x: { time: false, distr: 3, range: [1, top] }, y: { range: [0, 100] } },
    axes: [
      axis({ values: (u, ticks) => ticks.map((v) => (v === null || Math.log10(v) % 1 > 1e-9 ? "" : thousands(v))), label: "N", labelSize: 20, size: 36 }),
      axis({ values: (u, ticks) => ticks.map((v) => `${v} %`), size: 58 }),
    ],
    series: [{}, { stroke: color("refused"), width: 2.25, spanGaps: true, points: { show: false } }, { stroke: color("browser"), width: 2.25, dash: [6, 4], points: { show: false } }],
    hooks: { draw: [markCurve], ready: [handle] },
  }, [curve.points.map((p) => p.n), counted, hit]);
  byId("chart-words").textContent = `Red: target requests refused. Blue, dashed: protected clients hit. The curve is that of ${curve.shape}, N from 1 to ${thousands(top)}; it joins the N that were counted. Drag in the chart to move N.`
    + (!bounded() ? "" : ` The dotted line is the bound: under the promise no limit by client refuses more than ${percent(data.bound, 100)} %.`);
}

// bounded reports whether the bound is about what is chosen, and answered whether the answer is.
const answered = () => by.value === "client" && action.value === data.answer.action;
const bounded = () => data.bound !== null && answered();

// markCurve draws the bound, the answer, and where N stands.
function markCurve(u) {
  if (!curve) return; // another one is being drawn
  const ctx = u.ctx, line = (x1, y1, x2, y2, tone, dash) => {
    ctx.strokeStyle = ctx.fillStyle = color(tone);
    ctx.setLineDash(dash);
    ctx.beginPath();
    ctx.moveTo(x1, y1);
    ctx.lineTo(x2, y2);
    ctx.stroke();
  };
  ctx.save();
  ctx.lineWidth = 1.5 * dot();
  ctx.font = `${12 * dot()}px system-ui, sans-serif`;
  const { left, top, width, height } = u.bbox;
  if (bounded()) {
    const y = Math.round(u.valToPos(data.bound, "y", true));
    line(left, y, left + width, y, "monitor", [3 * dot(), 3 * dot()]);
  }
  if (data.answer.shape === curve.shape && answered()) {
    const x = Math.round(u.valToPos(data.answer.n, "x", true));
    line(x, top, x, top + height, "soft", [2 * dot(), 4 * dot()]);
    ctx.fillText("the answer", x + 4 * dot(), top + 14 * dot());
  }
  const x = Math.round(u.valToPos(Number(number.value), "x", true));
  line(x, top, x, top + height, "accent", []);
  ctx.restore();
}

// handle makes the chart a handle of N.
function handle(u) {
  const go = (event) => {
    const n = Math.round(u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x"));
    if (slider.disabled) return;
    number.value = Math.min(Math.max(1, n), top);
    change(false);
  };
  // A finger that goes up or down scrolls the page: then the browser takes the pointer away, and there is no click.
  u.over.addEventListener("pointerdown", (event) => u.over.setPointerCapture(event.pointerId));
  u.over.addEventListener("pointermove", (event) => {
    if (u.over.hasPointerCapture(event.pointerId)) go(event);
  });
  u.over.addEventListener("click", go);
}

// One client.

function showClient(answer, asked) {
  if (client?.id !== asked.client) return; // another one was pressed meanwhile
  const account = answer.account, policy = account.policies[0], of = policy.limits[0];
  byId("one-title").textContent = `One client: ${account.client}`;
  byId("one-words").textContent = `${thousands(account.requests)} requests, ${thousands(policy.refused)} refused by ${policy.policy}. Each dot is a request, the later the higher; red ones are refused.`
    + (answer.left_out ? ` ${thousands(answer.left_out)} later ones are left out.` : "");
  const facts = [["is", [client.identity, ...client.reasons].join("\n")]];
  if (of?.needs != null) facts.push(["would admit all", `a ${of.number} of ${thousands(of.needs)}; the limit has ${thousands(of.is)}`]);
  if (policy.longest_lockout) facts.push(["longest time shut out", `${thousands(Math.round(policy.longest_lockout.seconds))} s, ${thousands(policy.longest_lockout.requests)} requests`]);
  for (const a of account.agents.slice(0, 3)) facts.push(["agent", `${a.agent} (${thousands(a.requests)})`]);
  for (const a of account.actions.slice(0, 3)) facts.push(["asks for", `${a.action} (${thousands(a.requests)})`]);
  byId("one-facts").replaceChildren(...facts.flatMap(([label, text]) => [make("dt", label), make("dd", text)]));
  drawClient(answer);
  oneShown = answer;
}
let oneShown = null;

const utc = (t) => uPlot.tzDate(new Date(t * 1e3), "Etc/UTC");

// clock is an axis of time, in UTC: the day where one begins, else the time of day.
function clock() {
  return axis({
    space: 90,
    values: (u, ticks) => ticks.map((t, i) => {
      const text = new Date(t * 1e3).toISOString();
      const midnight = text.slice(11, 19) === "00:00:00";
      return i === 0 || midnight ? `${text.slice(0, 10)}${midnight ? "" : `\n${text.slice(11, 19)}`}` : text.slice(11, text.slice(17, 19) === "00" ? 16 : 19);
    }),
  });
}

function drawClient(answer) {
  for (const chart of oneCharts) chart.destroy();
  oneCharts = [];
  const at = answer.requests.map((r) => r.at / 1e6);
  if (at.length === 0) return;
  const x = { time: true, range: [at[0], Math.max(at[at.length - 1], at[0] + 1)] };
  const dots = (tone) => ({ stroke: color(tone), paths: () => null, points: { show: true, size: 4, fill: color(tone), stroke: color(tone) } });
  const box = byId("one-chart");
  oneCharts.push(newChart(box, 240, {
    scales: { x }, axes: [clock(), axis({ size: 58 })], tzDate: utc, series: [{}, dots("soft"), dots("refused")],
  }, [at, answer.requests.map((r, i) => (r.refused ? null : i + 1)), answer.requests.map((r, i) => (r.refused ? i + 1 : null))]));
  const of = answer.account.policies[0].limits[0], span = answer.account.span;
  if (!of?.levels || !span) return;
  const begin = Date.parse(span.first) / 1e3, end = Date.parse(span.last) / 1e3, levels = of.levels;
  const times = levels.map((_, i) => begin + ((end - begin) * i) / Math.max(1, levels.length - 1));
  oneCharts.push(newChart(byId("level-chart"), 120, {
    scales: { x, y: { range: [0, 1.1 * Math.max(1, ...levels)] } }, axes: [clock(), axis({ size: 58 })], tzDate: utc,
    series: [{}, { stroke: color("accent"), fill: color("pale"), width: 1.5, points: { show: false } }],
  }, [times, levels]));
}

// What is pressed, typed and dragged.

kind.addEventListener("change", () => change(true));
for (const control of [rate, per, by, action]) control.addEventListener("change", () => change(true));
slider.addEventListener("input", () => {
  number.value = stops[Number(slider.value)];
  change(false);
});
number.addEventListener("change", () => change(false));
limit.addEventListener("change", () => {
  spread(limit.value.trim());
  change(true, true);
});
byId("filter").addEventListener("input", () => {
  from = 0;
  list();
});
byId("earlier").addEventListener("click", () => {
  from = Math.max(0, from - rowsAtOnce);
  list();
});
byId("later").addEventListener("click", () => {
  if (!move || from + rowsAtOnce >= move.found) return;
  from += rowsAtOnce;
  list();
});
for (const head of byId("clients").tHead.rows[0].cells) {
  if (!head.dataset.sort) continue;
  const button = make("button", head.textContent, { type: "button" });
  head.replaceChildren(button);
  button.addEventListener("click", () => {
    for (const other of byId("clients").tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", head.dataset.sort === "client" || head.dataset.sort === "identity" ? "ascending" : "descending");
    sort = head.dataset.sort;
    from = 0;
    list();
  });
}
byId("back").addEventListener("click", () => {
  by.value = "client";
  action.value = data.answer.action;
  spread(data.answer.limit);
  change(true, true);
});
byId("worst").addEventListener("click", () => choose(times.worst_minute.at, times.worst_minute.at + 60e6));
byId("whole").addEventListener("click", () => {
  since.value = until.value = "";
  from = 0;
  drawTimes();
  list();
});
for (const control of [since, until]) control.addEventListener("change", () => {
  from = 0;
  drawTimes();
  list();
});
other.addEventListener("change", list);
byId("keep").addEventListener("click", () => {
  other.value = limit.value;
  list();
});
drawers.push(() => {
  drawCurve();
  drawTimes();
  if (oneShown) drawClient(oneShown);
});

function begin() {
  const state = new URLSearchParams(location.hash.slice(1));
  action.value = data.answer.action;
  if (state.get("by")) by.value = state.get("by");
  if (state.has("limit")) action.value = state.get("action") ?? "";
  spread(state.get("limit") ?? limit.value);
  change(true, true);
}
addEventListener("hashchange", begin);
begin();
