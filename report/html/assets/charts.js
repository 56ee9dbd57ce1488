// The charts: what limits of each size do, and what happens over time.

const dot = () => devicePixelRatio;

function newChart(box, height, options, columns) {
  return new uPlot({
    width: box.clientWidth, height, legend: { show: false },
    // uPlot holds clicks back that it takes for the end of a drag, as where the page was scrolled meanwhile.
    cursor: { drag: { x: false, y: false, click: () => {} }, points: { show: false }, x: false, y: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC"), ...options,
  }, columns, box);
}

// A limitChart shows what limits do that differ in their size only: lines of shares in percent, on a logarithmic scale of sizes
// from 1 to top. marks() tells where the limit stands, and the answer and the bound, if they are known; pick(n) is called
// where the chart is pressed or dragged, and placed(box) with where the lines are drawn.
function limitChart(box, { sizes, lines, top, most, stepped, marks, pick, placed }) {
  const steps = uPlot.paths.stepped({ align: 1 }); // what is not known everywhere is no step, but dots
  const pathsOf = (line) => (!stepped ? undefined : line.values.includes(null) ? () => null : steps);
  const go = (u, event) => pick(u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x"));
  return newChart(box, Math.round(Math.min(340, Math.max(220, box.clientWidth * 0.36))), {
    scales: { x: { time: false, distr: 3, range: [1, top] }, y: { range: [0, most] } },
    axes: [
      axis({ values: (u, ticks) => ticks.map((v) => (v === null || Math.log10(v) % 1 > 1e-9 ? "" : thousands(v))), label: "N", labelSize: 20, size: 36 }),
      axis({ values: (u, ticks) => ticks.map((v) => `${v} %`), size: 58 }),
    ],
    series: [{}, ...lines.map((line) => ({
      stroke: color(line.color), width: line.dashed ? 1.75 : 2.25, dash: line.dashed ? [6, 4] : undefined, paths: pathsOf(line), spanGaps: true,
      points: { show: sizes.length < 40 || line.values.includes(null), size: 5, fill: color(line.color) },
    }))],
    hooks: {
      draw: [(u) => markLimit(u, lines, marks()), (u) => placed(u.bbox)],
      ready: [(u) => {
        // A finger that goes up or down scrolls the page: then the browser takes the pointer away, and there is no click.
        u.over.addEventListener("pointerdown", (event) => u.over.setPointerCapture(event.pointerId));
        u.over.addEventListener("pointermove", (event) => {
          if (u.over.hasPointerCapture(event.pointerId)) go(u, event);
        });
        u.over.addEventListener("click", (event) => go(u, event));
      }],
    },
  }, [sizes, ...lines.map((line) => line.values)]);
}

// markLimit draws the bound, the answer, and where the limit stands.
function markLimit(u, lines, { n, shares, answer, bound }) {
  const { ctx } = u, { left, top, width, height } = u.bbox;
  const line = (x1, y1, x2, y2, tone, dash) => {
    ctx.strokeStyle = color(tone);
    ctx.setLineDash(dash.map((length) => length * dot()));
    ctx.beginPath();
    ctx.moveTo(x1, y1);
    ctx.lineTo(x2, y2);
    ctx.stroke();
  };
  // A text has a margin, so that it is read where it lies on a line.
  const write = (text, x, y, tone) => {
    ctx.save();
    ctx.setLineDash([]);
    ctx.lineWidth = 5 * dot();
    ctx.lineJoin = "round";
    ctx.strokeStyle = color("card");
    ctx.strokeText(text, x, y);
    ctx.fillStyle = color(tone);
    ctx.fillText(text, x, y);
    ctx.restore();
  };
  const upright = (size, tone, dash) => {
    const x = Math.round(u.valToPos(size, "x", true));
    line(x, top, x, top + height, tone, dash);
    return x;
  };
  ctx.save();
  ctx.lineWidth = 1.5 * dot();
  ctx.font = `${12 * dot()}px system-ui, sans-serif`;
  if (bound !== null && bound <= u.scales.y.max) {
    const y = Math.round(u.valToPos(bound, "y", true)), below = bound > 0.85 * u.scales.y.max;
    line(left, y, left + width, y, "monitor", [3, 3]);
    ctx.textAlign = "right";
    write(`bound ${percent(bound, 100)} %`, left + width - 6 * dot(), y + (below ? 15 : -5) * dot(), "monitor");
  }
  if (answer) {
    const x = upright(answer, "soft", [2, 4]), right = x > left + width * 0.8;
    ctx.textAlign = right ? "right" : "left";
    write("the answer", x + (right ? -5 : 5) * dot(), top + 14 * dot(), "soft");
  }
  const x = upright(n, "accent", []);
  for (const drawnLine of lines) {
    const share = shares(drawnLine), { color: tone } = drawnLine;
    if (share === null || share > u.scales.y.max) continue;
    ctx.beginPath();
    ctx.arc(x, u.valToPos(share, "y", true), 4.5 * dot(), 0, 7);
    ctx.fillStyle = color("card");
    ctx.fill();
    ctx.strokeStyle = color(tone);
    ctx.stroke();
  }
  ctx.restore();
}

// clock is an axis of time, in UTC: the time of day, and below it the day where one begins.
function clock() {
  const increments = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, ...[1, 2, 7, 30, 90, 365, 3650, 36500].map((days) => days * 86400)];
  return axis({
    size: 46, space: 90, incrs: increments,
    values: (u, ticks) => {
      let before = "";
      return ticks.map((seconds) => {
        const [day, time] = moment(seconds).split(" "), isNew = day !== before;
        before = day;
        return `${time?.endsWith(":00") ? time.slice(0, 5) : time ?? ""}${isNew ? `\n${day}` : ""}`;
      });
    },
  });
}

// moment is a time as people read it, in UTC. Years may have six digits.
function moment(seconds) {
  const date = new Date(seconds * 1e3);
  return Number.isNaN(date.getTime()) ? "beyond all calendars" : date.toISOString().slice(0, -5).replace("T", " ");
}

// apart reports whether bars of refusals would be too low to see beside those of all requests: then these have a scale of
// their own, on the right.
const apart = ({ requests, refused }) => requests.length > 0 && Math.max(...refused) * 5 < Math.max(...requests);

// A timeChart shows requests in stretches of time, none where these are not known, and before them those that are refused.
// Times are microseconds.
function timeChart(box, times, options) {
  const { requests, refused } = times, start = times.start / 1e6, step = times.step / 1e6, own = apart(times);
  const upTo = (n) => [0, Math.max(n * 1.05, 1)], most = Math.max(...refused), mostRequests = Math.max(0, ...requests);
  const counts = (more) => axis({ size: 64, values: (u, ticks) => ticks.map((v) => (v % 1 ? "" : thousands(v))), ...more });
  const bars = uPlot.paths.bars({ size: [0.9, 100], align: 1 });
  const bar = (name, scale) => ({ scale, stroke: color(name), fill: color(name), width: 0, points: { show: false }, paths: bars });
  const axes = [clock(), counts({ scale: "y", stroke: color(own ? "refused" : "soft") })];
  if (own) axes.push(counts({ scale: "all", side: 1, grid: { show: false } }));
  const all = requests.length ? [[bar("pale", own ? "all" : "y"), requests]] : [];
  const drawn = [...all, [bar("refused", "y"), refused]];
  return newChart(box, Math.round(Math.min(260, Math.max(190, box.clientWidth * 0.25))), {
    scales: {
      x: { time: true, range: [start, start + refused.length * step] }, y: { range: upTo(own ? most : Math.max(most, mostRequests)) },
      all: { range: upTo(mostRequests) },
    },
    axes, series: [{}, ...drawn.map(([series]) => series)], ...options,
  }, [refused.map((_, i) => start + i * step), ...drawn.map(([, counted]) => counted)]);
}
