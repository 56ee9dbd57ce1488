// What only a log that is still there can tell: when a limit refuses, what becomes of one client, and what another limit does.

const since = byId("since"), until = byId("until"), other = byId("other");
const askClient = latest(showClient, (_, wrong) => {
  if (wrong) byId("one-words").textContent = wrong;
});
let times = null, timesAre = ""; // what they are about: they come with a move that is about something else
let timesChart = null, client = null, shownClient = null, clientCharts = [];

// Moments are microseconds since 1970 for the program, and UTC without a zone for people.
const momentText = (at) => (at ? moment(at / 1e6) : "");
function momentOf(text) {
  return timeIn(text) * 1e3 || 0; // what is no time is told, and is no bound
}
const timeIn = (text) => Date.parse(`${text.trim().replace(" ", "T")}Z`);

const timed = (about) => [about.limit, about.by, about.action].join(" ");
const chosenTime = () => ({
  other: other.value.trim(), since: momentOf(since.value), until: momentOf(until.value), times: timesAre !== timed(stateOf()),
});
onMove.push(showTimes, showCompared);

// Over time.

function showTimes(asked) {
  if (!move.times) return;
  times = move.times;
  timesAre = timed(asked);
  drawTimes();
}

function drawTimes() {
  timesChart?.destroy();
  timesChart = null;
  if (!times) return;
  timesChart = timeChart(byId("time-chart"), times, {
    cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, x: true, y: false },
    hooks: {
      setSelect: [(u) => {
        if (u.select.width >= 4) chooseTime(u.posToVal(u.select.left, "x") * 1e6, u.posToVal(u.select.left + u.select.width, "x") * 1e6);
      }],
      draw: [markTime],
    },
  });
  byId("worst").disabled = !times.worst_minute;
  byId("time-words").textContent = `Requests, and in red those that are refused${apart(times) ? " (scale on the left)" : ""}, in stretches of ${thousands(times.step / 1e6)} s. Drag to choose a part of the time: the figures and clients are those of a replay of the whole log within it.`
    + (times.worst_minute ? ` In the worst minute, ${momentText(times.worst_minute.at).slice(0, 16)} UTC, ${thousands(times.worst_minute.refused)} are refused.` : "");
}

// markTime draws a frame around the part that is chosen.
function markTime(u) {
  const { since: begin, until: end } = chosenTime(), { left, top: upper, width: wide, height } = u.bbox;
  if (!begin && !end) return;
  const x = begin ? u.valToPos(begin / 1e6, "x", true) : left, to = end ? u.valToPos(end / 1e6, "x", true) : left + wide;
  u.ctx.strokeStyle = color("accent");
  u.ctx.lineWidth = 2 * dot();
  u.ctx.strokeRect(x, upper, Math.max(2, to - x), height);
}

// chooseTime looks at a part of the time, in whole seconds.
function chooseTime(begin, end) {
  since.value = momentText(Math.floor(begin / 1e6) * 1e6);
  until.value = momentText(Math.ceil(end / 1e6) * 1e6);
  drawTimes();
  relist();
}

byId("worst").addEventListener("click", () => chooseTime(times.worst_minute.at, times.worst_minute.at + 60e6));
byId("whole").addEventListener("click", () => chooseTime(0, 0));
for (const control of [since, until]) control.addEventListener("change", () => {
  const odd = [since, until].map((c) => c.value.trim()).find((text) => text !== "" && Number.isNaN(timeIn(text)));
  complain("time", odd ? `${odd} is no time such as 2026-03-02 10:00:00.` : "");
  drawTimes();
  relist();
});

// One client.

// openingOf is the name of a client, to be pressed.
function openingOf(c) {
  const button = make("button", c.client, { type: "button", class: "open" });
  button.addEventListener("click", () => {
    client = c;
    byId("one-title").textContent = `One client: ${c.client}`;
    byId("one-words").textContent = "Its requests are being looked for …";
    askClient({ ...questionOf("client"), client: c.id, version: move.version });
    byId("one").scrollIntoView();
    byId("one-title").focus({ preventScroll: true });
  });
  return button;
}

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
  shownClient = answer;
  drawClient();
}

