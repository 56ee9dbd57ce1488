// Refusals over time of a report: a policy at a time.

function refusalsOverTime() {
  const which = byId("times-which"), t = data.times;
  if (!which || !t) return;
  t.policies.forEach((p, i) => which.append(make("option", p.policy, { value: i })));
  const shown = () => ({ ...t, requests: t.requests ?? [], refused: t.policies[Number(which.value)].refused });
  let chart;

  function draw() {
    chart?.destroy();
    chart = timeChart(byId("times-chart"), shown(), {
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false }, hooks: { setCursor: [(u) => say(u.cursor.idx)] },
    });
    say(null);
  }

  // say tells of one bar, or of the highest.
  function say(index) {
    const times = shown(), { requests, refused } = times;
    const at = index ?? refused.indexOf(Math.max(...refused));
    const of = requests.length ? ` of ${thousands(requests[at] ?? 0)} requests` : "";
    const pale = requests.length ? `, the pale ones of all requests${apart(times) ? " (scale on the right)" : ""}` : "";
    byId("times-words").textContent = `Each bar is ${t.length}${pale}. ${index == null ? "The most" : "Here"}: `
      + `${thousands(refused[at] ?? 0)}${of} refused in the ${t.length} from ${moment((t.start + at * t.step) / 1e6).slice(0, -3)} UTC.`;
  }

  which.addEventListener("change", draw);
  drawers.push(draw);
  draw();
}

refusalsOverTime();
