// Draws a report from the JSON in #data. What was drawn is counted in the body's
// data attributes, so that a test can see that nothing is empty and nothing failed.
const UNIT_COLORS = { busy: 'var(--busy)', stall_semaphore: 'var(--sem)', stall_memory: 'var(--mem)', stall_bank: 'var(--bank)', idle: 'var(--idle)' };
const palette = ['#3d7bd9', '#2a9d76', '#e07a3f', '#8e5bb5', '#c0a02c', '#d1495b', '#4aa3b8', '#7a8b3c', '#b0689a', '#5b6abf'];
const opNames = D.layers ? [...new Set(D.layers.map(l => l.op))] : [];
const opColor = op => palette[opNames.indexOf(op) % palette.length];
const fmt = n => Math.round(n).toLocaleString('en');
const pct = x => (100 * x).toFixed(1) + ' %';
const bytes = n => n >= 1 << 20 ? (n / (1 << 20)).toFixed(2) + ' MiB' : n >= 1024 ? (n / 1024).toFixed(1) + ' KiB' : n + ' B';
const sum = (list, f) => list.reduce((a, x) => a + f(x), 0);

function section(title, note) {
  el(document.body, 'h2', {}, title);
  if (note) el(document.body, 'p', { class: 'note' }, note);
  return el(document.body, 'div');
}

// One layer is chosen for all pictures at a time.
let chosen = -1, zoomTo = () => {};
const onChoose = [];
function choose(i) {
  chosen = i === chosen ? -1 : i;
  onChoose.forEach(f => f());
}

// A table that sorts by the column clicked. cols: [title, value of a row, text of a row, is text].
function sortable(parent, cols, rows, extra) {
  const t = el(parent, 'table'), head = el(el(t, 'thead'), 'tr'), body = el(t, 'tbody');
  let by = -1, dir = 1;
  const trs = rows.map((r, i) => {
    const tr = el(null, 'tr');
    for (const c of cols) {
      const td = el(tr, 'td', c[3] ? { class: c[3] === 'wrap' ? 't wrap' : 't' } : {});
      const v = c[2] ? c[2](r, i) : c[1](r, i);
      if (v instanceof Node) td.append(v); else td.textContent = v;
    }
    if (extra) extra(tr, r, i);
    return tr;
  });
  const draw = () => {
    const order = rows.map((_, i) => i);
    if (by >= 0) {
      order.sort((a, b) => {
        const x = cols[by][1](rows[a], a), y = cols[by][1](rows[b], b);
        return dir * (x < y ? -1 : x > y ? 1 : a - b);
      });
    }
    body.replaceChildren(...order.map(i => trs[i]));
    [...head.children].forEach((h, i) => { h.className = (cols[i][3] ? 't ' : '') + (i === by ? (dir > 0 ? 'up' : 'down') : ''); });
  };
  cols.forEach((c, i) => el(head, 'th', {}, c[0]).addEventListener('click', () => {
    dir = by === i ? -dir : c[3] ? 1 : -1;
    by = i;
    draw();
  }));
  draw();
  return trs;
}

