// The answer: N moves over the stops of a shape. All figures come from the island; nothing is computed but sums and shares.

function answerExplorer() {
  const which = byId("which");
  if (!which || data.shapes.length === 0) return;
  const slider = byId("slider"), number = byId("number"), protect = byId("protect");
  const groups = data.groups;
  const total = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const of = (indices, column, at) => total(indices.map((g) => column[g][at]));
  const clientsOf = (indices) => total(indices.map((g) => groups[g].clients));
  const requestsOf = (indices) => total(indices.map((g) => groups[g].requests));
  const everybody = groups.map((_, i) => i);
  const mostListed = 20;

  const unpacked = new Map();
  function unpack(index) {
    if (!unpacked.has(index)) {
      const s = data.shapes[index];
      const stops = sums(s.stops);
      unpacked.set(index, {
        ...s, stops, scaled: s.scaled ? sums(s.scaled) : stops, hit: s.hit.map(sums), refused: s.refused.map(sums),
        listed: (s.listed ?? []).map(([client, need, refused]) => ({ client, need, refused: sums(refused) })),
      });
    }
    return unpacked.get(index);
  }

  // The state: a shape, a stop of it, and the share of clients to spare, if that is what set N.
  let index = data.first, shape = unpack(index), at = data.stop, spare = -1, chart;

  // nearest is the last stop at or below N.
  function nearest(n) {
    let i = shape.stops.length - 1;
    while (i > 0 && shape.stops[i] > n) i--;
    return i;
  }

  // kept is the highest share that a stop keeps; −1: none.
  function kept() {
    for (let p = data.percents.length - 1; p >= 0; p--) {
      if (shape.keeps[p] >= 0 && at >= shape.keeps[p]) return p;
    }
    return -1;
  }

  const limitText = () => shape.limits[at];

  function address() {
    let text = `#kind=${shape.key}&n=${shape.stops[at]}`;
    if (spare >= 0) text += `&protect=${data.percents[spare]}`;
    return text;
  }

  // remember puts the state into the address, once it has stayed for a moment: each place in it is one to come back to.
  // The browser reports such a change later; own is what it will report, and what was chosen meanwhile must stay.
  let pending = 0;
  let own = "";
  function remember() {
    clearTimeout(pending);
    pending = setTimeout(() => {
      if (location.hash === address()) return;
      location.hash = address();
      own = location.href;
    }, 250);
  }

  // restore goes by the address; what it does not understand it leaves alone.
  function restore() {
    clearTimeout(pending);
    let wanted;
    try {
      wanted = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
    } catch {
      return;
    }
    const found = data.shapes.findIndex((s) => s.key === wanted.get("kind"));
    if (found < 0) {
      if (location.hash === "") show(data.first, data.stop, -1);
      return;
    }
    index = found;
    shape = unpack(index);
    const share = data.percents.indexOf(wanted.get("protect"));
    const n = wanted.get("n") ?? "";
    let stop = Math.max(share < 0 ? 0 : shape.keeps[share], 0);
    if (/^\d{1,15}$/.test(n)) stop = nearest(Number(n));
    show(index, stop, share);
  }

  function show(to, stop, share) {
    const other = to !== index || !chart;
    index = to;
    shape = unpack(index);
    at = Math.min(Math.max(stop, 0), shape.stops.length - 1);
    spare = share >= 0 && shape.keeps[share] === at ? share : -1;
    which.value = index;
    slider.max = shape.stops.length - 1;
    if (other || chart.shape !== index) draw();
    read();
    chart.u.redraw(false);
  }

  function move(stop, share = -1) {
    show(index, stop, share);
    remember();
  }

  const lines = () => [
    { name: "target requests refused", color: "refused", share: (i) => (100 * of(data.target, shape.refused, i)) / (requestsOf(data.target) || 1) },
    { name: `${data.protects} hit`, color: "browser", share: (i) => (100 * of(data.protected, shape.hit, i)) / (clientsOf(data.protected) || 1), dashed: true },
  ].slice(0, clientsOf(data.protected) > 0 ? 2 : 1);

  function draw() {
    const box = byId("chart");
    chart?.u.destroy();
    const drawn = lines();
    const u = new uPlot(
      {
        width: box.clientWidth,
        height: Math.round(Math.min(340, Math.max(220, box.clientWidth * 0.36))),
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { show: false }, x: false, y: false },
        scales: {
          x: { time: false, distr: 3, range: [shape.stops[0], Math.max(10, shape.stops[shape.stops.length - 1])] },
          y: { range: [0, 100] },
        },
        axes: [
          axis({ values: (u, ticks) => ticks.map((v) => (v === null || Math.log10(v) % 1 > 1e-9 ? "" : thousands(v))), label: "N", labelSize: 20, size: 36 }),
          axis({ values: (u, ticks) => ticks.map((v) => `${v} %`), size: 58 }),
        ],
        series: [{}, ...drawn.map((line) => ({ stroke: color(line.color), width: 2.25, dash: line.dashed ? [6, 4] : undefined, points: { show: shape.stops.length < 40, size: 5, fill: color(line.color) } }))],
        hooks: { draw: [mark], ready: [listen] },
      },
      [shape.stops, ...drawn.map((line) => shape.stops.map((_, i) => line.share(i)))],
      box,
    );
    chart = { u, shape: index };
  }

  // mark draws the bound, and where the slider stands.
  function mark(u) {
    const ctx = u.ctx, dot = devicePixelRatio;
    ctx.save();
    ctx.lineWidth = 1.5 * dot;
    if (data.bound !== null) {
      const y = Math.round(u.valToPos(data.bound, "y", true));
      ctx.strokeStyle = color("monitor");
      ctx.setLineDash([3 * dot, 3 * dot]);
      ctx.beginPath();
      ctx.moveTo(u.bbox.left, y);
      ctx.lineTo(u.bbox.left + u.bbox.width, y);
      ctx.stroke();
      ctx.fillStyle = color("monitor");
      ctx.font = `${12 * dot}px system-ui, sans-serif`;
      ctx.textAlign = "right";
      ctx.textBaseline = data.bound > 85 ? "top" : "bottom";
      ctx.fillText(`bound ${percentText(data.bound)} %`, u.bbox.left + u.bbox.width - 6 * dot, y + (data.bound > 85 ? 4 : -3) * dot);
    }
    ctx.strokeStyle = color("accent");
    ctx.setLineDash([]);
    const x = Math.round(u.valToPos(shape.stops[at], "x", true));
    ctx.beginPath();
    ctx.moveTo(x, u.bbox.top);
    ctx.lineTo(x, u.bbox.top + u.bbox.height);
    ctx.stroke();
    for (const line of lines()) {
      ctx.beginPath();
      ctx.arc(x, u.valToPos(line.share(at), "y", true), 4.5 * dot, 0, 7);
      ctx.fillStyle = color("card");
      ctx.fill();
      ctx.lineWidth = 2 * dot;
      ctx.strokeStyle = color(line.color);
      ctx.stroke();
    }
    ctx.restore();
  }

  // listen makes the chart a handle as well.
  function listen(u) {
    const go = (event) => {
      const wanted = u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x");
      let best = 0;
      shape.stops.forEach((n, i) => {
        if (Math.abs(Math.log(n / wanted)) < Math.abs(Math.log(shape.stops[best] / wanted))) best = i;
      });
      move(best);
    };
    u.over.addEventListener("pointerdown", (event) => {
      u.over.setPointerCapture(event.pointerId);
      go(event);
    });
    u.over.addEventListener("pointermove", (event) => {
      if (u.over.hasPointerCapture(event.pointerId)) go(event);
    });
  }

  const percentText = (p) => percent(p, 100);

  // read writes what the stop does.
  function read() {
    const n = shape.stops[at];
    slider.value = at;
    number.value = n;
    byId("limit").textContent = byId("hit-limit").textContent = limitText();
    const clients = clientsOf(data.protected), hit = of(data.protected, shape.hit, at);
    const refused = of(data.target, shape.refused, at), target = requestsOf(data.target);
    const all = of(everybody, shape.hit, at);
    const cards = [
      [`${percent(refused, target)} %`, `of the target refused: ${thousands(refused)} of ${thousands(target)} requests`],
      [thousands(hit), `of ${thousands(clients)} protected clients hit (${percent(hit, clients)} %)`],
      [`${percent(of(everybody, shape.refused, at), requestsOf(everybody))} %`, "of all requests refused"],
    ];
    byId("cards").replaceChildren(...cards.map(([figure, label]) => {
      const li = make("li");
      li.append(make("b", figure), label);
      return li;
    }));
    const words = `${limitText()}: ${percent(refused, target)} % of the target requests refused, ${thousands(hit)} of ${thousands(clients)} protected clients hit`;
    slider.setAttribute("aria-valuetext", words);
    const bound = data.bound === null ? "" : ` The dotted line is the bound: under the promise no limit refuses more than ${percentText(data.bound)} %.`;
    byId("chart-words").textContent = `Red: target requests refused.${lines().length > 1 ? ` Blue, dashed: ${data.protects} hit.` : ""} Lines join the ${thousands(shape.stops.length)} N that are shown, from ${thousands(shape.stops[0])} to ${thousands(shape.stops[shape.stops.length - 1])}.${bound}`;
    if (protect) {
      const p = kept();
      protect.value = Math.max(p, 0);
      const text = p < 0 ? `less than ${data.percents[0]} %` : `${data.percents[p]} %`;
      byId("protect-words").textContent = `${text} of ${thousands(clients)}`;
      protect.setAttribute("aria-valuetext", `${text} of ${thousands(clients)} ${data.protects}`);
    }
    readLines();
    readGroups();
    readClients(all);
  }

  function readLines() {
    const other = shape.other?.[at];
    const scaled = shape.scaled[at];
    const blocks = other ?? (shape.lines ?? []).map(([place, parts, adds]) => [place, parts.reduce((text, part, i) => text + (scaled + adds[i - 1]) + part)]);
    byId("lines").replaceChildren(...blocks.map(([place, text]) => {
      const block = make("div", "", { class: "block" });
      const pre = make("pre", "", { tabindex: "0", "aria-label": `Lines for ${place}` });
      pre.append(make("code", text));
      block.append(make("p", place, { class: "place" }), pre);
      copying(block);
      return block;
    }));
    if (blocks.length === 0) byId("lines").append(make("p", shape.lack, { class: "note" }));
  }

  function row(head, cells) {
    const tr = make("tr");
    tr.append(make("th", head, { scope: "row" }));
    for (const [text, attributes] of cells) tr.append(make("td", text, attributes));
    return tr;
  }
  const num = (n) => [typeof n === "number" ? thousands(n) : n, { class: "num" }];

  function readGroups() {
    const rows = groups.map((g, i) => row(g.name, [[g.role, {}], num(g.clients), num(shape.hit[i][at]), num(percent(shape.hit[i][at], g.clients)), num(g.requests), num(shape.refused[i][at]), num(percent(shape.refused[i][at], g.requests))]));
    const hit = of(everybody, shape.hit, at), refused = of(everybody, shape.refused, at), clients = clientsOf(everybody), requests = requestsOf(everybody);
    rows.push(row("all", [["", {}], num(clients), num(hit), num(percent(hit, clients)), num(requests), num(refused), num(percent(refused, requests))]));
    rows[rows.length - 1].classList.add("sum");
    byId("groups").tBodies[0].replaceChildren(...rows);
  }

  function readClients(hit) {
    const n = shape.stops[at], last = thousands(shape.stops[shape.stops.length - 1]);
    const some = shape.listed.filter((l) => (l.refused[at] ?? 0) > 0).slice(0, mostListed);
    byId("clients").hidden = some.length === 0;
    byId("clients").tBodies[0].replaceChildren(...some.map((l) => {
      const [name, short, agent, group, requests] = data.clients[l.client];
      const need = l.need ? thousands(l.need) : `more than ${last}`;
      const why = shape.why[0] + need + shape.why[1] + thousands(n) + shape.why[2];
      return row(name, [[short, { title: data.agents[agent] }], [groups[group].name, {}], num(requests), num(l.refused[at]), num(l.need ? thousands(l.need) : `> ${last}`), [why, { class: "why" }]]);
    }));
    byId("hit-by").textContent =
      hit === 0 ? "It hits no client."
      : some.length === hit ? `All ${thousands(hit)} client${hit === 1 ? "" : "s"} that it hits.`
      : `${thousands(some.length)} of the ${thousands(hit)} client${hit === 1 ? "" : "s"} that it hits: protected ones first, then those that need the highest N.`;
  }

  slider.addEventListener("input", () => move(Number(slider.value)));
  number.addEventListener("change", () => move(nearest(Number(number.value) || 1)));
  protect?.addEventListener("input", () => {
    const p = Number(protect.value);
    if (shape.keeps[p] >= 0) move(shape.keeps[p], p);
    else move(shape.stops.length - 1);
  });
  which.addEventListener("change", () => {
    const p = kept();
    const to = Number(which.value), keeps = unpack(to).keeps;
    show(to, p >= 0 && keeps[p] >= 0 ? keeps[p] : nearestIn(unpack(to), shape.stops[at]), p);
    remember();
  });
  const nearestIn = (s, n) => Math.max(s.stops.findLastIndex((stop) => stop <= n), 0);
  byId("back").addEventListener("click", () => {
    show(data.first, data.stop, -1);
    remember();
  });
  addEventListener("hashchange", (event) => {
    if (event.newURL !== own) restore();
    own = "";
  });
  drawers.push(draw);
  show(index, at, -1);
  restore();
}

answerExplorer();
