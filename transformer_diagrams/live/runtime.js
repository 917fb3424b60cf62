// Evaluates recorded array operations in the page and keeps the drawing, the summary and the
// controls in step. No network, no storage, no eval; the only trace is `lv` on each figure.
(() => {
"use strict";
const size = (shape) => shape.reduce((a, b) => a * b, 1);

// ---- operations: the same list as the evaluator in Python ----------------------------------
const UNARY = {
  exp: Math.exp, log: Math.log, sqrt: Math.sqrt, sin: Math.sin, cos: Math.cos,
  abs: Math.abs, floor: Math.floor, neg: (a) => -a,
};
const BINARY = {
  pow: (a, b) => a ** b, min: (a, b) => (a < b ? a : b), max: (a, b) => (a > b ? a : b),
  lt: (a, b) => +(a < b), le: (a, b) => +(a <= b), gt: (a, b) => +(a > b),
  ge: (a, b) => +(a >= b), eq: (a, b) => +(a === b),
};
const mix = (counter, seed) => {
  let x = (Math.imul(counter, 0x9e3779b9) + seed) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b) >>> 0;
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35) >>> 0;
  return (x ^ (x >>> 16)) >>> 0;
};
const uniform = (counter, seed) => (mix(counter, seed) + 0.5) / 4294967296;

