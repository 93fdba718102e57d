// Draws two runs beside each other from the JSON in #data: two bars for each layer; what moved in the one that was clicked.
const layers = D.layers, facts = [['cycles', 'cycles'], ['estimated_cycles', 'cycles by the plan'], ['roofline_cycles', 'roofline'],
  ['bound', 'bound'], ['macs', 'MACs'], ['dram_bytes', 'DRAM bytes']];
const colours = { a: '#b6bdc9', b: '#3d7bd9', chosen: '#d64545' };
let order = 'moved', chosen = -1;

el(document.body, 'h1', {}, D.title);
el(document.body, 'p', { class: 'note' }, D.subtitle);
if (!layers.length) table(document.body, ['what', D.a, D.b, 'by'], D.rows.map(r => [r.what, r.a, r.b, r.a ? (100 * (r.b / r.a - 1)).toFixed(1) + ' %' : '']));
const bar = el(document.body, 'p', { class: 'note' }), plot = el(document.body, 'div');
const moved = l => Math.abs((l.B ? l.B.cycles : 0) - (l.A ? l.A.cycles : 0));
const shown = () => order === 'moved' ? [...layers].sort((x, y) => moved(y) - moved(x)) : layers;
const about = document.createElement('div');

function draw() {
  if (!plots) return;
  const list = shown(), most = Math.max(1, ...list.flatMap(l => [l.A ? l.A.cycles : 0, l.B ? l.B.cycles : 0]));
  const [s, , Y] = picture(plot, null, [0, most * 1.05], 'layers, ' + (order === 'moved' ? 'those that moved most first' : 'as they run'), 'cycles');
  const wide = (W - L - R) / list.length;
  list.forEach((l, i) => ['A', 'B'].forEach((side, k) => {
    if (!l[side]) return;
    const y = Y(l[side].cycles);
    const r = sv(s, 'rect', { class: 'layer', x: L + wide * (i + .1 + .4 * k), y, width: Math.max(.5, wide * .4), height: H - B - y,
      fill: i === chosen && k ? colours.chosen : colours[side.toLowerCase()] });
    r.addEventListener('click', () => choose(i));
    hover(r, l.name + '\n' + (l.A ? num(l.A.cycles) : 'none') + ' cycles, then ' + (l.B ? num(l.B.cycles) : 'none') + '\n' + l.why);
  }));
  document.body.dataset.bars = plot.querySelectorAll('rect.layer').length;
}
function choose(i) {
  chosen = i;
  draw();
  const l = shown()[i];
  el(emptied(about), 'h2', {}, l.name);
  el(about, 'p', { class: 'note' }, l.why);
  table(about, ['fact', D.a, D.b], facts.map(([k, t]) => [t, l.A ? l.A[k] : '', l.B ? l.B[k] : '']));
  document.body.dataset.facts = about.querySelectorAll('tbody tr').length;
}
if (layers.length) {
  const pick = el(bar, 'select');
  for (const [k, t] of [['moved', 'by how far they moved'], ['runs', 'as they run']]) el(pick, 'option', { value: k }, t);
  pick.addEventListener('change', () => { order = pick.value; chosen = -1; draw(); });
  bar.append(' Click a layer, or go along with the arrow keys. ');
  if (plots) saves(bar, () => plot.querySelector('svg'), 'diff');
  if (plots) legend(document.body, [[colours.a, D.a], [colours.b, D.b], [colours.chosen, D.b + ', chosen']]);
  document.body.append(about);
  const listed = shown().filter(l => l.why);
  table(document.body, ['layer', D.a, D.b, 'by', 'along with'], listed.map(l => [l.name, l.A ? l.A.cycles : '', l.B ? l.B.cycles : '',
    (l.B ? l.B.cycles : 0) - (l.A ? l.A.cycles : 0), l.why]), i => choose(shown().indexOf(listed[i])));
  arrows(() => layers.length, () => chosen, choose);
  draw();
}
document.body.dataset.rows = document.querySelectorAll('tbody tr').length;
