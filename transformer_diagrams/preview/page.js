// Shows the figure of one spec, asks for the next as soon as a file is saved, and puts it in the
// place of the last one only when it is whole: no flicker, and zoom and scroll stay as they are.
"use strict";
const at = (id) => document.getElementById(id);
const view = at("view"), faults = at("faults");
const chosen = new URLSearchParams(location.hash.slice(1));
let zoom = 1, have = "", asking = null, picture = null;

function size() {
  if (!picture) return;
  picture.style.width = `${picture.naturalWidth * zoom}px`;
  at("percent").textContent = `${Math.round(zoom * 100)} %`;
}

function scale(factor) {
  const x = (view.scrollLeft + view.clientWidth / 2) / view.scrollWidth;
  const y = (view.scrollTop + view.clientHeight / 2) / view.scrollHeight;
  zoom = Math.min(16, Math.max(0.05, factor));
  size();
  view.scrollTo(x * view.scrollWidth - view.clientWidth / 2, y * view.scrollHeight - view.clientHeight / 2);
}

async function show(answer) {
  if (answer.svg && answer.ok) {
    const next = new Image();
    next.alt = answer.title;
    next.src = URL.createObjectURL(new Blob([answer.svg], { type: "image/svg+xml" }));
    await next.decode();
    const last = picture;
    picture = next;
    size();
    if (last) { last.replaceWith(next); URL.revokeObjectURL(last.src); } else view.append(next);
    document.title = at("title").textContent = answer.title;
    parts(answer.parts);
  }
  view.classList.toggle("old", !answer.ok);
  faults.classList.toggle("bad", !answer.ok);
  faults.hidden = !answer.faults;
  faults.textContent = answer.faults;
  at("state").textContent = answer.ok ? `drawn ${new Date().toLocaleTimeString()}` : "not right yet";
}

function parts(names) {
  const open = new Set(chosen.getAll("open"));
  at("opening").hidden = !names.length && !open.size;
  const known = [...at("parts").querySelectorAll("input")].map((box) => box.value);
  if (known.join("\n") === names.join("\n")) return;
  at("parts").replaceChildren(...names.map((name) => {
    const label = document.createElement("label"), box = document.createElement("input");
    box.type = "checkbox";
    box.value = name;
    box.checked = open.has(name);
    label.append(box, ` ${name}`);
    return label;
  }));
}

async function ask() {
  asking?.abort();
  const own = asking = new AbortController();
  while (asking === own) {
    try {
      const words = new URLSearchParams(chosen);
      words.set("have", have);
      const reply = await fetch(`figure?${words}`, { signal: own.signal });
      if (reply.status === 200) {
        const answer = await reply.json();
        if (asking !== own) return;
        have = answer.version;
        await show(answer);
      } else if (reply.status !== 204) {
        at("state").textContent = await reply.text();
        await new Promise((done) => setTimeout(done, 1000));
      }
    } catch (fault) {
      if (own.signal.aborted) return;
      at("state").textContent = "the watch has ended";
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}

function choose(name, values) {
  chosen.delete(name);
  for (const value of values) if (value) chosen.append(name, value);
  history.replaceState(null, "", `#${chosen}`);
  ask();
}

function options(select, values, names = values) {
  select.replaceChildren(...values.map((value, n) => new Option(names[n], value)));
  select.value = chosen.get(select.id) ?? values[0];
  select.addEventListener("change", () => choose(select.id, [select.value]));
}

async function begin() {
  const { specs, switches } = await (await fetch("switches")).json();
  if (!specs.includes(chosen.get("spec"))) chosen.set("spec", specs[0] ?? "");
  options(at("spec"), specs);
  at("of-spec").hidden = specs.length < 2;
  for (const [name, values] of Object.entries(switches))
    options(at(name), ["", ...values], ["as asked", ...values]);
  at("parts").addEventListener("change", () =>
    choose("open", [...at("parts").querySelectorAll(":checked")].map((box) => box.value)));
  at("in").onclick = () => scale(zoom * 1.25);
  at("out").onclick = () => scale(zoom / 1.25);
  at("fit").onclick = () => {
    if (picture) scale(Math.min((view.clientWidth - 32) / picture.naturalWidth,
      (view.clientHeight - 32) / picture.naturalHeight));
  };
  view.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    scale(zoom * Math.exp(-event.deltaY / 400));
  }, { passive: false });
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("select, input") || event.ctrlKey || event.metaKey) return;
    if (event.key === "+" || event.key === "=") scale(zoom * 1.25);
    else if (event.key === "-") scale(zoom / 1.25);
    else if (event.key === "0") scale(1);
  });
  ask();
}

begin();
