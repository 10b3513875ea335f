import { once } from 'node:events';
import { createServer } from 'node:http';
import { json, text } from 'node:stream/consumers';

/**
 * A service for one agent that gives it assignments and accepts no results: they stay in the
 * agent's spool, so that the agent's work up to there can be measured alone. Reads
 * `{ assignments, settings, variables }` as JSON from stdin, writes its port and a line feed.
 */

const PAGE = 2_000;
const HOLD_MS = 4_000;
const LEASE_MS = 60_000;

const { assignments, settings = {}, variables = [] } = JSON.parse(await text(process.stdin));

function pollAnswer({ revision, page }) {
  const first = page === null ? 0 : Number(page);
  const isNews = revision === 0 || page !== null;
  const upsert = isNews ? assignments.slice(first, first + PAGE) : [];
  const next = first + PAGE;
  return {
    revision: 1,
    epoch: 1,
    leaseMs: LEASE_MS,
    serverTime: Date.now(),
    location: { slug: 'bench', proxyUrl: null, variables, settings },
    full: isNews,
    upsert,
    remove: [],
    runs: [],
    nextPage: isNews && next < assignments.length ? String(next) : null,
  };
}

const server = createServer(async (request, response) => {
  const say = (status, body, headers = {}) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));
  if (request.url === '/agent/v1/poll') {
    const asked = await json(request);
    const isNews = asked.revision === 0 || asked.page !== null;
    if (!isNews) await new Promise((resolve) => setTimeout(resolve, HOLD_MS));
    say(200, pollAnswer(asked));
    return;
  }
  request.resume();
  await once(request, 'end');
  if (request.url === '/agent/v1/release') say(200, {});
  else {
    const error = { statusCode: 503, error: 'Service Unavailable', message: 'not now' };
    say(503, { ...error, attributes: {} }, { 'retry-after': '600' });
  }
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.stdout.write(`${server.address().port}\n`);