// For each element of `out`, where its value stands in an array of shape `shape`; null: the same.
const known = new Map();
const placed = (shape, out) => {
  if (size(shape) === size(out)) return null;
  const key = `${shape}|${out}`;
  if (!known.has(key)) known.set(key, places(shape, out));
  return known.get(key);
};
const places = (shape, out) => {
  const n = size(out);
  const found = new Int32Array(n), steps = new Array(out.length).fill(0);
  for (let a = out.length - 1, s = shape.length - 1, step = 1; s >= 0; a--, s--) {
    steps[a] = shape[s] === 1 ? 0 : step;
    step *= shape[s];
  }
  const at = new Array(out.length).fill(0);
  for (let i = 0, p = 0; i < n; i++) {
    found[i] = p;
    for (let a = out.length - 1; a >= 0; a--) {
      p += steps[a];
      if (++at[a] < out[a]) break;
      p -= steps[a] * out[a];
      at[a] = 0;
    }
  }
  return found;
};
// Plain loops: the iterating ways to fill an array are several times slower.
const filled = (n, at) => {
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) out[i] = at(i);
  return out;
};
const spread = (values, shape, out) => {
  const p = placed(shape, out);
  return p ? filled(p.length, (i) => values[p[i]]) : values;
};
const REDUCE = {
  sum: (v, start, step, n) => { let t = 0; for (let j = 0; j < n; j++) t += v[start + j * step]; return t; },
  rmax: (v, start, step, n) => { let t = v[start]; for (let j = 1; j < n; j++) t = BINARY.max(t, v[start + j * step]); return t; },
  rmin: (v, start, step, n) => { let t = v[start]; for (let j = 1; j < n; j++) t = BINARY.min(t, v[start + j * step]); return t; },
  argmax: (v, start, step, n) => { let k = 0; for (let j = 1; j < n; j++) if (v[start + j * step] > v[start + k * step]) k = j; return k; },
};
// The cheapest one-to-one choice, by shortest augmenting paths; NaN when a cost is not finite.
const assignment = (cost, n, m) => {
  const result = new Float64Array(n).fill(NaN);
  if (!cost.every(Number.isFinite)) return result;
  const rowPrice = new Float64Array(n + 1), colPrice = new Float64Array(m + 1);
  const owner = new Int32Array(m + 1), way = new Int32Array(m + 1);
  for (let i = 1; i <= n; i++) {
    owner[0] = i;
    let column = 0;
    const least = new Float64Array(m + 1).fill(Infinity), used = new Uint8Array(m + 1);
    while (owner[column]) {
      used[column] = 1;
      const row = owner[column];
      let delta = Infinity, following = 0;
      for (let j = 1; j <= m; j++) {
        if (used[j]) continue;
        const reduced = cost[(row - 1) * m + j - 1] - rowPrice[row] - colPrice[j];
        if (reduced < least[j]) { least[j] = reduced; way[j] = column; }
        if (least[j] < delta) { delta = least[j]; following = j; }
      }
      for (let j = 0; j <= m; j++) {
        if (used[j]) { rowPrice[owner[j]] += delta; colPrice[j] -= delta; } else least[j] -= delta;
      }
      column = following;
    }
    while (column) { owner[column] = owner[way[column]]; column = way[column]; }
  }
  for (let j = 1; j <= m; j++) if (owner[j]) result[owner[j] - 1] = j - 1;
  return result;
};
const OPS = {
  const: ([, , , data]) => Float64Array.from(data),
  zeros: ([, shape]) => new Float64Array(size(shape)),
  iota: ([, [n], , start, step]) => filled(n, (i) => start + step * i),
  hashnorm: ([, shape, , start, seed]) => {
    const out = new Float64Array(size(shape));
    for (let i = 0; i < out.length; i++) {
      const c = 2 * (start + i);
      out[i] = Math.sqrt(-2 * Math.log(uniform(c, seed))) * Math.cos(2 * Math.PI * uniform(c + 1, seed));
    }
    return out;
  },
  where: ([, shape], [c, a, b], shapes) => {
    const [d, x, y] = [c, a, b].map((v, i) => spread(v, shapes[i], shape));
    const out = new Float64Array(size(shape));
    for (let i = 0; i < out.length; i++) out[i] = d[i] !== 0 ? x[i] : y[i];
    return out;
  },
  reshape: (node, [v]) => v,
  transpose: ([, shape, , order], [v], [from]) => {
    const steps = from.map((_, a) => size(from.slice(a + 1)));
    const out = new Float64Array(v.length), at = shape.map(() => 0);
    for (let i = 0; i < v.length; i++) {
      let p = 0;
      for (let a = 0; a < at.length; a++) p += at[a] * steps[order[a]];
      out[i] = v[p];
      for (let a = at.length - 1; a >= 0 && ++at[a] === shape[a]; a--) at[a] = 0;
    }
    return out;
  },
  take: ([, shape], [v, rows], [from]) => {
    const n = size(from.slice(1)), out = new Float64Array(size(shape));
    rows.forEach((r, i) => out.set(v.subarray(r * n, r * n + n), i * n));
    return out;
  },
  stack: ([, shape], parts) => {
    const out = new Float64Array(size(shape));
    parts.forEach((v, i) => out.set(v, i * v.length));
    return out;
  },
  cumsum: ([, shape], [v]) => {
    const n = shape[shape.length - 1], out = Float64Array.from(v);
    for (let i = 0; i < v.length; i++) if (i % n) out[i] += out[i - 1];
    return out;
  },
  assign: (node, [v], [[n, m]]) => assignment(v, n, m),
};
// The most used operations have loops of their own; p and q say where broadcast values stand.
const LOOPS = {
  add: (o, a, b, p, q) => { for (let i = 0; i < o.length; i++) o[i] = a[p ? p[i] : i] + b[q ? q[i] : i]; },
  sub: (o, a, b, p, q) => { for (let i = 0; i < o.length; i++) o[i] = a[p ? p[i] : i] - b[q ? q[i] : i]; },
  mul: (o, a, b, p, q) => { for (let i = 0; i < o.length; i++) o[i] = a[p ? p[i] : i] * b[q ? q[i] : i]; },
  div: (o, a, b, p, q) => { for (let i = 0; i < o.length; i++) o[i] = a[p ? p[i] : i] / b[q ? q[i] : i]; },
};
for (const [name, f] of Object.entries(LOOPS)) {
  OPS[name] = ([, shape], [a, b], [from, to]) => {
    const out = new Float64Array(size(shape));
    f(out, a, b, placed(from, shape), placed(to, shape));
    return out;
  };
}
for (const [name, f] of Object.entries(UNARY)) OPS[name] = (node, [v]) => filled(v.length, (i) => f(v[i]));
for (const [name, f] of Object.entries(BINARY)) {
  OPS[name] = (node, [a, b], [from, to]) => {
    const n = size(node[1]), p = placed(from, node[1]), q = placed(to, node[1]);
    if (!p && !q) return filled(n, (i) => f(a[i], b[i]));
    return filled(n, (i) => f(a[p ? p[i] : i], b[q ? q[i] : i]));
  };
}
for (const [name, f] of Object.entries(REDUCE)) {
  OPS[name] = ([, shape, , axis], [v], [from]) => {
    const n = from[axis], step = size(from.slice(axis + 1));
    return filled(size(shape), (i) => f(v, Math.floor(i / step) * step * n + (i % step), step, n));
  };
}

