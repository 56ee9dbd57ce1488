// The curves, and the slider that goes from point to point of one.

function curveExplorer() {
  const which = byId("curve-which");
  if (!which || data.curves.length === 0) return;
  const slider = byId("curve-slider"), number = byId("curve-number"), zoom = byId("curve-zoom");
  const body = byId("curve-reading").tBodies[0];
  const classes = data.classes.map((name, i) => i).filter((i) => data.clients[i] > 0);
  const total = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const requests = data.judged, clients = total(data.clients);

  // What can be drawn: a figure of a point in percent, and its colour. One class alone is all there is.
  const lines = [
    { name: "requests refused", color: "refused", on: true, share: (p) => (p.counted ? (100 * total(p.refused)) / requests : null), refused: true },
    { name: "clients hit", color: "all", on: true, share: (p) => (100 * total(p.hit)) / clients },
  ];
  if (classes.length > 1) {
    for (const i of classes) {
      lines.push({ name: `${plural(data.classes[i])} hit`, color: data.classes[i], dashed: true, on: i === 0, share: (p) => (100 * p.hit[i]) / data.clients[i] });
    }
  }

  // unpack makes points of a curve's columns, once.
  const unpacked = new Map();
  function unpack(index) {
    if (unpacked.has(index)) return unpacked.get(index);
    const c = data.curves[index];
    const limits = sums(c.limits);
    const points = limits.map((limit) => ({ limit, counted: !c.counted, refused: data.classes.map(() => 0), hit: data.classes.map(() => 0) }));
    c.hit.forEach((column, i) => column && sums(column).forEach((n, at) => (points[at].hit[i] = n)));
    for (const at of c.counted ?? []) points[at].counted = true;
    const counted = points.filter((p) => p.counted);
    c.refused.forEach((column, i) => column && sums(column).forEach((n, at) => (counted[at].refused[i] = n)));
    unpacked.set(index, points);
    return points;
  }

  let curve, points, at = 0, chart;

  // nearest is the last point at or below a limit: what it says holds up to the next one.
  function nearest(limit) {
    let low = 0, high = points.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (points[middle].limit <= limit) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function choose(index) {
    curve = data.curves[index];
    const limit = points?.[at].limit;
    points = unpack(index);
    slider.max = points.length - 1;
    const half = points.findIndex((p) => total(p.hit) * 20 <= clients); // where something is to be seen
    at = limit ? nearest(limit) : Math.max(half, 0);
    byId("curve-thin").textContent = thinning();
    draw();
    read();
  }

  // thinning tells what the slider passes over.
  function thinning() {
    const stops = thousands(points.length), changes = thousands(curve.changes);
    if (curve.changes > curve.points) {
      return `This curve changes at ${changes} limits; the database keeps a selection. The slider stops at ${stops} of them. Each is exact.`;
    }
    if (curve.columns) {
      return `The slider stops at ${stops} of the ${changes} limits at which this curve changes. Each is exact, and up to ${thousands(curve.columns)} pixels wide the drawing is that of all; --output json has every one.`;
    }
    return `The slider stops at each of the ${stops} limits at which this curve changes; between two of them the lower one holds.`;
  }

  function draw() {
    if (!points) return;
    const box = byId("curve-chart");
    chart?.destroy();
    const top = Number(zoom.value);
    const values = lines.map((line) => points.map(line.share));
    const stepped = uPlot.paths.stepped({ align: 1 });
    const sparse = (line) => line.refused && curve.counted;
    chart = new uPlot(
      {
        width: box.clientWidth,
        height: Math.round(Math.min(380, Math.max(240, box.clientWidth * 0.42))),
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { show: false }, x: false, y: false },
        scales: {
          x: { time: false, distr: 3, range: [1, Math.max(10, points[points.length - 1].limit)] },
          y: { range: [0, top] },
        },
        axes: [
          axis({ values: (u, ticks) => ticks.map((v) => (v === null || Math.log10(v) % 1 > 1e-9 ? "" : thousands(v))), label: "N", labelSize: 20, size: 36 }),
          axis({ values: (u, ticks) => ticks.map((v) => `${v} %`), size: 58 }),
        ],
        series: [
          {},
          ...lines.map((line) => ({
            show: line.on,
            stroke: color(line.color),
            width: line.dashed ? 1.5 : 2.25,
            dash: line.dashed ? [6, 4] : undefined,
            paths: sparse(line) ? () => null : stepped,
            points: { show: sparse(line) || points.length < 2, size: 7, fill: color(line.color) },
          })),
        ],
        hooks: { draw: [mark], ready: [listen] },
      },
      [points.map((p) => p.limit), ...values],
      box,
    );
  }

  // mark draws where the slider stands.
  function mark(u) {
    const x = Math.round(u.valToPos(points[at].limit, "x", true));
    const ctx = u.ctx, dot = devicePixelRatio;
    ctx.save();
    ctx.strokeStyle = color("accent");
    ctx.setLineDash([]);
    ctx.lineWidth = 1.5 * dot;
    ctx.beginPath();
    ctx.moveTo(x, u.bbox.top);
    ctx.lineTo(x, u.bbox.top + u.bbox.height);
    ctx.stroke();
    for (const line of lines.filter((l) => l.on)) {
      const share = line.share(points[at]);
      if (share === null || share > Number(zoom.value)) continue;
      ctx.beginPath();
      ctx.arc(x, u.valToPos(share, "y", true), 4.5 * dot, 0, 7);
      ctx.fillStyle = color("card");
      ctx.fill();
      ctx.lineWidth = 2 * dot;
      ctx.strokeStyle = color(line.color);
      ctx.stroke();
    }
    ctx.restore();
  }

  // listen makes the chart a handle as well: press and drag.
  function listen(u) {
    const go = (event) => {
      const left = event.clientX - u.over.getBoundingClientRect().left;
      moveTo(nearest(Math.round(u.posToVal(left, "x"))));
    };
    u.over.addEventListener("pointerdown", (event) => {
      u.over.setPointerCapture(event.pointerId);
      go(event);
    });
    u.over.addEventListener("pointermove", (event) => {
      if (u.over.hasPointerCapture(event.pointerId)) go(event);
    });
  }

  function moveTo(index) {
    at = Math.min(Math.max(index, 0), points.length - 1);
    read();
    chart.redraw(false);
  }

  const limitText = () => curve.before + points[at].limit + curve.after;

  // read writes the figures of the point.
  function read() {
    const p = points[at];
    slider.value = at;
    number.value = p.limit;
    number.max = points[points.length - 1].limit;
    byId("curve-limit").textContent = limitText();
    body.replaceChildren(
      ...classes.map((i) => row(data.classes[i], p.counted ? p.refused[i] : null, data.requests[i], p.hit[i], data.clients[i])),
      row("all", p.counted ? total(p.refused) : null, requests, total(p.hit), clients),
    );
    body.lastChild.classList.add("sum");
    const next = points[at + 1];
    byId("curve-between").textContent = next && next.limit > p.limit + 1 && !curve.columns && curve.changes === curve.points && p.counted && !curve.counted
      ? `The same up to N = ${thousands(next.limit - 1)}.`
      : p.counted ? "" : "What a bucket of this size refuses was not counted, only which clients it hits; --bursts counts it.";
    const words = `${limitText()}: ${p.counted ? `${percent(total(p.refused), requests)} % of requests refused, ` : ""}${percent(total(p.hit), clients)} % of clients hit`;
    slider.setAttribute("aria-valuetext", words);
    byId("curve-words").textContent = `Chart of ${lines.map((l) => l.name).join(", ")} in percent, by N on a logarithmic axis. At ${words}.`;
  }

  function row(name, refused, ofRequests, hit, ofClients) {
    const tr = make("tr");
    tr.append(make("th", name, { scope: "row" }));
    const known = refused !== null;
    for (const text of [known ? thousands(refused) : "–", known && ofRequests ? percent(refused, ofRequests) : "–", thousands(hit), percent(hit, ofClients)]) {
      tr.append(make("td", text, { class: "num" }));
    }
    return tr;
  }

  for (const line of lines) {
    const label = make("label"), box = make("input", "", { type: "checkbox" });
    box.checked = line.on;
    box.addEventListener("change", () => {
      line.on = box.checked;
      draw();
    });
    label.append(box, make("i", "", { class: `c-${line.color}${line.dashed ? " dashed" : ""}` }), line.name);
    byId("curve-legend").append(label);
  }
  slider.addEventListener("input", () => moveTo(Number(slider.value)));
  number.addEventListener("change", () => moveTo(nearest(Number(number.value) || 1)));
  which.addEventListener("change", () => choose(Number(which.value)));
  zoom.addEventListener("change", draw);
  which.value = data.first;
  drawers.push(draw);
  choose(data.first);
}

curveExplorer();