function drawClient() {
  for (const old of clientCharts) old.destroy();
  clientCharts = [];
  if (!shownClient || shownClient.requests.length === 0) return;
  const { requests, account } = shownClient, at = requests.map((r) => r.at / 1e6);
  const x = { time: true, range: [at[0], Math.max(at[at.length - 1], at[0] + 1)] };
  const dots = (tone) => ({ stroke: color(tone), paths: () => null, points: { show: true, size: 4, fill: color(tone), stroke: color(tone) } });
  clientCharts.push(newChart(byId("one-chart"), 240, {
    scales: { x }, axes: [clock(), axis({ size: 58 })], series: [{}, dots("soft"), dots("refused")],
  }, [at, requests.map((r, i) => (r.refused ? null : i + 1)), requests.map((r, i) => (r.refused ? i + 1 : null))]));
  const levels = account.policies[0].limits[0]?.levels, { span } = account;
  if (!levels || !span) return;
  const begin = Date.parse(span.first) / 1e3, end = Date.parse(span.last) / 1e3;
  clientCharts.push(newChart(byId("level-chart"), 120, {
    scales: { x, y: { range: [0, 1.1 * Math.max(1, ...levels)] } }, axes: [clock(), axis({ size: 58 })],
    series: [{}, { stroke: color("accent"), fill: color("pale"), width: 1.5, points: { show: false } }],
  }, [levels.map((_, i) => begin + ((end - begin) * i) / Math.max(1, levels.length - 1)), levels]));
}

// Compare.

function showCompared() {
  const compared = move.compared?.problem ? null : move.compared;
  byId("compare-words").textContent = move.compared?.problem ? move.compared.problem : compared ? `${move.limit} hits ${thousands(compared.newly_hit)} clients that ${compared.limit} spares, and spares ${thousands(compared.released)} that it hits.` : "";
  for (const id of ["both", "either"]) byId(id).tBodies[0].replaceChildren();
  if (!compared) return;
  const pairs = move.groups.map((g, i) => [g, compared.groups[i]]);
  const sum = (at, figure) => sumOf(pairs.map((pair) => pair[at]), figure);
  pairs.push([0, 1].map((at) => ({ identity: "all", hit: sum(at, "hit"), refused: sum(at, "refused") })));
  const rows = pairs.map(([g, its]) => row(make("th", g.identity, { scope: "row" }), [num(g.hit), num(its.hit), num(g.refused), num(its.refused)]));
  rows[rows.length - 1].classList.add("sum");
  byId("both").tBodies[0].replaceChildren(...rows);
  const either = (clients, is) => clients.map((c) => row(make("th", c.client, { scope: "row" }), [[is, {}], [c.identity, {}], [c.short, { title: c.agent }], num(c.requests), num(c.refused)]));
  byId("either").tBodies[0].replaceChildren(...either(compared.newly_hit_clients, "newly hit"), ...either(compared.released_clients, "released"));
}

other.addEventListener("change", list);
byId("keep").addEventListener("click", () => {
  other.value = limit.value;
  list();
});

drawers.push(() => {
  drawTimes();
  drawClient();
});

// A log that grows. All is asked again, by what is chosen, once its requests are others than those of the move.

const following = make("p", "", { id: "following", class: "note", role: "status" });
const askState = latest(showState);
let stateShown = "", versionAsked = data.state?.version;

function showState(now) {
  if (stateShown === JSON.stringify(now)) return; // a button keeps the focus
  stateShown = JSON.stringify(now);
  const more = now.requests - data.state.requests, last = momentText(now.last).slice(11);
  const parts = [more > 0 && `${thousands(more)} more requests have come; as of ${last} UTC.`, now.problem, now.limit !== data.state.limit ? "The answer is another one." : now.version !== data.state.version && `The answer above is of the first ${thousands(data.state.requests)}.`];
  following.textContent = `${parts.filter(Boolean).join(" ")} `;
  if (now.version !== data.state.version) {
    const button = make("button", "Show the new answer", { type: "button", class: "plain" });
    button.addEventListener("click", () => location.reload());
    following.append(button);
  }
  if (now.version === versionAsked) return;
  versionAsked = now.version;
  timesAre = "";
  list();
  askCurve(questionOf("curve"));
}

if (data.state) {
  byId("explore").before(following);
  setInterval(() => askState({ ask: "state" }), 2000);
}

restore();
