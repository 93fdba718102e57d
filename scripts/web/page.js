'use strict';
// The page around the engine. What it did is in the body's data attributes, for a test to see.
const $ = id => document.getElementById(id);
const text = id => $(id).textContent;
const seen = document.body.dataset;
let worker, defaults = [], network = null, waiting = new Map();

function el(parent, tag, attrs = {}, content) {
  const e = document.createElement(tag);
  for (const k in attrs) e.setAttribute(k, attrs[k]);
  if (content !== undefined) e.textContent = content;
  parent.append(e);
  return e;
}
function say(what, bad) {
  $('status').textContent = what;
  $('status').className = bad ? 'bad' : '';
  seen.error = bad ? what : '';
}
// One call of a kind at a time.
function ask(call, ...args) {
  return new Promise(done => {
    waiting.set(call, done);
    worker.postMessage({ call, args });
  });
}
async function start() {
  const code = URL.createObjectURL(new Blob([text('engine'), text('worker')], { type: 'text/javascript' }));
  worker = new Worker(code);
  worker.onmessage = e => waiting.get(e.data.call)(e.data);
  worker.onerror = e => say('The engine did not start: ' + e.message, true);
  const wasm = Uint8Array.from(atob(text('wasm')), c => c.charCodeAt(0));
  const { answer } = await ask('start', wasm);
  if (answer.error) throw new Error(answer.error);
}
async function showMachine(name) {
  const { answer } = await ask('machine', name);
  if (answer.error) return say(answer.error, true);
  defaults = answer;
  $('machine').replaceChildren();
  for (const p of answer) {
    const label = el($('machine'), 'label', { title: `${p.doc} (${p.min} to ${p.max})` }, p.name);
    const input = el(label, 'input', { type: 'number', value: p.value, min: p.min, max: p.max, id: 'set-' + p.name });
    input.addEventListener('input', () => { label.className = +input.value === p.value ? '' : 'changed'; });
  }
}
const settings = () => defaults.filter(p => +$('set-' + p.name).value !== p.value)
  .map(p => `${p.name}=${$('set-' + p.name).value}`).join('\n');

function card(parent, title, value) {
  const c = el(parent, 'div', { class: 'card' });
  el(c, 'b', {}, value);
  el(c, 'span', {}, title);
}
function show(r, ms, bytes) {
  const out = $('result');
  out.replaceChildren();
  const cards = el(out, 'div', { class: 'cards' });
  card(cards, 'cycles', r.cycles ? r.cycles.toLocaleString('en') : 'none');
  card(cards, 'layers on the machine', r.layers);
  card(cards, 'operations on the host', r.host.length);
  card(cards, 'seconds from file to cycles', (ms / 1000).toFixed(2));
  card(cards, 'MiB of memory', (bytes / (1 << 20)).toFixed(0));
  if (r.warnings) el(out, 'p', { class: 'note' }, r.warnings);
  if (r.host.length) {
    const t = el(el(el(out, 'details', r.report ? {} : { open: '' }), 'div', { class: 'scroll' }), 'table');
    el(t.closest('details'), 'summary', {}, 'What stays on the host, and why');
    for (const h of r.host) {
      const row = el(t, 'tr');
      el(row, 'td', { class: 't' }, h.node);
      el(row, 'td', { class: 't' }, h.op);
      el(row, 'td', { class: 't wrap' }, h.reason);
    }
  }
  if (!r.report) return;
  const page = el(out, 'iframe', { sandbox: 'allow-scripts', title: 'report' });
  page.srcdoc = r.report;
}
async function run() {
  if (!network) return;
  $('run').disabled = true;
  seen.cycles = '';
  say(`${network.name}: compiling and running ...`);
  const { answer, ms, bytes } = await ask('run', network.name, network.bytes, $('name').value, settings());
  if (answer.error) {
    say(answer.error, true);
    if (answer.lost) await restart();
  } else {
    say(`${network.name} on ${$('name').value}`);
    show(answer, ms, bytes);
    Object.assign(seen, { cycles: answer.cycles, ms: Math.round(ms), bytes, layers: answer.layers });
  }
  $('run').disabled = false;
  seen.runs = +(seen.runs || 0) + 1;
}
async function restart() {
  worker.terminate();
  await start();
}
async function open(file) {
  network = { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
  await run();
}

$('drop').addEventListener('click', () => $('file').click());
$('drop').addEventListener('keydown', e => { if (e.key === 'Enter') $('file').click(); });
$('file').addEventListener('change', e => {
  if (e.target.files[0]) open(e.target.files[0]);
  e.target.value = ''; // the same file may be chosen again
});
for (const kind of ['dragover', 'dragleave', 'drop'])
  $('drop').addEventListener(kind, e => {
    e.preventDefault();
    $('drop').className = kind === 'dragover' ? 'over' : '';
    if (kind === 'drop' && e.dataTransfer.files[0]) open(e.dataTransfer.files[0]);
  });
$('run').addEventListener('click', run);
$('name').addEventListener('change', () => showMachine($('name').value));

start().then(async () => {
  const { answer } = await ask('machines');
  for (const name of answer) el($('name'), 'option', {}, name);
  $('name').value = 'base';
  await showMachine('base');
  say('Ready.');
  seen.ready = 1;
}).catch(e => say('The engine did not start: ' + e.message, true));
