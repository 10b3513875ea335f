// The server that receives uploads, in a process of its own. It does the same work for the agent as
// for any other sender of the same bytes: it unpacks, parses, hashes and syncs a batch of results
// before it answers; it hashes bytes of an artifact as they come and syncs them every partBytes.
// Its argument is {folder, partBytes} as JSON. Its first line of stdout is {"origin": …}, and each line of
// stdin, {"seen": true}, is answered with what came since the last: {results, bytes, digests}.
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

const { folder, partBytes } = JSON.parse(process.argv[2]);
const results = await open(join(folder, 'results'), 'w');
const artifact = await open(join(folder, 'artifact'), 'w');

let seen = { results: 0, bytes: 0, digests: [] };
/** The artifact that is being uploaded in parts. */
let begun = null;

async function takeResults(request) {
  const json = gunzipSync(await buffer(request));
  const batch = JSON.parse(json);
  createHash('sha256').update(json).digest();
  // Each batch overwrites the last one, so that the disk does not fill.
  await results.write(json, 0, json.length, 0);
  await results.datasync();
  seen.results += batch.results.length;
  seen.bytes += json.length;
  return { accepted: batch.results.map(({ id }) => id), rejected: [] };
}

/** Writes the bytes of the request from this position on, and returns how many there were. */
async function takeBytes(request, hash, from) {
  let at = from;
  let synced = from;
  for await (const chunk of request) {
    hash.update(chunk);
    await artifact.write(chunk, 0, chunk.length, at);
    at += chunk.length;
    if (at - synced < partBytes) continue;
    await artifact.datasync();
    synced = at;
  }
  if (at > synced) await artifact.datasync();
  seen.bytes += at - from;
}

async function begin(request) {
  const { bytes, sha256 } = JSON.parse(await buffer(request));
  begun = { sha256, parts: new Map() };
  const count = Math.ceil(bytes / partBytes);
  const parts = Array.from({ length: count }, (_, index) => ({
    n: index + 1,
    url: `/agent/v1/artifacts/upload-1/parts/${index + 1}`,
    method: 'PUT',
    headers: {},
  }));
  return { uploadId: 'upload-1', partBytes, parts };
}

async function takePart(request, n) {
  const hash = createHash('sha256');
  await takeBytes(request, hash, (n - 1) * partBytes);
  begun.parts.set(n, hash.digest('hex'));
  return null;
}

async function takeWhole(request) {
  const hash = createHash('sha256');
  await takeBytes(request, hash, 0);
  seen.digests.push(hash.digest('hex'));
  return null;
}

function complete() {
  seen.digests.push(
    ...[...begun.parts].sort(([one], [other]) => one - other).map(([, hex]) => hex),
  );
  return { complete: true, missing: [] };
}

function answer(request) {
  const path = request.url;
  const part = /^\/agent\/v1\/artifacts\/upload-1\/parts\/(\d+)$/.exec(path);
  if (path === '/agent/v1/results') return takeResults(request);
  if (path === '/agent/v1/artifacts') return begin(request);
  if (part !== null) return takePart(request, Number(part[1]));
  if (path.endsWith('/complete')) return complete();
  return takeWhole(request);
}

const server = createServer(async (request, response) => {
  try {
    const value = await answer(request);
    response.writeHead(value === null ? 204 : 200, { 'content-type': 'application/json' });
    response.end(value === null ? '' : JSON.stringify(value));
  } catch (error) {
    response.writeHead(500).end(`${error}`);
  }
});
server.listen(0, '127.0.0.1', () => {
  const origin = `http://127.0.0.1:${server.address().port}`;
  process.stdout.write(`${JSON.stringify({ origin })}\n`);
});
for await (const _ of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(seen)}\n`);
  seen = { results: 0, bytes: 0, digests: [] };
}