// ---- numbers and sentences as text: the same rules as in Python ------------------------------
const coordinate = (v) => String(Math.floor(100 * v + 0.5) / 100);
const fixed = (v, decimals) => {
  const power = 10 ** decimals, rounded = Math.floor(v * power + 0.5) / power;
  const [whole, part] = Math.abs(rounded).toFixed(decimals).split(".");
  const text = whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part ? "." + part : "");
  return rounded < 0 ? "\u2212" + text : text;
};
const listed = (names, last) => (names.length > 1 ? names.slice(0, -1).join(", ") + last : "") + names.slice(-1);
const fill = (template, value, k) => template.map((part) => {
  if (typeof part === "string") return part;
  const [kind, index, extra, last] = part, values = value(index);
  if (kind === "l") {
    const n = extra.length, start = n * (k % (values.length / n));
    return listed([...new Set(extra.filter((_, i) => values[start + i] > 0.5))], last);
  }
  const v = values[k % values.length];
  return kind === "n" ? fixed(v, extra) : kind === "p" ? extra[v] : v !== 0 ? fill(extra, value, k) : "";
}).join("");
const column = ([kind, index, extra], value) => {
  const v = value(index);
  if (kind === "x") return Array.from(v, coordinate);
  if (kind === "r") return Array.from(v, (a) => `var(--r${Math.floor(Math.min(1, Math.max(0, a)) * 100 + 0.5)})`);
  if (kind === "c") return Array.from(v, (a) => extra[a]);
  const y = value(extra[0]), n = extra[1], lines = [];
  for (let k = 0; k * n < Math.max(v.length, y.length); k++) {
    const points = [];
    for (let j = 0; j < n; j++) {
      points.push(coordinate(v[(k * n + j) % v.length]) + " " + coordinate(y[(k * n + j) % y.length]));
    }
    lines.push("M" + points.join("L"));
  }
  return lines;
};

