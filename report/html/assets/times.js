// Refusals over time: bars, a policy at a time.

function refusalsOverTime() {
  const which = byId("times-which");
  if (!which || data.times.length === 0) return;
  const clock = (seconds) => {
    const date = new Date(seconds * 1000);
    return Number.isNaN(date.getTime()) ? "beyond all calendars" : date.toISOString().slice(0, -8).replace("T", " "); // years may have six digits
  };
  data.times.forEach((t, i) => which.append(make("option", t.policy, { value: i })));

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
    const t = data.times[Number(which.value)], box = byId("times-chart");
    const stamps = t.refused.map((n, i) => t.start + i * t.step);
    const most = Math.max(...t.refused);
    chart?.destroy();
    chart = new uPlot(
      {
        width: box.clientWidth,
        height: Math.round(Math.min(260, Math.max(190, box.clientWidth * 0.25))),
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
        tzDate: (stamp) => uPlot.tzDate(new Date(stamp * 1e3), "Etc/UTC"),
        scales: { x: { range: [t.start - t.step / 2, t.start + (t.refused.length - 0.5) * t.step] }, y: { range: [0, Math.max(most * 1.05, 1)] } },
        axes: [axis({ size: 46, space: 80, incrs: [60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 2 * 86400, 7 * 86400, 30 * 86400, 90 * 86400, 365 * 86400, 3650 * 86400, 36500 * 86400], values: (u, ticks) => days(ticks) }), axis({ size: 64, values: (u, ticks) => ticks.map((v) => (v % 1 ? "" : thousands(v))) })],
        series: [
          {},
          { stroke: color("refused"), fill: color("refused"), width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.9, 60], align: 0 }) },
        ],
        hooks: { setCursor: [(u) => say(u.cursor.idx)] },
      },
      [stamps, t.refused],
      box,
    );
    say(null);
  }

  // say tells of one bar, or of the highest.
  function say(index) {
    const t = data.times[Number(which.value)];
    const most = Math.max(...t.refused);
    const at = index ?? t.refused.indexOf(most);
    const what = index === null || index === undefined ? "The most" : "Here";
    byId("times-words").textContent =
      `Each bar is ${t.length}. ${what}: ${thousands(t.refused[at] ?? 0)} refused in the ${t.length} from ${clock(t.start + at * t.step)} UTC.`;
  }

  which.addEventListener("change", draw);
  drawers.push(draw);
  draw();
}

refusalsOverTime();
