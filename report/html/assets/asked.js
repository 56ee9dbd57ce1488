// What is asked is asked of the program that holds the log, or of the engine of the page around, and computed anew.

// Where the page stands in another one, that one passes questions on to an engine.
const wanting = new Map();
let asked = 0;
addEventListener("message", ({ source, data: { number, answer, error } }) => {
  if (!within || source !== parent) return;
  const { resolve, reject } = wanting.get(number);
  wanting.delete(number);
  if (error) reject(new Error(error));
  else resolve(answer);
});

// A link to a part of this page would lead to that part of the page around: it is gone to by hand.
if (within) addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (!link) return;
  event.preventDefault();
  const part = byId(link.getAttribute("href").slice(1));
  part.tabIndex = -1;
  part.focus();
  part.scrollIntoView();
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

const kind = byId("kind"), rate = byId("rate"), per = byId("per"), by = byId("by"), action = byId("action");

const stateOf = () => ({ limit: limit.value, by: by.value, action: action.value });
const questionOf = (what) => ({ ask: what, ...stateOf(), ...(what === "move" ? chosenTime() : {}) });

// recall sets the controls to a state.
function recall(state) {
  by.value = state.by;
  action.value = state.action;
  if (by.value === "") by.value = "client";
  if (action.selectedIndex < 0) action.value = "";
  spread(state.limit);
  return true;
}

// stopsOf are the sizes at which the slider stops, ever further from one another.
function stopsOf() {
  const sizes = [];
  for (let i = 0; i <= 400; i++) {
    const n = Math.round(Math.exp((i / 400) * Math.log(top())));
    if (n !== sizes[sizes.length - 1]) sizes.push(n);
  }
  return sizes;
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
  return curve?.limit.before && !isOld ? `${curve.limit.before}${n + curve.limit.add}${curve.limit.after}` : limit.value;
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

// Of a limit of another kind the size is known with its curve.
const fixOther = () => (slider.disabled = number.disabled = kind.value === "other" && (isOld || !curve?.limit.before));
onChange.push(() => {
  rate.disabled = kind.value !== "token" && kind.value !== "nginx";
  per.disabled = kind.value === "other";
  fixOther();
});
onCurve.push(() => {
  if (kind.value === "other" && curve) number.value = curve.is;
  fixOther();
});
for (const control of [kind, rate, per, by, action]) control.addEventListener("change", () => change(true));