// ---- one figure --------------------------------------------------------------------------------
const SVG = "http://www.w3.org/2000/svg";
const make = (tag, text = "", inside = []) => {
  const element = document.createElement(tag);
  element.textContent = text;
  element.append(...inside);
  return element;
};
const live = (figure, common) => {
  const spec = JSON.parse(figure.querySelector("script").textContent);
  const find = (name) => figure.querySelector("." + name);
  const svg = find("drawing").querySelector("svg");
  const inputs = [...figure.querySelectorAll("input[type=range]")];
  const state = {}, names = spec.sliders.map((s) => s.name);
  spec.sliders.forEach((s) => { state[s.name] = s.values[s.start]; });

  // Which sliders a node depends on, as bits; what depends on no moved slider is kept.
  const kept = new Array(spec.nodes.length), depends = [];
  spec.nodes.forEach(([op, , ins, name], i) => {
    depends[i] = ins.reduce((bits, j) => bits | depends[j], op === "param" ? 1 << names.indexOf(name) : 0);
  });
  const value = (i) => {
    if (kept[i] === undefined) {
      const node = spec.nodes[i];
      kept[i] = node[0] === "param" ? Float64Array.of(state[node[3]])
        : OPS[node[0]](node, node[2].map(value), node[2].map((j) => spec.nodes[j][1]));
    }
    return kept[i];
  };

  const groups = svg.querySelectorAll(":scope > g > g");
  const drawn = spec.marks.map(({ group, attrs, text, place }) => ({
    attrs: Object.entries(attrs), text, place, seen: new Map(), before: new Map(),
    group: groups[group], elements: [...groups[group].children],
  }));
  const put = (mark, name, texts, element) => {
    const before = mark.before.get(name) || [];
    mark.elements.forEach((e, k) => {
      const text = texts[texts.length === 1 ? 0 : k];
      if (text !== before[k]) element(e, text);
    });
    mark.before.set(name, mark.elements.map((_, k) => texts[texts.length === 1 ? 0 : k]));
  };
  const draw = () => {
    for (const mark of drawn) {
      for (const [name, attr] of mark.attrs) {
        const now = value(attr[1]), also = attr[0] === "d" ? value(attr[2][0]) : now;
        const seen = mark.seen.get(name);
        if (seen && seen[0] === now && seen[1] === also) continue;
        mark.seen.set(name, [now, also]);
        put(mark, name, column(attr, value), (e, text) => e.setAttribute(name, text));
      }
      if (mark.place) {
        const [x, y, scale, opacity] = mark.place.map((i) => coordinate(value(i)[0]));
        mark.group.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
        mark.group.setAttribute("opacity", opacity);
      }
      if (mark.text) {
        const texts = mark.elements.map((_, k) => fill(mark.text, value, k));
        put(mark, "", texts, (e, text) => { e.textContent = text; });
      }
    }
  };
  const shown = (s) => s.show[s.values.indexOf(state[s.name])];
  const read = () => {
    const out = {};
    for (const { name, index } of spec.outputs) {
      out[name] = Array.from(value(index));
      if (!out[name].every(Number.isFinite)) throw new Error(`${spec.id}: ${name} is not finite`);
    }
    return out;
  };
  const stateLine = () => spec.sliders.map((s) => `${s.said}: ${shown(s)}`).join("; ");
  const query = () => spec.sliders.map((s) => `${s.name}=${state[s.name]}`).join("&");
  const update = () => {
    draw();
    inputs.forEach((input, i) => {
      const s = spec.sliders[i], text = shown(s);
      input.value = s.indexed ? s.values.indexOf(state[s.name]) : state[s.name];
      input.setAttribute("aria-valuetext", text);
      input.parentElement.querySelector("output").textContent = text;
    });
    const sentence = fill(spec.summary, value, 0), line = find("summary").firstElementChild;
    if (line.textContent !== sentence) line.textContent = sentence;
    find("printed").textContent = stateLine();
    if (find("numbers").open) table();
    if (!find("state").hidden) tell();
  };
  const set = (wanted) => {
    let bits = 0;
    for (const [name, given] of Object.entries(wanted)) {
      const i = names.indexOf(name);
      if (i < 0 || !Number.isFinite(+given)) continue;
      const near = spec.sliders[i].values.reduce((a, b) => (Math.abs(b - given) < Math.abs(a - given) ? b : a));
      if (near !== state[name]) { state[name] = near; bits |= 1 << i; }
    }
    depends.forEach((own, i) => { if (own & bits) kept[i] = undefined; });
    update();
  };

  // ---- numbers, state, download
  const table = () => {
    const digits = (v) => (Number.isInteger(v) ? fixed(v, 0) : fixed(v, 6));
    const values = read(), holder = find("tables");
    // Lists over the same rows become the columns of one table.
    const tables = [];
    for (const output of spec.outputs) {
      const last = tables[tables.length - 1], list = output.shape.length === 1;
      if (list && last && last[0].shape.length === 1 && `${last[0].rows}` === `${output.rows}`) last.push(output);
      else tables.push([output]);
    }
    holder.replaceChildren(...tables.map((group) => {
      const [{ shape, rows, columns }] = group, body = make("tbody");
      const wide = shape.length > 1 ? shape[shape.length - 1] : 1, count = values[group[0].name].length;
      for (let r = 0; r * wide < count; r++) {
        const row = make("tr");
        if (count > 1) row.append(make("th", rows[r] || String(r + 1)));
        for (const { name } of group) {
          for (const v of values[name].slice(r * wide, (r + 1) * wide)) row.append(make("td", digits(v)));
        }
        body.append(row);
      }
      const parts = [make("caption", group.map(({ name, doc }) => `${name}: ${doc}`).join("; "))];
      const heads = group.length > 1 ? group.map(({ name }) => name) : columns;
      if (heads.length) parts.push(make("thead", "", [make("tr", "", [make("th"), ...heads.map((c) => make("th", c))])]));
      return make("table", "", [...parts, body]);
    }));
  };
  const link = () => `${location.href.split("#")[0]}#${figure.id}?${query()}`;
  const tell = () => {
    const sets = spec.sliders.map((s) => ` --set ${s.name}=${state[s.name]}`).join("");
    const args = spec.sliders.map((s) => `, ${s.name}=${state[s.name]}`).join("");
    const [a, b, c] = find("state").querySelectorAll("code");
    a.textContent = link();
    b.textContent = `transformer-diagrams live export ${spec.id}${spec.options}${sets} -o ${spec.id}.svg`;
    c.textContent = `${spec.made}.save("${spec.id}.svg"${args})`;
  };
  const copy = async () => {
    find("state").hidden = false;
    tell();
    try { history.replaceState(null, "", `#${figure.id}?${query()}`); } catch { /* a frame without an address */ }
    let done = false;
    try { await navigator.clipboard.writeText(link()); done = true; } catch {
      const range = document.createRange();
      range.selectNodeContents(find("state").querySelector("code"));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      try { done = document.execCommand("copy"); } catch { /* it is selected: copy by hand */ }
    }
    find("done").textContent = done ? "Link copied." : "The link is selected: copy it with your keyboard.";
  };
  const asFile = () => {
    const clone = svg.cloneNode(true), [, , w, h] = svg.getAttribute("viewBox").split(" ").map(Number);
    const add = (tag, attrs, text, first) => {
      const element = document.createElementNS(SVG, tag);
      for (const [key, v] of Object.entries(attrs)) element.setAttribute(key, v);
      if (text) element.textContent = text;
      clone[first ? "prepend" : "append"](element);
      return element;
    };
    const high = h + common.foot;
    clone.setAttribute("viewBox", `0 0 ${w} ${high}`);
    clone.setAttribute("width", w);
    clone.setAttribute("height", high);
    clone.firstElementChild.replaceWith(...clone.firstElementChild.children); // its name is the page's
    for (const name of ["class", "aria-labelledby", "aria-describedby"]) clone.removeAttribute(name);
    const line = spec.sliders.map((s) => `${s.said} ${shown(s)}`).join("   \u00b7   ");
    add("text", { x: w / 2, y: high - 12, "font-size": 13, "text-anchor": "middle", fill: "var(--soft)" }, line);
    add("rect", { width: w, height: high, fill: "var(--paper)" }, "", true);
    const faces = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
      .filter((rule) => rule instanceof CSSFontFaceRule).map((rule) => rule.cssText).join("");
    add("style", {}, faces + "text{font-feature-settings:'tnum'}", true);
    add("desc", {}, find("summary").firstElementChild.textContent, true);
    add("title", {}, spec.title, true);
    clone.setAttribute("font-family", common.family);
    clone.setAttribute("font-size", "15");
    clone.setAttribute("fill", common.colors.ink);
    const text = new XMLSerializer().serializeToString(clone);
    return text.replace(/var\(--([\w-]+)\)/g, (all, name) => common.colors[name] || all);
  };
  const download = () => {
    const a = document.createElement("a");
    a.href = URL.createObjectURL(new Blob([asFile()], { type: "image/svg+xml" }));
    a.download = `${spec.id}.svg`;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  };

  inputs.forEach((input, i) => input.addEventListener("input", () => {
    const s = spec.sliders[i];
    set({ [s.name]: s.indexed ? s.values[+input.value] : +input.value });
  }));
  find("controls").addEventListener("submit", (event) => event.preventDefault());
  find("reset").addEventListener("click", () =>
    set(Object.fromEntries(spec.sliders.map((s) => [s.name, s.values[s.home]]))));
  find("copy").addEventListener("click", copy);
  find("save").addEventListener("click", download);
  find("numbers").addEventListener("toggle", () => { if (find("numbers").open) table(); });
  return {
    set, get: read, warm: draw, file: asFile,
    svg: () => new XMLSerializer().serializeToString(svg),
    get params() { return { ...state }; },
  };
};

