'use strict';
// Draws the machines of heddle explore from the JSON in #data: points of two quantities, the front as a line,
// parameters and layers of the point that was clicked. No network, no library.
const errors = [];
window.addEventListener('error', e => { errors.push(e.message); document.body.dataset.errors = errors.length; });
const D = JSON.parse(document.getElementById('data').textContent);
const SVG = 'http://www.w3.org/2000/svg';
const num = v => v === 0 ? '0' : Math.abs(v) >= 1000 ? Math.round(v).toLocaleString('en') : String(+v.toPrecision(4));

function el(parent, tag, attrs = {}, text) {
  const e = document.createElement(tag);
  for (const k in attrs) e.setAttribute(k, attrs[k]);
  if (text !== undefined) e.textContent = text;
  if (parent) parent.append(e);
  return e;
}
function sv(parent, tag, attrs = {}, text) {
  const e = document.createElementNS(SVG, tag);
  for (const k in attrs) e.setAttribute(k, attrs[k]);
  if (text !== undefined) e.textContent = text;
  parent.append(e);
  return e;
}
const tip = el(document.body, 'div', { id: 'tip' });
const quantities = [['ms', 'time of a run, ms'], ['fps', 'runs a second'], ['lut', 'LUT'], ['dsp', 'DSP'],
  ['bram', 'BRAM of 36 Kbit'], ['uram', 'URAM'], ['joule', 'energy of a run, J (estimate)'], ['axi_bits', 'bits of the port'],
  ['k', 'k'], ['n', 'n'], ['xm_bytes', 'bytes of XM'], ['wm_bytes', 'bytes of WM']];
const points = D.points.filter(p => p.ms > 0);
let chosen = -1, axisX = 'lut', axisY = 'fps';

el(document.body, 'h1', {}, D.title);
el(document.body, 'p', { class: 'note' }, D.subtitle);
const bar = el(document.body, 'p', { class: 'note' }, 'across ');
function picker(value, set) {
  const s = el(bar, 'select');
  for (const [k, t] of quantities) { const o = el(s, 'option', { value: k }, t); o.selected = k === value; }
  s.addEventListener('change', () => { set(s.value); draw(); });
}
picker(axisX, v => { axisX = v; });
bar.append(' up ');
picker(axisY, v => { axisY = v; });
bar.append('  blue: on the front; grey: beaten; red: chosen. Click a point, or move with the arrow keys. ');
const save = el(bar, 'button', {}, 'SVG');
const plot = el(document.body, 'div');
const about = el(document.body, 'div', { id: 'about' });

// About five round values between lo and hi.
function ticks(lo, hi) {
  const raw = (hi - lo) / 5 || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= raw), list = [];
  for (let v = Math.ceil(lo / step) * step; v <= hi + step / 1e6; v += step) list.push(v);
  return list;
}
const text = p => D.params.map(k => k + '=' + p[k]).join(' ') + '\n' + num(p.ms) + ' ms, ' + num(p.fps) + ' a second, ' +
  num(p.lut) + ' LUT, ' + num(p.dsp) + ' DSP, ' + num(p.bram) + ' BRAM, ' + num(p.uram) + ' URAM';

