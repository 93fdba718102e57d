// Draws the machines of heddle explore from the JSON in #data: points of two quantities, the front as a line,
// parameters and layers of the point that was clicked; a table of the front.
const quantities = [['ms', 'time of a run, ms'], ['fps', 'runs a second'], ['lut', 'LUT'], ['dsp', 'DSP'],
  ['bram', 'BRAM of 36 Kbit'], ['uram', 'URAM'], ['joule', 'energy of a run, J (estimate)'], ['axi_bits', 'bits of the port'],
  ['k', 'k'], ['n', 'n'], ['xm_bytes', 'bytes of XM'], ['wm_bytes', 'bytes of WM']];
const points = D.points.filter(p => p.ms > 0);
let chosen = -1, axisX = 'lut', axisY = 'fps';

el(document.body, 'h1', {}, D.title);
el(document.body, 'p', { class: 'note' }, D.subtitle);
const bar = el(document.body, 'p', { class: 'note' }), plot = el(document.body, 'div');
const colours = { front: 'var(--busy)', beaten: '#8b93a1', chosen: 'var(--used)' };
function picker(value, set) {
  const s = el(bar, 'select');
  for (const [k, t] of quantities) { const o = el(s, 'option', { value: k }, t); o.selected = k === value; }
  s.addEventListener('change', () => { set(s.value); draw(); });
}
if (plots) {
  bar.append('across ');
  picker(axisX, v => { axisX = v; });
  bar.append(' up ');
  picker(axisY, v => { axisY = v; });
  saves(bar, () => plot.querySelector('svg'), 'front');
  legend(document.body, [[colours.front, 'on the front'], [colours.beaten, 'beaten, or over a limit'], [colours.chosen, 'chosen']]);
}
bar.append(' Click a machine, or go along the front with the arrow keys. ');
const about = el(document.body, 'div', { id: 'about' });
const text = p => D.params.map(k => k + '=' + p[k]).join(' ') + '\n' + num(p.ms) + ' ms, ' + num(p.fps) + ' a second, ' +
  num(p.lut) + ' LUT, ' + num(p.dsp) + ' DSP, ' + num(p.bram) + ' BRAM, ' + num(p.uram) + ' URAM';

function draw() {
  if (!plots) return;
  const title = k => quantities.find(q => q[0] === k)[1];
  const range = k => { const v = points.map(p => p[k]); return [Math.min(0, ...v), Math.max(...v) * 1.05 || 1]; };
  const [s, X, Y] = picture(plot, range(axisX), range(axisY), title(axisX), title(axisY));
  const front = points.filter(p => p.front).sort((a, b) => a[axisX] - b[axisX]);
  sv(s, 'polyline', { points: front.map(p => X(p[axisX]) + ',' + Y(p[axisY])).join(' '), fill: 'none', stroke: colours.front, 'stroke-opacity': .35 });
  points.forEach((p, i) => {
    const c = sv(s, 'circle', { cx: X(p[axisX]), cy: Y(p[axisY]), r: i === chosen ? 7 : p.front ? 5 : 3, class: 'point',
      fill: colours[i === chosen ? 'chosen' : p.front ? 'front' : 'beaten'], 'fill-opacity': p.front || i === chosen ? 1 : .6 });
    c.addEventListener('click', () => choose(i));
    hover(c, text(p));
  });
  document.body.dataset.points = points.length;
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
const along = () => points.map((p, i) => i).filter(i => points[i].front).sort((a, b) => points[a][axisX] - points[b][axisX]);
arrows(() => along().length, () => along().indexOf(chosen), i => choose(along()[i]));
draw();
const front = along();
table(document.body, ['on the front', 'ms', 'a second', 'LUT', 'DSP', 'BRAM', 'URAM', 'J'],
  front.map(i => points[i]).map(p => [p.machine, p.ms, p.fps, p.lut, p.dsp, p.bram, p.uram, p.joule]), i => choose(front[i]));
document.body.dataset.front = front.length;
