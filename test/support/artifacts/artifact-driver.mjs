// Runs the artifact stores of dist in its own process, so that a test can measure its memory or
// kill it during a part.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { systemClock } from '../../../dist/runtime/clock.js';
import { openLocalDisk } from '../../../dist/service/object-store/local-disk/local-disk.js';
import { createS3Store } from '../../../dist/service/object-store/s3/s3.js';

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

const PATTERN_BYTES = 4096;
/** Constant, so that the test measures the store's memory and not that of its test data. */
const PATTERN = Buffer.alloc(CHUNK_BYTES + PATTERN_BYTES);
for (let at = 0; at < PATTERN.length; at += 1) PATTERN[at] = (at * at + (at >> 7)) & 0xff;

/** The bytes of a generated content, chunk by chunk; `offset` is a multiple of a chunk. */
function* chunksOf(offset, bytes) {
  for (let at = offset; at < offset + bytes; at += CHUNK_BYTES) {
    const from = (at / CHUNK_BYTES) % PATTERN_BYTES;
    yield PATTERN.subarray(from, from + Math.min(CHUNK_BYTES, offset + bytes - at));
  }
}

/** The second collection waits until the first one's buffers are freed. */
function measure() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heldBytes: heapUsed + external, rssBytes: rss };
}

const most = { heldBytes: 0, rssBytes: 0 };
function sample() {
  const now = measure();
  most.heldBytes = Math.max(most.heldBytes, now.heldBytes);
  most.rssBytes = Math.max(most.rssBytes, now.rssBytes);
}

let chunksSeen = 0;
function sampleSome() {
  chunksSeen += 1;
  // A collection takes milliseconds, and a file has thousands of chunks.
  if (chunksSeen % 64 === 0) sample();
}

function* sampled(chunks) {
  for (const chunk of chunks) {
    sampleSome();
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
  // By iterations of the event loop instead of time: each reads about one chunk.
  let turn = setImmediate(function eachTurn() {
    sampleSome();
    turn = setImmediate(eachTurn);
  });
  await store.complete(upload, forever);
  clearImmediate(turn);
  const read = createHash('sha256');
  const { stream } = await store.open(description, null, forever);
  stream.on('data', (chunk) => {
    sampleSome();
    read.update(chunk);
  });
  await finished(stream);
  return read.digest('hex') === sha256;
}

if (mode === 'memory') {
  const store = await openStore();
  // Exclude the one-time cost of a first use.
  await roundTrip(store, 12 * 1024 * 1024);
  const start = measure();
  Object.assign(most, start);
  const same = await roundTrip(store, Number(rest[0]));
  const growthBytes = most.heldBytes - start.heldBytes;
  const rssGrowthBytes = most.rssBytes - start.rssBytes;
  process.stdout.write(JSON.stringify({ same, growthBytes, rssGrowthBytes }));
  await store.close();
}

if (mode === 'put') {
  const [upload, n] = rest;
  const store = await openStore();
  await store.putPart(JSON.parse(upload), Number(n), process.stdin, forever);
  process.stdout.write('stored');
}