function draw() {
  const W = 1200, H = 520, L = 76, B = 46, T = 14, R = 16;
  const s = sv(emptied(plot), 'svg', { viewBox: `0 0 ${W} ${H}`, id: 'plot', xmlns: SVG });
  const range = k => { const v = points.map(p => p[k]); return [Math.min(0, ...v), Math.max(...v) * 1.05 || 1]; };
  const [x0, x1] = range(axisX), [y0, y1] = range(axisY);
  const X = v => L + (v - x0) / (x1 - x0) * (W - L - R), Y = v => H - B - (v - y0) / (y1 - y0) * (H - B - T);
  for (const v of ticks(x0, x1)) {
    sv(s, 'line', { class: 'axis', x1: X(v), x2: X(v), y1: T, y2: H - B });
    sv(s, 'text', { x: X(v), y: H - B + 16, 'text-anchor': 'middle' }, num(v));
  }
  for (const v of ticks(y0, y1)) {
    sv(s, 'line', { class: 'axis', x1: L, x2: W - R, y1: Y(v), y2: Y(v) });
    sv(s, 'text', { x: L - 6, y: Y(v) + 4, 'text-anchor': 'end' }, num(v));
  }
  sv(s, 'text', { x: (W + L) / 2, y: H - 8, 'text-anchor': 'middle' }, quantities.find(q => q[0] === axisX)[1]);
  sv(s, 'text', { x: 14, y: H / 2, 'text-anchor': 'middle', transform: `rotate(-90 14 ${H / 2})` }, quantities.find(q => q[0] === axisY)[1]);
  const front = points.filter(p => p.front).sort((a, b) => a[axisX] - b[axisX]);
  sv(s, 'polyline', { points: front.map(p => X(p[axisX]) + ',' + Y(p[axisY])).join(' '), fill: 'none', stroke: '#3d7bd9', 'stroke-opacity': .35 });
  points.forEach((p, i) => {
    const c = sv(s, 'circle', { cx: X(p[axisX]), cy: Y(p[axisY]), r: i === chosen ? 7 : p.front ? 5 : 3, class: 'point',
      fill: i === chosen ? '#d64545' : p.front ? '#3d7bd9' : '#b6bdc9', 'fill-opacity': p.front || i === chosen ? 1 : .6 });
    c.addEventListener('click', () => choose(i));
    c.addEventListener('mousemove', ev => {
      tip.textContent = text(p);
      tip.style.display = 'block';
      tip.style.left = Math.min(ev.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
      tip.style.top = ev.clientY + 14 + 'px';
    });
    c.addEventListener('mouseleave', () => { tip.style.display = 'none'; });
  });
  document.body.dataset.points = points.length;
}
function emptied(parent) { parent.replaceChildren(); return parent; }

function table(parent, head, rows) {
  const t = el(el(parent, 'div', { class: 'scroll' }), 'table'), h = el(el(t, 'thead'), 'tr'), b = el(t, 'tbody');
  head.forEach((x, i) => el(h, 'th', i ? {} : { class: 't' }, x));
  for (const r of rows) { const tr = el(b, 'tr'); r.forEach((x, i) => el(tr, 'td', i ? {} : { class: 't' }, typeof x === 'number' ? num(x) : x)); }
}
function choose(i) {
  chosen = i;
  draw();
  about.replaceChildren();
  const p = points[i];
  el(about, 'h2', {}, p.machine + (p.front ? ', on the front' : ''));
  if (p.why_not) el(about, 'p', { class: 'note' }, 'It is no answer: ' + p.why_not);
  table(about, ['parameter', 'value'], D.params.map(k => [k, p[k]]));
  table(about, ['network', 'cycles by plan', 'confirmed', 'host ms', 'DRAM bytes'],
    p.networks.map(n => [n.network, n.cycles, n.confirmed_cycles || '', n.host_ms, n.dram_bytes]));
  for (const n of p.networks) {
    if (!n.layers) continue;
    el(about, 'h2', {}, n.network + ', layer by layer');
    table(about, ['layer', 'operation', 'cycles', 'roofline', 'efficiency', 'bound'],
      n.layers.map(l => [l[0], l[1], l[2], l[3], l[2] ? (100 * l[3] / l[2]).toFixed(1) + ' %' : '', l[4]]));
  }
  document.body.dataset.layers = about.querySelectorAll('tbody tr').length;
}
document.addEventListener('keydown', e => {
  const front = points.map((p, i) => i).filter(i => points[i].front).sort((a, b) => points[a][axisX] - points[b][axisX]);
  const at = front.indexOf(chosen);
  if (e.key === 'ArrowRight' && front.length) choose(front[Math.min(at + 1, front.length - 1)]);
  if (e.key === 'ArrowLeft' && front.length) choose(front[Math.max(at - 1, 0)]);
});
save.addEventListener('click', () => {
  const a = el(null, 'a', { download: 'front.svg', href: 'data:image/svg+xml,' + encodeURIComponent(plot.innerHTML) });
  a.click();
});
draw();