// ---- summary -------------------------------------------------------------------------------
function summary() {
  const r = D.run;
  el(document.body, 'h1', {}, D.title);
  el(document.body, 'p', { class: 'note' }, D.subtitle);
  if (!r) return;
  const cards = el(document.body, 'div', { class: 'cards' });
  const card = (value, what) => { const c = el(cards, 'div', { class: 'card' }); el(c, 'b', {}, value); el(c, 'span', {}, what); };
  card(fmt(r.cycles), 'cycles');
  card((r.cycles / (1000 * D.clock_mhz)).toFixed(3) + ' ms', 'at ' + D.clock_mhz + ' MHz' + D.clock_note);
  card(pct(r.mac_utilization), 'of the multipliers used');
  card(pct(r.efficiency), 'of the roofline reached');
  card(fmt(r.macs), 'multiply-accumulates');
  card(bytes(r.dram.read_bytes + r.dram.write_bytes), 'DRAM traffic (' + bytes(r.dram.unavoidable_bytes) + ' needed)');
  card(fmt(Math.round((r.dram.read_bytes + r.dram.write_bytes) * D.clock_mhz / Math.max(r.cycles, 1))) + ' MB/s', 'of DRAM, on average');
  card(fmt(Math.round(D.costs.lut)) + ' LUT', `about; ${fmt(D.costs.dsp)} DSP, ${D.costs.bram} BRAM, ${D.costs.uram} URAM`);
  card((D.costs.joule * 1e3).toPrecision(3) + ' mJ', 'estimate; no board was measured');
  card(bytes(r.activation_memory.planned_bytes), 'activations (' + bytes(r.activation_memory.naive_bytes) + ' without reuse)');
  card(D.layers.length, 'layers on the machine');
  card(r.host_ops.length, 'operations on the host');
  const units = el(document.body, 'div', { class: 'units' });
  for (const u in r.units) {
    el(units, 'div', {}, u.toUpperCase());
    const k = r.units[u], bar = el(units, 'div', { class: 'bar' });
    // Waits for memory and banks are part of busy.
    const parts = { busy: k.busy - k.stall_memory - k.stall_bank, stall_memory: k.stall_memory, stall_bank: k.stall_bank,
      stall_semaphore: k.stall_semaphore, idle: r.cycles - k.busy - k.stall_semaphore };
    for (const p in parts) if (parts[p] > 0) el(bar, 'i', { style: `width:${100 * parts[p] / r.cycles}%;background:${UNIT_COLORS[p]}` });
    hover(bar, Object.keys(parts).map(p => `${p.replace('_', ': ')} ${fmt(parts[p])} (${pct(parts[p] / r.cycles)})`).join('\n'));
  }
  legend(document.body, [['busy', 'working'], ['mem', 'waits for DRAM'], ['bank', 'waits for a bank'], ['sem', 'waits for another unit'],
    ['idle', 'nothing to do']].map(([c, what]) => [`var(--${c})`, what]));
}

