// The service of the storm, in the agent's own network: it sends the assignments, which it reads as
// one line of JSON, accepts all results and artifacts, and records what the test evaluates. It does
// so little that the agent has the machine for itself. Prints its port; for each further line of
// input it prints its records. Ends with its input.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

const HOLD_MS = 4_000;
const LEASE_MS = 60_000;
const BUSY = /^No trace and no capture: those of \d+ other runs were under way$/;

const taken = { results: [], missed: [], artifactBytes: [], reports: 0 };
const known = new Set();
const uploads = new Map();
let assignments = [];

function pollAnswer({ revision }) {
  const isNews = revision === 0;
  return {
    revision: 1,
    epoch: 1,
    leaseMs: LEASE_MS,
    serverTime: Date.now(),
    location: {
      slug: 'storm',
      proxyUrl: null,
      variables: [],
      settings: { clientCertificates: [], pauses: [] },
    },
    full: isNews,
    upsert: isNews ? assignments : [],
    remove: [],
    runs: [],
    nextPage: null,
  };
}

function resultOf(result) {
  const detail = result.apiCheckResult ?? result.tcpCheckResult;
  return {
    checkId: result.checkId,
    slotMs: result.checkRunId,
    lateMs: Date.parse(result.startedAt) - result.checkRunId,
    isFinal: result.resultType === 'FINAL',
    failed: result.hasFailures || result.hasErrors,
    retriesMade: result.attempts,
    code: detail.requestErrorCode,
    isSlow: result.overMaxResponseTime,
    wasBusy: detail.jobLog.some(({ msg }) => BUSY.test(msg)),
    traced: detail.traceroute !== null,
    captured: detail.pcapDataUrl !== null,
  };
}

function take(body) {
  const { results, missed } = JSON.parse(gunzipSync(body));
  for (const result of results) if (!known.has(result.id)) taken.results.push(resultOf(result));
  for (const record of missed) if (!known.has(record.id)) taken.missed.push(record);
  const accepted = [...results, ...missed].map(({ id }) => id);
  for (const id of accepted) known.add(id);
  return { accepted, rejected: [] };
}

function begin(body) {
  const { resultId, name, bytes } = JSON.parse(body);
  const uploadId = `${resultId}-${name}`;
  const url = `/agent/v1/artifacts/${uploadId}/parts/1`;
  uploads.set(uploadId, 0);
  return { uploadId, partBytes: bytes, parts: [{ n: 1, url, method: 'PUT', headers: {} }] };
}

const ROUTES = [
  [/\/results$/, take],
  [/\/artifacts$/, begin],
  [
    /\/artifacts\/([^/]+)\/parts\/1$/,
    (body, uploadId) => {
      uploads.set(uploadId, body.length);
      return {};
    },
  ],
  [
    /\/artifacts\/([^/]+)\/complete$/,
    (_body, uploadId) => {
      taken.artifactBytes.push(uploads.get(uploadId));
      uploads.delete(uploadId);
      return { complete: true, missing: [] };
    },
  ],
  [
    /\/errors$/,
    (body) => {
      const { reports } = JSON.parse(body);
      taken.reports += reports.length;
      return { stored: reports.length };
    },
  ],
  [/\/release$/, () => ({ released: true })],
];

const server = createServer(async (request, response) => {
  const body = await buffer(request);
  const say = (status, value) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  if (request.url === '/agent/v1/poll') {
    const asked = JSON.parse(body);
    if (asked.revision !== 0) await new Promise((resolve) => setTimeout(resolve, HOLD_MS));
    say(200, pollAnswer(asked));
    return;
  }
  for (const [pattern, answer] of ROUTES) {
    const match = pattern.exec(request.url);
    if (match === null) continue;
    say(200, answer(body, match[1]));
    return;
  }
  say(404, { statusCode: 404, error: 'Not Found', message: request.url, attributes: {} });
});

const lines = createInterface({ input: process.stdin });
lines.once('line', (line) => {
  assignments = JSON.parse(line);
  lines.on('line', () => process.stdout.write(`${JSON.stringify(taken)}\n`));
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
});
lines.on('close', () => process.exit());
