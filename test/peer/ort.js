// Runs every case below a folder on ONNX Runtime and writes output_i.pb beside its inputs. Cases that it refuses are
// removed: there is nothing to compare them with.
//   node ort.js PATH/TO/node_modules/onnxruntime-node FOLDER
const fs = require('fs'), path = require('path'), ort = require(path.resolve(process.argv[2]));

const types = {
    1: ['float32', Float32Array], 2: ['uint8', Uint8Array], 3: ['int8', Int8Array], 4: ['uint16', Uint16Array],
    5: ['int16', Int16Array], 6: ['int32', Int32Array], 7: ['int64', BigInt64Array], 9: ['bool', Uint8Array],
    10: ['float16', Uint16Array], 11: ['float64', Float64Array], 12: ['uint32', Uint32Array],
    13: ['uint64', BigUint64Array],
};
const codes = Object.fromEntries(Object.entries(types).map(([code, [name]]) => [name, Number(code)]));

function varint(n) {
    const out = [];
    for (n = BigInt(n); n > 127n; n >>= 7n) out.push(Number(n & 127n) | 128);
    return Buffer.from([...out, Number(n)]);
}

function readTensor(b) {
    const t = {dims: [], raw: Buffer.alloc(0)};
    let at = 0;
    const next = () => {
        let v = 0n;
        for (let shift = 0n;; shift += 7n) {
            v |= BigInt(b[at] & 127) << shift;
            if (b[at++] < 128) return Number(v);
        }
    };
    while (at < b.length) {
        const key = next(), number = key >> 3;
        if ((key & 7) === 0) {
            const v = next();
            if (number === 1) t.dims.push(v);
            if (number === 2) t.code = v;
        } else {
            const n = next(), v = b.subarray(at, at + n);
            at += n;
            if (number === 8) t.name = v.toString();
            if (number === 9) t.raw = v;
        }
    }
    return t;
}

function writeTensor(name, x) {
    const raw = Buffer.from(x.data.buffer, x.data.byteOffset, x.data.byteLength), text = Buffer.from(name);
    const dims = x.dims.map((d) => Buffer.concat([varint(1 << 3), varint(d)]));
    return Buffer.concat([...dims, varint(2 << 3), varint(codes[x.type]), varint(8 << 3 | 2), varint(text.length), text,
        varint(9 << 3 | 2), varint(raw.length), raw]);
}

async function run(folder) {
    const data = path.join(folder, 'test_data_set_0'), feeds = {};
    const options = {logSeverityLevel: 4, graphOptimizationLevel: 'disabled'};
    const session = await ort.InferenceSession.create(path.join(folder, 'model.onnx'), options);
    for (const file of fs.readdirSync(data)) {
        const t = readTensor(fs.readFileSync(path.join(data, file))), [name, List] = types[t.code];
        feeds[t.name] = new ort.Tensor(name, new List(new Uint8Array(t.raw).buffer), t.dims);
    }
    const results = await session.run(feeds);
    session.outputNames.forEach(
        (name, i) => fs.writeFileSync(path.join(data, `output_${i}.pb`), writeTensor(name, results[name])));
    await session.release();
}

(async () => {
    let ran = 0, refused = 0;
    for (const name of fs.readdirSync(process.argv[3]).sort()) {
        const folder = path.join(process.argv[3], name);
        try {
            await run(folder);
            ran++;
        } catch (e) {
            fs.rmSync(folder, {recursive: true});
            refused++;
        }
    }
    console.log(`  ONNX Runtime ran ${ran} cases and refused ${refused}`);
})();
