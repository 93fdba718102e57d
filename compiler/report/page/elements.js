'use strict';
// What all pages begin with: their data, errors where a test can count them, elements, text beside the pointer.
const errors = [];
window.addEventListener('error', e => { errors.push(e.message); document.body.dataset.errors = errors.length; });
const D = JSON.parse(document.getElementById('data').textContent);
const SVG = 'http://www.w3.org/2000/svg';

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
function showTip(ev, text) {
  tip.textContent = text;
  tip.style.display = 'block';
  tip.style.left = Math.min(ev.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
  tip.style.top = Math.min(ev.clientY + 14, innerHeight - tip.offsetHeight - 8) + 'px';
}
// Scales, axes and round ticks are D3's. A page that was made without it has tables.
const plots = typeof d3 !== 'undefined';
// An axis and its lines across the picture. at: where it stands; across: how long its lines are.
function axis(svg, scale, side, at, across, format, values) {
  const a = d3.svg.axis().scale(scale).orient(side).tickSize(-across, 0).tickPadding(6).tickFormat(format);
  if (values) a.tickValues(values);
  d3.select(svg).append('g').attr('class', 'axis').attr('transform', side === 'bottom' ? `translate(0,${at})` : `translate(${at},0)`).call(a);
}
// What each colour means, under a picture.
function legend(parent, entries) {
  const box = el(parent, 'div', { class: 'legend' });
  for (const [colour, text] of entries) { el(box, 'i', { style: 'background:' + colour }); box.append(text); }
}
// A colour of the style sheet, by day or by night.
const shade = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// A picture as it stands alone: colours by value, the style of its text and axes in it.
function asFile(svg) {
  const copy = svg.cloneNode(true), style = document.createElementNS(SVG, 'style');
  style.textContent = 'text { font: 11px sans-serif; fill: var(--ink) } .axis path { display: none } .axis line { stroke: var(--line) } ' +
    '.roof { stroke: var(--ink); fill: none }';
  copy.prepend(style);
  copy.setAttribute('xmlns', SVG);
  return copy.outerHTML.replace(/var\((--[\w-]+)\)/g, (_, name) => shade(name));
}
// A button that saves a picture. svg(): the picture now.
function saves(parent, svg, name) {
  const b = el(parent, 'button', { class: 'save' }, 'SVG');
  b.addEventListener('click', () => {
    const text = asFile(svg());
    document.body.dataset.saved = text.length;
    el(null, 'a', { download: name + '.svg', href: 'data:image/svg+xml,' + encodeURIComponent(text) }).click();
  });
  return b;
}
// The text while the pointer is over the element.
function hover(e, text) {
  e.addEventListener('mousemove', ev => showTip(ev, typeof text === 'function' ? text(ev) : text));
  e.addEventListener('mouseleave', () => { tip.style.display = 'none'; });
}