// ---- the page: a figure starts when it is first seen, touched or asked ---------------------------
const begin = (root) => {
  const common = JSON.parse(root.querySelector("#lv-common").textContent);
  const figures = [...root.querySelectorAll("figure.lv")];
  for (const figure of figures) {
    let own = null;
    const start = () => (own = own || live(figure, common));
    Object.defineProperty(figure, "lv", { get: start });
    for (const kind of ["pointerenter", "focusin"]) figure.addEventListener(kind, start, { once: true });
  }
  // Listeners are in place before the heavy part: the numbers follow when the browser has time.
  const eye = new IntersectionObserver((entries) => entries.forEach((entry) => {
    if (!entry.isIntersecting) return;
    eye.unobserve(entry.target);
    const later = window.requestIdleCallback || ((f) => setTimeout(f, 50));
    const own = entry.target.lv;
    later(() => own.warm());
  }));
  figures.forEach((figure) => eye.observe(figure));
  const restore = () => {
    const [id, query] = decodeURIComponent(location.hash.slice(1)).split("?");
    const figure = figures.find((f) => f.id === id);
    if (!figure || !query) return;
    figure.lv.set(Object.fromEntries(new URLSearchParams(query)));
    // Once more when the fonts inside have been read: they may move what is above.
    figure.scrollIntoView();
    document.fonts.ready.then(() => figure.scrollIntoView());
  };
  addEventListener("hashchange", restore);
  restore();
};
begin(document);
// In a notebook: the frame becomes as high as the page in it, if it may be reached.
let frame = null;
try { frame = window.frameElement; } catch { /* another origin's */ }
if (frame && frame.hasAttribute("data-live")) {
  new ResizeObserver(() => {
    frame.style.height = Math.ceil(document.body.getBoundingClientRect().height) + "px";
  }).observe(document.body);
}
})();
