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
// The text while the pointer is over the element.
function hover(e, text) {
  e.addEventListener('mousemove', ev => showTip(ev, typeof text === 'function' ? text(ev) : text));
  e.addEventListener('mouseleave', () => { tip.style.display = 'none'; });
}
