// Beside the page: the engine. A message {call, args} is answered by {call, answer, ms, bytes}.
let engine = null;

function json(name, types, args) {
  return JSON.parse(engine.ccall(name, 'string', types, args));
}
const calls = {
  machines: () => json('web_machines', [], []),
  machine: name => json('web_machine', ['string'], [name]),
  run(file, bytes, machine, settings) {
    const at = engine._malloc(bytes.length || 1), report = '/report.html';
    if (!at) return { error: `${file}: no memory for its ${bytes.length} bytes` };
    engine.HEAPU8.set(bytes, at);
    const r = json('web_run', ['number', 'number', 'string', 'string', 'string', 'string'],
      [at, bytes.length, file, machine, settings, report]);
    engine._free(at);
    if (r.cycles) {
      r.report = engine.FS.readFile(report, { encoding: 'utf8' });
      engine.FS.unlink(report);
    }
    return r;
  },
};
async function start(wasm) {
  engine = await heddle({ wasmBinary: wasm });
  return {};
}
onmessage = async e => {
  const { call, args } = e.data, from = performance.now();
  let answer;
  try {
    answer = call === 'start' ? await start(...args) : calls[call](...args);
  } catch (error) { // out of memory, or a fault of ours: this engine is lost
    answer = { error: String(error), lost: true };
  }
  postMessage({ call, answer, ms: performance.now() - from, bytes: engine ? engine.HEAPU8.length : 0 });
};
