// The site's one script: colours, search and tags, and figures to zoom, move and step through.
// Without it every page is whole: all architectures are listed, figures are drawn, links work.
(() => {
"use strict";
const root = document.documentElement;
root.classList.add("js");

// ---- light and dark: the reader's system, or the choice made here ---------------------------
const KEY = "transformer-diagrams-colours";
const stored = () => { try { return localStorage.getItem(KEY); } catch { return null; } };
const dress = (scheme) => {
  if (scheme === "light" || scheme === "dark") root.dataset.theme = scheme;
  else delete root.dataset.theme;
};
dress(stored());

const schemes = () => {
  const select = document.querySelector("#scheme");
  select.value = root.dataset.theme || "auto";
  select.addEventListener("change", () => {
    dress(select.value);
    try { localStorage.setItem(KEY, select.value); } catch { /* a choice for this page only */ }
  });
  // Chosen on another page: in another tab, or on the one just left, whose choice may arrive late.
  addEventListener("storage", (event) => {
    if (event.key !== KEY) return;
    dress(event.newValue);
    select.value = root.dataset.theme || "auto";
  });
};

// ---- search and tags on the home page; their state is in the address ------------------------
const fold = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");

const filter = () => {
  const box = document.querySelector("#filter");
  if (!box) return;
  const cards = [...document.querySelectorAll(".card")];
  const chips = [...document.querySelectorAll(".chips [data-tag]")];
  const shelves = [...document.querySelectorAll(".shelf")];
  const status = document.querySelector(".shown");
  const all = document.querySelector(".chips .all");
  const nothing = document.querySelector(".nothing");
  const chosen = () => chips.filter((c) => c.getAttribute("aria-pressed") === "true").map((c) => c.dataset.tag);
  const open = (yes) => {
    if (!all) return;
    all.setAttribute("aria-expanded", yes);
    all.textContent = yes ? "Fewer tags" : "All tags";
  };
  const show = () => {
    const words = fold(box.value).split(/\s+/).filter(Boolean), tags = chosen();
    let count = 0;
    for (const card of cards) {
      const own = card.dataset.tags.split("\n");
      const fits = words.every((w) => card.dataset.search.includes(w)) && tags.every((t) => own.includes(t));
      card.hidden = !fits;
      count += fits;
    }
    for (const shelf of shelves) shelf.hidden = !shelf.querySelector(".card:not([hidden])");
    nothing.hidden = count > 0;
    const total = +status.dataset.total;
    status.textContent = count === total ? `${total} architectures` : `${count} of ${total} architectures`;
    const state = new URLSearchParams();
    if (box.value.trim()) state.set("q", box.value.trim());
    tags.forEach((t) => state.append("tag", t));
    try { history.replaceState(null, "", state.size ? `#${state}` : location.pathname); } catch { /* a file */ }
  };
  const restore = () => {
    const asked = new URLSearchParams(location.search), state = new URLSearchParams(location.hash.slice(1));
    const q = state.get("q") || asked.get("q") || "", tags = state.getAll("tag");
    if (!q && !tags.length) return;
    box.value = q;
    chips.forEach((c) => c.setAttribute("aria-pressed", tags.includes(c.dataset.tag)));
    if (chips.some((c) => c.classList.contains("more") && tags.includes(c.dataset.tag))) open(true);
    show();
    document.querySelector("#architectures").scrollIntoView();
  };
  box.addEventListener("input", show);
  chips.forEach((chip) => chip.addEventListener("click", () => {
    chip.setAttribute("aria-pressed", chip.getAttribute("aria-pressed") !== "true");
    show();
  }));
  if (all) all.addEventListener("click", () => open(all.getAttribute("aria-expanded") !== "true"));
  addEventListener("hashchange", restore);
  restore();
};

// ---- figures -------------------------------------------------------------------------------
const LARGEST = 1.8; // pixels a point when a figure is fitted: no small figure is blown up
const DEEPEST = 12;

const viewer = (frame) => {
  const stage = frame.querySelector(".stage"), svg = stage.querySelector("svg");
  const readout = frame.querySelector(".readout"), hint = readout.innerHTML;
  const [, , width, height] = svg.getAttribute("viewBox").split(/\s+/).map(Number);
  let view = { x: 0, y: 0, w: width, h: height, whole: width }, fitted = true;

  // Room for the figure at its fitted size, then a window onto it.
  const fit = () => {
    const wide = stage.clientWidth - 2;
    if (wide < 40) return; // not laid out yet
    const most = Math.max(320, innerHeight * 0.82);
    const scale = Math.min(wide / width, most / height, LARGEST);
    stage.style.height = `${Math.ceil(Math.max(height * scale, 96))}px`;
    const w = wide / scale, h = stage.clientHeight / scale;
    view = { x: (width - w) / 2, y: (height - h) / 2, w, h, whole: w };
    fitted = true;
    apply();
  };
  const apply = () => {
    const inside = (at, length, size) => length >= size
      ? (size - length) / 2 : Math.min(Math.max(at, -length * 0.1), size - length * 0.9);
    view.x = inside(view.x, view.w, width);
    view.y = inside(view.y, view.h, height);
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
    stage.classList.toggle("close", view.w < view.whole * 0.999);
  };
  const zoom = (by, at) => {
    const box = stage.getBoundingClientRect();
    const u = at ? (at.clientX - box.left) / box.width : 0.5, v = at ? (at.clientY - box.top) / box.height : 0.5;
    const w = Math.min(Math.max(view.w / by, view.whole / DEEPEST), view.whole), k = w / view.w;
    view.x += (1 - k) * u * view.w;
    view.y += (1 - k) * v * view.h;
    view.w *= k;
    view.h *= k;
    fitted = k >= 1 && view.w >= view.whole * 0.999;
    apply();
  };
  const move = (dx, dy) => { view.x += dx; view.y += dy; apply(); };

  // Its blocks one after the other, in the order of the data; pressed again, all at once.
  const later = [...svg.querySelectorAll("[data-step]")], player = frame.querySelector("[data-do=play]");
  const steps = Math.max(1, ...later.map((part) => part.dataset.step)), pace = Math.min(0.8, 16 / steps);
  player.hidden = !later.length;
  later.forEach((part) => { part.style.animationDelay = `${(part.dataset.step - 1) * pace}s`; });
  let ending = 0;
  const play = () => {
    clearTimeout(ending);
    const on = svg.classList.toggle("plays");
    player.setAttribute("aria-pressed", on);
    if (on) ending = setTimeout(play, (steps * pace + 0.4) * 1000);
  };

  const acts = { in: () => zoom(1.4), out: () => zoom(1 / 1.4), fit, play };
  frame.querySelectorAll("[data-do]").forEach((button) => button.addEventListener("click", () => acts[button.dataset.do]()));
  stage.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls as ever
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 200), event);
  }, { passive: false });

  // One finger or the mouse moves, two fingers zoom; a drag is no click on a part.
  const fingers = new Map();
  let dragged = 0;
  stage.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    if (!fingers.size) dragged = 0;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    if (fingers.size === 2) {
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
      const far = (p) => Math.hypot(p.x - other.x, p.y - other.y);
      zoom(far(now) / Math.max(1, far(before)), { clientX: (now.x + other.x) / 2, clientY: (now.y + other.y) / 2 });
      dragged = 99;
    } else {
      const k = view.w / stage.clientWidth;
      dragged += Math.hypot(now.x - before.x, now.y - before.y);
      if (!fitted) move((before.x - now.x) * k, (before.y - now.y) * k);
    }
    fingers.set(event.pointerId, now);
  });
  for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, (event) => fingers.delete(event.pointerId));
  stage.addEventListener("click", (event) => { if (dragged > 6 && !fitted) event.preventDefault(); }, true);
  stage.addEventListener("dragstart", (event) => event.preventDefault());

  // Blocks: one stop for Tab, arrows step to the nearest in that direction.
  const blocks = [...svg.querySelectorAll(".block[data-name]")];
  const stop = (block) => blocks.forEach((each) => each.setAttribute("tabindex", each === block ? 0 : -1));
  stop(blocks[0]);
  const line = (kind, text) => {
    const p = document.createElement("p");
    p.className = kind;
    p.textContent = text;
    return p;
  };
  const tell = (block) => {
    blocks.forEach((each) => each.classList.toggle("at", each === block));
    if (!block) { readout.innerHTML = hint; return; }
    const d = block.dataset;
    const about = [line("name", d.name + (d.what ? ` · ${d.what}` : ""))];
    if (d.shape) about.push(line("shape", d.shape));
    if (d.params) about.push(line("params", `${d.params} parameters${d.number ? ` = ${d.number}` : ""}`));
    if (d.set) about.push(line("note", d.set));
    if (d.note) about.push(line("note", d.note));
    if (block.localName === "a") about.push(line("go", "Open its page"));
    readout.replaceChildren(...about);
  };
  const middle = (block) => {
    const r = block.getBoundingClientRect();
    return { x: r.left + r.width / 2, y: r.top + r.height / 2 };
  };
  const step = (from, key) => {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    const here = middle(from);
    let best = null, least = Infinity;
    for (const block of blocks) {
      const at = middle(block), along = (at.x - here.x) * dx + (at.y - here.y) * dy;
      const across = Math.abs((at.x - here.x) * dy) + Math.abs((at.y - here.y) * dx);
      if (block === from || along < 2) continue;
      if (along + 3 * across < least) { least = along + 3 * across; best = block; }
    }
    if (best) { stop(best); best.focus({ preventScroll: true }); }
  };
  const own = (event) => event.target.closest && event.target.closest(".block[data-name]");
  let touched = null;
  svg.addEventListener("pointerover", (event) => { if (!fingers.size) tell(own(event) || touched); });
  svg.addEventListener("pointerleave", () => tell(touched));
  svg.addEventListener("click", (event) => { const block = own(event); if (block && block.localName !== "a") { touched = block; tell(block); } });
  // On the stage: a listener for focus would make the drawing itself a stop for Tab.
  stage.addEventListener("focusin", (event) => { touched = own(event); if (touched) { stop(touched); tell(touched); } });
  stage.addEventListener("focusout", () => { touched = null; tell(null); });
  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = { "+": acts.in, "=": acts.in, "-": acts.out, "0": fit, Escape: fit };
    const block = own(event), step4 = view.w / 8;
    const ways = { ArrowLeft: [-step4, 0], ArrowRight: [step4, 0], ArrowUp: [0, -step4], ArrowDown: [0, step4] };
    if (keys[event.key]) keys[event.key]();
    else if (ways[event.key] && block) step(block, event.key);
    else if (ways[event.key] && !fitted) move(...ways[event.key]);
    else return;
    event.preventDefault();
  });
  let last = 0;
  new ResizeObserver(() => {
    // A sheet of paper is no window, whatever its width.
    if (Math.abs(stage.clientWidth - last) < 2 || matchMedia("print").matches) return;
    last = stage.clientWidth;
    fit();
  }).observe(stage);
  // On paper the whole figure stands at its own size, whatever the window showed.
  addEventListener("beforeprint", () => svg.setAttribute("viewBox", `0 0 ${width} ${height}`));
  addEventListener("afterprint", apply);
};

document.addEventListener("DOMContentLoaded", () => {
  schemes();
  filter();
  document.querySelectorAll(".viewer").forEach(viewer);
});
})();
