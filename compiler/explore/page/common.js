// Shared by the pages of machines and of differences: pictures with axes, tables, keys.
const num = v => v === 0 ? '0' : Math.abs(v) >= 1000 ? Math.round(v).toLocaleString('en') : String(+v.toPrecision(4));

function emptied(parent) { parent.replaceChildren(); return parent; }
// A picture with its axes. x: [least, most] or null for none; gives the picture and its two scales.
const W = 1200, H = 520, L = 76, B = 46, T = 14, R = 16;
function picture(parent, x, y, titleX, titleY) {
  const s = sv(emptied(parent), 'svg', { viewBox: `0 0 ${W} ${H}`, id: 'plot' });
  const X = x && d3.scale.linear().domain(x).nice().range([L, W - R]), Y = d3.scale.linear().domain(y).nice().range([H - B, T]);
  if (x) axis(s, X, 'bottom', H - B, H - B - T, num);
  axis(s, Y, 'left', L, W - L - R, num);
  sv(s, 'text', { x: (W + L) / 2, y: H - 8, 'text-anchor': 'middle' }, titleX);
  sv(s, 'text', { x: 14, y: H / 2, 'text-anchor': 'middle', transform: `rotate(-90 14 ${H / 2})` }, titleY);
  return [s, X, Y];
}
// go(i): a row was clicked.
function table(parent, head, rows, go) {
  const t = el(el(parent, 'div', { class: 'scroll' }), 'table'), h = el(el(t, 'thead'), 'tr'), b = el(t, 'tbody');
  head.forEach((x, i) => el(h, 'th', i ? {} : { class: 't' }, x));
  rows.forEach((r, i) => {
    const tr = el(b, 'tr');
    if (go) tr.addEventListener('click', () => go(i));
    r.forEach((x, i) => el(tr, 'td', i ? {} : { class: 't' }, typeof x === 'number' ? num(x) : x));
  });
}
// The arrow keys go through a list: at() is the place now, go(i) the next.
function arrows(n, at, go) {
  document.addEventListener('keydown', e => {
    if (!n() || e.target.tagName === 'SELECT') return;
    if (e.key === 'ArrowRight') go(Math.min(at() + 1, n() - 1));
    if (e.key === 'ArrowLeft') go(Math.max(at() - 1, 0));
  });
}
