// Runs the artifact stores of dist in a process of its own, for what a test cannot do in its own
// process: to measure memory, and to be killed in the middle of a part.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { systemClock } from '../../dist/runtime/clock.js';
import { openLocalDisk } from '../../dist/service/artifacts/local-disk.js';
import { createS3Store } from '../../dist/service/artifacts/s3.js';

const CHUNK_BYTES = 64 * 1024;
const forever = new AbortController().signal;
const [mode, options, ...rest] = process.argv.slice(2);
const log = {
  debug() {},
  warn(_fields, text) {
    process.stderr.write(`${text}\n`);
  },
};

async function openStore() {
  const { s3, localDisk } = JSON.parse(options);
  const deps = { clock: systemClock, log };
  return s3 === undefined ? openLocalDisk(localDisk, deps) : createS3Store(s3, deps);
}

/** The bytes of a content that exists nowhere, chunk by chunk. */
function* chunksOf(offset, bytes) {
  for (let at = offset; at < offset + bytes; at += CHUNK_BYTES) {
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, offset + bytes - at), 0x5a);
    chunk.writeUInt32BE(at / CHUNK_BYTES, 0);
    yield chunk;
  }
}

function heldBytes() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

let maxHeldBytes = 0;
let samples = 0;
function sample() {
  samples += 1;
  // A collection takes milliseconds, and a file has thousands of chunks.
  if (samples % 32 === 0) maxHeldBytes = Math.max(maxHeldBytes, heldBytes());
}

function* sampled(chunks) {
  for (const chunk of chunks) {
    sample();
    yield chunk;
  }
}

async function roundTrip(store, bytes) {
  const digest = createHash('sha256');
  for (const chunk of chunksOf(0, bytes)) digest.update(chunk);
  const sha256 = digest.digest('hex');
  const description = { accountId: 'acc_1', sha256, bytes, contentType: 'application/zip' };
  const { upload } = await store.begin(description, forever);
  for (const part of upload.missing) {
    const chunks = sampled(chunksOf(part.offset, part.bytes));
    await store.putPart(upload, part.n, Readable.from(chunks, { objectMode: false }), forever);
  }
  const timer = setInterval(sample, 5);
  await store.complete(upload, forever);
  clearInterval(timer);
  const read = createHash('sha256');
  const { stream } = await store.open(description, null, forever);
  for await (const chunk of stream) {
    sample();
    read.update(chunk);
  }
  return read.digest('hex') === sha256;
}

if (mode === 'memory') {
  const store = await openStore();
  // What a first use costs once is no growth with the file.
  await roundTrip(store, 12 * 1024 * 1024);
  const startBytes = heldBytes();
  maxHeldBytes = startBytes;
  const same = await roundTrip(store, Number(rest[0]));
  process.stdout.write(JSON.stringify({ same, growthBytes: maxHeldBytes - startBytes }));
  await store.close();
}

if (mode === 'put') {
  const [upload, n] = rest;
  const store = await openStore();
  await store.putPart(JSON.parse(upload), Number(n), process.stdin, forever);
  process.stdout.write('stored');
}