// ---- roofline ------------------------------------------------------------------------------
function roofline() {
  const box = section('Roofline', 'Each layer: multiply-accumulates per DRAM byte moved, and per cycle reached. The area is its share of the cycles. ' +
    'Layers without multiply-accumulates stand in the strip below, those that move no byte at the right edge. Click one to choose it everywhere.');
  const W = 1230, H = 430, left = 60, right = 20, top = 14, bottom = 70, strip = 26;
  const s = sv(box, 'svg', { viewBox: `0 0 ${W} ${H}`, id: 'roofline' });
  const peak = D.run.machine.k * D.run.machine.n, bw = D.run.memory_model.bytes_per_cycle;
  const pts = D.layers.map((l, i) => ({ l, i, x: l.dram_bytes ? l.macs / l.dram_bytes : Infinity, y: l.cycles ? l.macs / l.cycles : 0 }));
  const real = pts.filter(p => p.y > 0 && isFinite(p.x));
  const x0 = Math.min(0.5, ...real.map(p => p.x)) / 1.5, x1 = Math.max(peak / bw * 8, ...real.map(p => p.x)) * 3;
  const y1 = peak * 1.6, y0 = Math.min(peak / 64, ...real.map(p => p.y)) / 1.5;
  const X = d3.scale.log().base(2).domain([x0, x1]).range([left, W - right]).clamp(true);
  const Y = d3.scale.log().base(2).domain([y0, y1]).range([H - bottom, top]).clamp(true);
  const powers = (lo, hi, step) => d3.range(Math.ceil(Math.log2(lo)), Math.log2(hi), step).map(d => 2 ** d);
  axis(s, X, 'bottom', H - bottom + strip + 8, H - bottom - top, String, powers(x0, x1, 2));
  axis(s, Y, 'left', left, W - left - right, String, powers(y0, y1, 1));
  sv(s, 'text', { x: (W + left) / 2, y: H - 8, 'text-anchor': 'middle' }, 'MACs per DRAM byte');
  sv(s, 'text', { x: 14, y: H / 2, transform: `rotate(-90 14 ${H / 2})`, 'text-anchor': 'middle' }, 'MACs per cycle');
  sv(s, 'path', { class: 'roof', d: `M${X(x0)},${Y(x0 * bw)} L${X(peak / bw)},${Y(peak)} L${W - right},${Y(peak)}` });
  sv(s, 'text', { x: W - right - 4, y: Y(peak) - 5, 'text-anchor': 'end' }, `${peak} MACs per cycle`);
  sv(s, 'text', { x: X(x0) + 8, y: Y(x0 * bw * 1.6) - 4 }, `${bw} bytes per cycle`);
  sv(s, 'rect', { x: left, y: H - bottom + 4, width: W - left - right, height: strip, fill: 'var(--soft)' });
  const total = D.run.cycles || 1, marks = [];
  let n = 0;
  for (const p of [...pts].sort((a, b) => b.l.cycles - a.l.cycles)) {
    const r = 3 + 40 * Math.sqrt(p.l.cycles / total) / 2;
    const cx = isFinite(p.x) && p.l.macs ? X(p.x) : p.l.macs ? W - right - 3 : left + (W - left - right) * (p.i + .5) / pts.length;
    const c = sv(s, 'circle', { cx, cy: p.y > 0 ? Y(p.y) : H - bottom + 4 + strip / 2, r: p.y > 0 ? r : Math.min(r, 10), fill: opColor(p.l.op), 'fill-opacity': .55, stroke: opColor(p.l.op) });
    hover(c, `${p.l.name} (${p.l.op})\n${fmt(p.l.cycles)} cycles, ${pct(p.l.cycles / total)} of all\n${p.y.toFixed(1)} MACs per cycle (${pct(p.l.mac_utilization)}), ` +
      `${isFinite(p.x) ? p.x.toFixed(1) : 'no'} MACs per byte\nefficiency ${pct(p.l.efficiency)}, bound: ${p.l.bound}`);
    c.addEventListener('click', () => choose(p.i));
    marks.push([c, p.i]);
    n++;
  }
  onChoose.push(() => marks.forEach(([c, i]) => { c.setAttribute('stroke-width', i === chosen ? 4 : 1); }));
  legend(box, opNames.map(op => [opColor(op), op]));
  document.body.dataset.roofline = n;
}

// ---- layers --------------------------------------------------------------------------------
function layers() {
  const box = el(section('Layers', 'Click a heading to sort, a row to choose the layer. Stalls are added up over the units; point at them for each unit.'), 'div', { class: 'scroll' });
  const total = D.run.cycles || 1, unit = D.units;
  const stall = (l, k) => sum(l.units, u => u[k]);
  const byUnit = k => l => unit.map((u, i) => `${u}: ${fmt(l.units[i][k])}`).join('\n');
  const num = (title, f) => [title, f, l => fmt(f(l))];
  const cols = [
    ['#', (l, i) => i], ['layer', l => l.name, null, true], ['op', l => l.op, null, true], num('cycles', l => l.cycles),
    ['share', l => l.cycles, l => { const s = el(null, 'span'); el(s, 'span', { class: 'share', style: `width:${Math.round(60 * l.cycles / Math.max(...D.layers.map(x => x.cycles), 1))}px` }); s.append(pct(l.cycles / total)); return s; }],
    num('MACs', l => l.macs), ['MAC util', l => l.mac_utilization, l => pct(l.mac_utilization)], num('roofline', l => l.roofline_cycles),
    ['efficiency', l => l.efficiency, l => pct(l.efficiency)], ['bound', l => l.bound, null, true],
    ['by plan', l => l.plan_efficiency, l => pct(l.plan_efficiency)], num('MX busy', l => l.mx_busy), num('VX busy', l => l.vx_busy),
    num('DRAM bytes', l => l.dram_bytes), num('needed', l => l.unavoidable_bytes),
    num('wait unit', l => stall(l, 1)), num('wait DRAM', l => stall(l, 2)), num('wait bank', l => stall(l, 3)), num('ops', l => l.n_ops), ['plan', l => l.plan, null, true]];
  const trs = sortable(box, cols, D.layers, (tr, l, i) => {
    tr.addEventListener('click', () => choose(i));
    [15, 16, 17].forEach((c, k) => hover(tr.children[c], byUnit(k + 1)(l)));
  });
  onChoose.push(() => trs.forEach((tr, i) => { tr.className = i === chosen ? 'chosen' : ''; }));
  document.body.dataset.layers = trs.length;
}

