// Refusals over time: bars, a policy at a time, before all requests of the same stretches.

function refusalsOverTime() {
  const which = byId("times-which"), t = data.times;
  if (!which || !t) return;
  const clock = (seconds) => {
    const date = new Date(seconds * 1000);
    return Number.isNaN(date.getTime()) ? "beyond all calendars" : date.toISOString().slice(0, -8).replace("T", " "); // years may have six digits
  };
  t.policies.forEach((p, i) => which.append(make("option", p.policy, { value: i })));
  const refusedOf = () => t.policies[Number(which.value)].refused;
  const bars = refusedOf().length;
  const stamps = refusedOf().map((_, i) => t.start + i * t.step);
  const requests = t.requests ?? [];
  const mostRequests = requests.length ? Math.max(...requests) : 0;

  // Where bars of refusals would be too low to see beside all requests, these have a scale of their own.
  const apart = (most) => requests.length > 0 && most * 5 < mostRequests;

  // days are the labels of moments: the time, and below it the date where a new one begins.
  function days(ticks) {
    let before = "";
    return ticks.map((seconds) => {
      const [day, time] = clock(seconds).split(" ");
      const isNew = day !== before;
      before = day;
      return isNew ? `${time}\n${day}` : time;
    });
  }

  let chart;
  function draw() {
    const refused = refusedOf(), box = byId("times-chart");
    const most = Math.max(...refused), own = apart(most);
    const upTo = (n) => [0, Math.max(n * 1.05, 1)];
    const numbers = (more) => axis({ size: 64, values: (u, ticks) => ticks.map((v) => (v % 1 ? "" : thousands(v))), ...more });
    const column = (name, scale) => ({ scale, stroke: color(name), fill: color(name), width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.9, 60], align: 0 }) });
    const axes = [axis({ size: 46, space: 80, incrs: [60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 2 * 86400, 7 * 86400, 30 * 86400, 90 * 86400, 365 * 86400, 3650 * 86400, 36500 * 86400], values: (u, ticks) => days(ticks) }), numbers({ scale: "y", stroke: color(own ? "refused" : "soft") })];
    if (own) axes.push(numbers({ scale: "all", side: 1, grid: { show: false } }));
    const series = [{}], columns = [stamps];
    if (requests.length) {
      series.push(column("pale", own ? "all" : "y"));
      columns.push(requests);
    }
    series.push(column("refused", "y"));
    columns.push(refused);
    chart?.destroy();
    chart = new uPlot(
      {
        width: box.clientWidth,
        height: Math.round(Math.min(260, Math.max(190, box.clientWidth * 0.25))),
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
        tzDate: (stamp) => uPlot.tzDate(new Date(stamp * 1e3), "Etc/UTC"),
        scales: { x: { range: [t.start - t.step / 2, t.start + (bars - 0.5) * t.step] }, y: { range: upTo(own ? most : Math.max(most, mostRequests)) }, all: { range: upTo(mostRequests) } },
        axes,
        series,
        hooks: { setCursor: [(u) => say(u.cursor.idx)] },
      },
      columns,
      box,
    );
    say(null);
  }

  // say tells of one bar, or of the highest.
  function say(index) {
    const refused = refusedOf(), most = Math.max(...refused);
    const at = index ?? refused.indexOf(most);
    const what = index === null || index === undefined ? "The most" : "Here";
    const of = requests.length ? ` of ${thousands(requests[at] ?? 0)} requests` : "";
    const pale = requests.length ? `, the pale ones of all requests${apart(most) ? " (scale on the right)" : ""}` : "";
    byId("times-words").textContent =
      `Each bar is ${t.length}${pale}. ${what}: ${thousands(refused[at] ?? 0)}${of} refused in the ${t.length} from ${clock(t.start + at * t.step)} UTC.`;
  }

  which.addEventListener("change", draw);
  drawers.push(draw);
  draw();
}

refusalsOverTime();
