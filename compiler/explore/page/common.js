// Shared by the pages of machines and of differences: round ticks, axes, legends, tables, pictures as files.
const num = v => v === 0 ? '0' : Math.abs(v) >= 1000 ? Math.round(v).toLocaleString('en') : String(+v.toPrecision(4));

function emptied(parent) { parent.replaceChildren(); return parent; }
// About five round values between lo and hi.
function ticks(lo, hi) {
  const raw = (hi - lo) / 5 || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= raw), list = [];
  for (let v = Math.ceil(lo / step) * step; v <= hi + step / 1e6; v += step) list.push(v);
  return list;
}
// What each colour means, under a picture.
function legend(parent, entries) {
  const box = el(parent, 'div', { class: 'legend' });
  for (const [colour, text] of entries) { el(box, 'i', { style: 'background:' + colour }); box.append(text); }
}
// A picture with its axes. x: [least, most] or null for none; gives the picture and its two scales.
const W = 1200, H = 520, L = 76, B = 46, T = 14, R = 16;
function picture(parent, x, y, titleX, titleY) {
  const s = sv(emptied(parent), 'svg', { viewBox: `0 0 ${W} ${H}`, id: 'plot', xmlns: SVG });
  const X = v => L + (v - x[0]) / (x[1] - x[0]) * (W - L - R), Y = v => H - B - (v - y[0]) / (y[1] - y[0]) * (H - B - T);
  for (const v of x ? ticks(x[0], x[1]) : []) {
    sv(s, 'line', { class: 'axis', x1: X(v), x2: X(v), y1: T, y2: H - B });
    sv(s, 'text', { x: X(v), y: H - B + 16, 'text-anchor': 'middle' }, num(v));
  }
  for (const v of ticks(y[0], y[1])) {
    sv(s, 'line', { class: 'axis', x1: L, x2: W - R, y1: Y(v), y2: Y(v) });
    sv(s, 'text', { x: L - 6, y: Y(v) + 4, 'text-anchor': 'end' }, num(v));
  }
  sv(s, 'text', { x: (W + L) / 2, y: H - 8, 'text-anchor': 'middle' }, titleX);
  sv(s, 'text', { x: 14, y: H / 2, 'text-anchor': 'middle', transform: `rotate(-90 14 ${H / 2})` }, titleY);
  return [s, X, Y];
}
// A button that saves the picture, with the style that it has here.
function saves(parent, holder, name) {
  el(parent, 'button', { id: 'save' }, 'SVG').addEventListener('click', () => {
    const copy = holder.querySelector('svg').cloneNode(true), style = document.createElementNS(SVG, 'style');
    style.textContent = 'text { font: 12px sans-serif; fill: #333 } .axis { stroke: #ddd }';
    copy.prepend(style);
    document.body.dataset.saved = copy.outerHTML.length;
    el(null, 'a', { download: name, href: 'data:image/svg+xml,' + encodeURIComponent(copy.outerHTML) }).click();
  });
}
function table(parent, head, rows) {
  const t = el(el(parent, 'div', { class: 'scroll' }), 'table'), h = el(el(t, 'thead'), 'tr'), b = el(t, 'tbody');
  head.forEach((x, i) => el(h, 'th', i ? {} : { class: 't' }, x));
  for (const r of rows) { const tr = el(b, 'tr'); r.forEach((x, i) => el(tr, 'td', i ? {} : { class: 't' }, typeof x === 'number' ? num(x) : x)); }
}
// The arrow keys go through a list: at() is the place now, go(i) the next.
function arrows(n, at, go) {
  document.addEventListener('keydown', e => {
    if (!n() || e.target.tagName === 'SELECT') return;
    if (e.key === 'ArrowRight') go(Math.min(at() + 1, n() - 1));
    if (e.key === 'ArrowLeft') go(Math.max(at() - 1, 0));
  });
}