// ---- timeline ------------------------------------------------------------------------------
function timeline() {
  const o = D.ops;
  const box = section('Timeline', 'A row per unit; colours tell neighbouring layers apart, pale is waiting for another unit. DRAM bytes below. ' +
    'Wheel zooms, dragging moves, double click shows all.' + (o.merged ? ` ${fmt(o.merged)} operations are drawn merged; --trace has each.` : ''));
  const bar = el(box, 'div', { style: 'margin:4px 0' });
  const c = el(box, 'canvas', { id: 'timeline', style: 'height:300px' });
  const DRAM = ['#3d7bd9', '#d1495b'], RH = 34, LEFT = 40, rows = D.units.length, dramY = rows * RH + 6, dramH = 60;
  const all = Math.max(D.run.cycles, 1);
  let from = 0, to = all;
  const byUnit = D.units.map(() => []);
  for (let i = 0, t = 0; i < o.data.length; i += 5) { // unit, layer, begin - begin before, length, wait
    t += o.data[i + 2];
    byUnit[o.data[i]].push([t, t + o.data[i + 3], o.data[i + 1], o.data[i + 4]]);
  }
  byUnit.forEach(list => list.sort((a, b) => a[0] - b[0]));
  let drawn = 0;
  const W = () => c.clientWidth || 1230, H = 300;
  // What is seen, by rect(x, y, width, height, colour, opacity) and text(x, y, colour, what).
  function paint(rect, text) {
    const wide = W(), X = d3.scale.linear().domain([from, to]).range([LEFT, wide]), cut = x => Math.max(X(x), LEFT);
    drawn = 0;
    byUnit.forEach((list, u) => {
      const y = u * RH + 4;
      rect(LEFT, y, wide - LEFT, RH - 8, shade('--soft'), 1);
      for (const [a, b, l, wait] of list) {
        if (b < from || a - wait > to) continue;
        if (wait) rect(cut(a - wait), y + 8, Math.max(cut(a) - cut(a - wait), .3), RH - 24, shade('--sem'), .25);
        const x = cut(a), w = Math.max(X(b) - x, .4);
        rect(x, y, w, RH - 8, l === chosen ? shade('--used') : palette[l % palette.length], chosen < 0 || l === chosen ? 1 : .35);
        if (w > 60) text(x + 3, y + (RH - 8) / 2, '#fff', D.layers[l].name.slice(0, w / 7));
        drawn++;
      }
      text(6, y + (RH - 8) / 2, shade('--ink'), D.units[u].toUpperCase());
    });
    const bins = D.dram, half = dramH / 2, Y = d3.scale.linear().domain([0, Math.max(1, ...bins.read, ...bins.write)]).range([0, half]);
    text(3, dramY + half, shade('--ink'), 'DRAM');
    bins.read.forEach((r, i) => {
      const x = cut(i * bins.cycles), w = X((i + 1) * bins.cycles) - x;
      if (w <= 0 || x > wide) return;
      rect(x, dramY + half - Y(r), w, Y(r), DRAM[0], 1);
      rect(x, dramY + half, w, Y(bins.write[i]), DRAM[1], 1);
    });
    for (const t of X.ticks(8)) {
      rect(X(t), dramY + dramH + 3, 1, 4, shade('--dim'), 1);
      text(Math.min(X(t) + 3, wide - 60), dramY + dramH + 14, shade('--dim'), fmt(t));
    }
  }
  function draw() {
    const k = devicePixelRatio || 1, g = c.getContext('2d');
    c.width = W() * k; c.height = H * k;
    g.scale(k, k);
    g.font = '11px sans-serif'; g.textBaseline = 'middle';
    g.fillStyle = shade('--paper'); g.fillRect(0, 0, W(), H);
    paint((x, y, w, h, colour, opacity) => { g.globalAlpha = opacity; g.fillStyle = colour; g.fillRect(x, y, w, h); },
      (x, y, colour, what) => { g.globalAlpha = 1; g.fillStyle = colour; g.fillText(what, x, y); });
    document.body.dataset.timeline = drawn;
  }
  function asSvg() {
    const s = document.createElementNS(SVG, 'svg');
    s.setAttribute('viewBox', `0 0 ${W()} ${H}`);
    paint((x, y, width, height, fill, opacity) => sv(s, 'rect', { x, y, width, height, fill, 'fill-opacity': opacity }),
      (x, y, fill, what) => sv(s, 'text', { x, y: y + 4, style: 'fill:' + fill }, what));
    return s;
  }
  const set = (a, b) => { const w = Math.max(Math.min(b - a, all), 20); from = Math.max(0, Math.min(a, all - w)); to = from + w; draw(); };
  const at = ev => from + (ev.offsetX - LEFT) / (c.clientWidth - LEFT) * (to - from);
  c.addEventListener('wheel', ev => { ev.preventDefault(); const t = at(ev), k = ev.deltaY > 0 ? 1.25 : .8; set(t - (t - from) * k, t + (to - t) * k); }, { passive: false });
  let drag = null;
  c.addEventListener('mousedown', ev => { drag = [ev.offsetX, from, to]; });
  addEventListener('mouseup', () => { drag = null; });
  c.addEventListener('dblclick', () => set(0, all));
  c.addEventListener('mousemove', ev => {
    if (drag) { const d = (ev.offsetX - drag[0]) / (c.clientWidth - LEFT) * (drag[2] - drag[1]); set(drag[1] - d, drag[2] - d); return; }
    const u = Math.floor(ev.offsetY / RH), t = at(ev);
    const hit = byUnit[u] && byUnit[u].find(e => t >= e[0] - e[3] && t <= e[1]);
    if (!hit) { tip.style.display = 'none'; return; }
    showTip(ev, `${D.units[u].toUpperCase()}: ${D.layers[hit[2]].name}\n${fmt(hit[0])} to ${fmt(hit[1])}, ${fmt(hit[1] - hit[0])} cycles` + (hit[3] ? `\nwaited ${fmt(hit[3])} for another unit` : ''));
  });
  c.addEventListener('mouseleave', () => { tip.style.display = 'none'; });
  const button = (text, f) => el(bar, 'button', {}, text).addEventListener('click', f);
  button('all', () => set(0, all));
  button('chosen layer', () => { if (chosen >= 0) zoomTo(D.layers[chosen]); });
  saves(bar, asSvg, 'timeline');
  legend(box, [['var(--sem)', 'waits for another unit (pale)'], ['var(--used)', 'the chosen layer'], [DRAM[0], 'DRAM read'], [DRAM[1], 'DRAM written'],
    ...palette.slice(0, 3).map((p, i) => [p, i ? '' : 'layers, in turn'])]);
  addEventListener('resize', draw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  onChoose.push(draw);
  zoomTo = l => { if (l.end) set(l.begin - (l.end - l.begin) * .05, l.end + (l.end - l.begin) * .05); };
  draw();
  const g = c.getContext('2d'), px = g.getImageData(0, 0, c.width, c.height).data;
  let ink = 0;
  for (let i = 0; i < px.length; i += 4) ink += Math.abs(px[i] - px[i + 2]) > 40;
  document.body.dataset.timelinePixels = ink;
}

// ---- memories ------------------------------------------------------------------------------
function memory(title, id, total, at, size, extra) {
  const list = D.places.filter(p => p[at] >= 0);
  const box = section(title, `${bytes(total)}. Left to right the layers in their order, bottom to top the addresses. Green: a tensor is live; red: the layer makes or reads it.${extra || ''}`);
  const W = 1230, H = 260, left = 66, top = 8, bottom = 22, n = Math.max(D.layers.length, 1);
  const s = sv(box, 'svg', { viewBox: `0 0 ${W} ${H}`, id });
  const X = i => left + (W - left - 8) * i / n, Y = a => H - bottom - (H - top - bottom) * a / Math.max(total, 1);
  const unit = total >= 1 << 20 ? 1 << 20 : total >= 1024 ? 1024 : 1;
  axis(s, d3.scale.linear().domain([0, Math.max(total, 1)]).range([H - bottom, top]), 'left', left, W - 8 - left, bytes,
    d3.scale.linear().domain([0, total / unit]).ticks(4).map(v => v * unit));
  if (id === 'xm' && D.xm_ring < total) {
    const r = sv(s, 'rect', { x: left, y: Y(total), width: W - left - 8, height: Y(D.xm_ring) - Y(total), fill: 'var(--idle)' });
    hover(r, `tiles of tensors that stream: ${bytes(total - D.xm_ring)}`);
  }
  for (const p of list) {
    const a = p[at], b = a + p[size], y = Y(b), h = Math.max(Y(a) - y, .6);
    const last = Math.max(p.last, p.first), r = sv(s, 'rect', { x: X(p.first), y, width: Math.max(X(last + 1) - X(p.first), 1), height: h, fill: 'var(--live)', stroke: '#fff', 'stroke-width': .6 });
    const text = `${p.name}\n0x${a.toString(16)} to 0x${(b - 1).toString(16)}, ${bytes(p[size])}\nlive from layer ${p.first} to ${last}` +
      (p.layer >= 0 ? `, made by ${D.layers[p.layer].name}` : ', comes from outside');
    hover(r, text);
    for (const l of p.used) hover(sv(s, 'rect', { x: X(l), y, width: Math.max(X(l + 1) - X(l) - .5, .8), height: h, fill: 'var(--used)', 'fill-opacity': .8 }), text + `\nused by ${D.layers[l].name}`);
  }
  const mark = sv(s, 'rect', { y: top, width: X(1) - X(0), height: H - top - bottom, fill: 'none', stroke: 'var(--ink)', visibility: 'hidden' });
  onChoose.push(() => { mark.setAttribute('visibility', chosen < 0 ? 'hidden' : 'visible'); mark.setAttribute('x', X(Math.max(chosen, 0))); });
  s.addEventListener('click', ev => { const b = s.getBoundingClientRect(); const i = Math.floor(((ev.clientX - b.left) * W / b.width - left) / (W - left - 8) * n); if (i >= 0 && i < n) choose(i); });
  for (let i = 0; i < n; i += Math.ceil(n / 16)) sv(s, 'text', { x: X(i), y: H - 8 }, i);
  legend(box, [['live', 'live'], ['used', 'made or read by the layer'], ...(id === 'xm' ? [['idle', 'tiles of tensors that stream']] : [])]
    .map(([c, what]) => [`var(--${c})`, what]));
  document.body.dataset[id] = list.length;
}

// ---- code and host -------------------------------------------------------------------------
function code() {
  const box = section('Code', 'The operations of each layer in the order of issue, as heddle disasm prints them: word of the program, operation, operands that change.');
  D.layers.forEach((l, i) => {
    const d = el(box, 'details'), text = D.code[i];
    el(d, 'summary', {}, `${i} ${l.name} (${l.op}): ${fmt(l.n_ops)} operations, ${l.plan}`);
    d.addEventListener('toggle', () => { if (d.open && !d.querySelector('pre')) el(d, 'pre', {}, text); });
  });
  document.body.dataset.code = D.code.filter(t => t).length;
}
function host() {
  const box = section('On the host', D.run.host_ops.length ? '' : 'Nothing: the machine runs all of it.');
  if (D.run.host_ops.length) sortable(box, [['operation', h => h.node, null, true], ['op', h => h.op, null, true], ['reason', h => h.reason, null, 'wrap'], ['what would change it', h => h.hint || '', null, 'wrap']], D.run.host_ops);
}

// ---- devices -------------------------------------------------------------------------------
function latencies() {
  const rows = D.compare, models = [...new Set(rows.map(r => r.model))], devices = [...new Set(rows.map(r => r.device))];
  const box = section('Latency', 'Milliseconds for one inference, logarithmic: machines at their stated clock, the others by the clock of this computer.');
  const ok = rows.filter(r => r.latency_ms > 0), W = 1230, bh = 15, gap = 12, left = 250;
  const H = models.length * (devices.length * bh + gap) + 36;
  const s = sv(box, 'svg', { viewBox: `0 0 ${W} ${H}`, id: 'compare' });
  const lo = Math.min(1, ...ok.map(r => r.latency_ms)) / 2, hi = Math.max(1, ...ok.map(r => r.latency_ms)) * 1.5;
  const X = d3.scale.log().domain([lo, hi]).range([left, W - 110]);
  axis(s, X, 'bottom', H - 24, H - 28, v => v + ' ms', d3.range(Math.ceil(Math.log10(lo)), Math.log10(hi)).map(d => +('1e' + d)));
  let n = 0;
  models.forEach((m, i) => {
    const y0 = 8 + i * (devices.length * bh + gap);
    sv(s, 'text', { x: left - 58, y: y0 + devices.length * bh / 2 + 4, 'text-anchor': 'end' }, m.length > 30 ? m.slice(0, 29) + '\u2026' : m);
    devices.forEach((d, k) => {
      const r = ok.find(r => r.model === m && r.device === d);
      if (!r) return;
      sv(s, 'text', { x: left - 6, y: y0 + k * bh + 11, 'text-anchor': 'end' }, d);
      hover(sv(s, 'rect', { x: left, y: y0 + k * bh + 1, width: Math.max(X(r.latency_ms) - left, 1), height: bh - 3, fill: palette[k % palette.length] }), `${m} on ${d}: ${r.latency_ms} ms`);
      sv(s, 'text', { x: X(r.latency_ms) + 5, y: y0 + k * bh + 11 }, r.latency_ms.toPrecision(4) + ' ms');
      n++;
    });
  });
  document.body.dataset.compare = n;
}
function comparison() {
  const rows = D.compare;
  if (plots) latencies();
  sortable(section('Devices'), [['model', r => r.model, null, true], ['device', r => r.device, null, true], ['latency ms', r => r.latency_ms || 0, r => r.latency_ms ? r.latency_ms.toPrecision(4) : ''],
    ['per second', r => r.throughput || 0, r => r.throughput ? r.throughput.toPrecision(4) : ''], ['cycles', r => r.cycles || 0, r => r.cycles ? fmt(r.cycles) : ''],
    ['agreement', r => r.agreement, null, true], ['memory', r => r.memory_bytes || 0, r => r.memory_bytes ? bytes(r.memory_bytes) : ''], ['note', r => r.note || '', null, 'wrap']], rows);
}

summary();
if (D.compare) comparison();
if (D.run) {
  if (plots) roofline();
  layers();
  if (plots && D.ops) timeline();
  if (plots) memory('Activation memory on the chip (XM)', 'xm', D.xm_bytes, 'xm', 'xm_bytes', D.xm_ring < D.xm_bytes ? ' Grey: buffers for tiles of tensors that stream.' : '');
  if (plots) memory('Arena in DRAM', 'arena', D.arena_bytes, 'arena', 'arena_bytes', ' Weights and programs lie beside it, in the image of ' + bytes(D.image_bytes) + '.');
  code();
  host();
}
if (D.run && location.hash) { // report.html#NAME opens with that layer chosen
  const i = D.layers.findIndex(l => l.name === decodeURIComponent(location.hash.slice(1)));
  if (i >= 0) { choose(i); zoomTo(D.layers[i]); }
}

// ---- pictures as files, keys ---------------------------------------------------------------
for (const s of document.querySelectorAll('svg[id]')) s.after(saves(null, () => s, s.id));
document.addEventListener('keydown', e => { // along the layers
  const step = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
  const to = D.layers ? Math.max(0, Math.min(D.layers.length - 1, chosen + step)) : chosen;
  if (step && to >= 0 && to !== chosen) choose(to);
});
document.body.dataset.pictures = [...document.querySelectorAll('svg[id]')].filter(s => !asFile(s).includes('var(')).length;
document.body.dataset.errors = errors.length;
document.body.dataset.ready = 1;
