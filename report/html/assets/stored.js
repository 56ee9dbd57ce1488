// What is asked is looked up: the page has the limits of some shapes, and what each of them does.

const { stored } = data, which = byId("which"), unpacked = new Map();

// unpack makes the points of a shape out of its columns, once.
function unpack(index) {
  if (unpacked.has(index)) return unpacked.get(index);
  const s = stored.shapes[index], sizes = sums(s.stops), counted = s.counted ?? [...sizes.keys()];
  const hit = s.hit.map((column) => sums(column, sizes.length)), refused = s.refused.map((column) => sums(column, counted.length));
  const points = sizes.map((n, at) => ({ n, counted: false, hit: hit.map((column) => column[at]), refused: stored.groups.map(() => 0) }));
  counted.forEach((at, i) => Object.assign(points[at], { counted: true, refused: refused.map((column) => column[i]) }));
  const keeps = (s.keeps ?? []).map((at) => sizes[at] ?? 0), scaled = s.scaled ? sums(s.scaled) : sizes;
  const listed = (s.listed ?? []).map((l) => ({ ...l, refused: sums(l.refused, sizes.length) }));
  const whole = { ...s, sizes, points, listed, keeps, scaled };
  unpacked.set(index, whole);
  return whole;
}

const shape = () => unpack(Number(which.value));
const limitAt = (s, at) => s.limits?.[at] ?? s.before + s.points[at].n + s.after;

// placeOf is the place of the largest size up to n: what that does holds up to the next one.
const placeOf = (sizes, n) => Math.max(0, sizes.findLastIndex((size) => size <= n));

// written is the limit that is chosen.
function written() {
  const s = shape(), at = placeOf(s.sizes, Number(number.value) || 1);
  number.value = s.sizes[at];
  return limitAt(s, at);
}

// stopsOf are the sizes at which the slider stops.
const stopsOf = () => shape().sizes;

// recall chooses a limit by its text. It returns false if the page does not have it.
function recall({ limit: text }) {
  for (const [index, s] of stored.shapes.entries()) {
    let n = 0;
    if (s.limits) n = sums(s.stops)[s.limits.indexOf(text)] ?? 0;
    else if (text.startsWith(s.before) && text.endsWith(s.after)) n = Number(text.slice(s.before.length, text.length - s.after.length));
    if (!(n > 0)) continue;
    which.value = index;
    number.value = n;
    limit.value = written();
    return true;
  }
  complain("limit", "This page does not have that limit.");
  return false;
}
const stateOf = () => ({ limit: limit.value });
const questionOf = (what) => ({ ask: what, limit: limit.value });

function ask(question) {
  const s = shape();
  const known = stored.groups.some((g) => g.requests > 0); // how many of all requests each group sent
  const groupsOf = (more) => stored.groups.map((g, i) => ({ ...g, requests: known ? g.requests : null, ...more(i) }));
  if (question.ask === "curve") return { ...s, groups: groupsOf(() => ({})), requests: stored.requests };
  const at = placeOf(s.sizes, Number(number.value)), point = s.points[at];
  const groups = groupsOf((i) => ({ hit: point.hit[i], refused: point.counted ? point.refused[i] : null }));
  const rows = hitRows(s, at).filter((c) => [c.client, c.identity, c.agent].some((text) => text.toLowerCase().includes(question.filter.toLowerCase())));
  sortRows(rows, question);
  return {
    limit: limitAt(s, at), groups, requests: stored.requests, found: rows.length, hit: rows.slice(question.from, question.from + question.rows),
    lines: (s.other?.[at] ?? (s.lines ?? []).map(({ place, parts, adds }) => (
      { place, text: parts.reduce((text, part, i) => text + (s.scaled[at] + adds[i - 1]) + part) }))).map(({ place, text }) => [place, text]),
    lack: s.lack,
  };
}

// hitRows are the clients in the page's list that a limit hits.
function hitRows(s, at) {
  return s.listed.filter((l) => l.refused[at] > 0).map((l) => {
    const need = l.need ? thousands(l.need) : `more than ${thousands(s.sizes[s.sizes.length - 1])}`;
    const reasons = [s.why[0] + need + s.why[1] + thousands(s.sizes[at]) + s.why[2]];
    return { ...stored.clients[l.client], refused: l.refused[at], reasons };
  });
}

// sortRows leaves rows as they are listed until a column is chosen.
function sortRows(rows, { sort, reverse }) {
  const keyOf = (c) => (sort === "share" ? c.refused / c.requests : c[sort]);
  if (sort) rows.sort((x, y) => (isName(sort) ? compare(keyOf(x), keyOf(y)) : keyOf(y) - keyOf(x)));
  if (reverse) rows.reverse();
}

which.addEventListener("change", () => change(true));

restore();
