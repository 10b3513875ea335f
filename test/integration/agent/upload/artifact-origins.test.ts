import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { uploadFixture } from '../../../support/agent/upload-fixture.ts';
import {
  failing,
  read,
  type Script,
  UploadService,
} from '../../../support/agent/upload-service.ts';

const RESULT = 'a-result';
const UPLOAD = `${RESULT}-response-body`;

function artifact(bytes: Uint8Array, name = 'response-body') {
  return { resultId: RESULT, checkId: 'a-check', name, contentType: 'text/plain', bytes };
}

const taken: Script = async (request, response) => {
  await read(request);
  response.writeHead(200).end();
};

const isPart = ({ path }: { path: string }): boolean => path.includes('/parts/');

/** A service that has agents send parts to a store of another origin than its own. */
async function withStore(headers: Readonly<Record<string, string>>, isAllowed: boolean) {
  const store = await UploadService.start();
  store.always('/', taken);
  const origins = isAllowed ? [store.url.origin] : ['https://other.example'];
  const fixture = await uploadFixture({ artifactOrigins: origins });
  fixture.service.storeUrl = store.url;
  fixture.service.storeHeaders = headers;
  const warnings = () => fixture.records().filter(({ level }) => level === 'warn');
  return { ...fixture, store, warnings };
}

it('sends parts for an origin that is not allowed through the service (trust model SN12)', async () => {
  const { store, service, outbox, put, run, empty, warnings, state } = await withStore({}, false);
  const { origin } = store.url;
  const bytes = randomBytes(2500);
  const [resultId] = await put('one');
  await outbox.add(artifact(bytes));
  void run();
  await empty();
  expect(store.seen).toEqual([]);
  expect(service.taken).toEqual([resultId]);
  expect(service.uploads.get(UPLOAD)?.content?.equals(bytes)).toBe(true);
  expect(service.seen.filter(isPart).map(({ body }) => body.length)).toEqual([1000, 1000, 500]);
  expect(state.uploaded).toBe(2);
  expect(warnings()).toMatchObject([
    {
      code: 'ARTIFACT_ORIGIN_DENIED',
      origin,
      count: 1,
      msg: `the service requires artifacts to be sent to ${origin}, which this agent does not allow, so they go through the service; if that is its object store, set ARTIFACT_ORIGINS=${origin}`,
    },
  ]);
});

it('logs an origin that is not allowed at once, and then once a minute with a count', async () => {
  const { outbox, run, empty, warnings, clock } = await withStore({}, false);
  void run();
  for (const name of ['one', 'two', 'three']) {
    await outbox.add(artifact(randomBytes(100), name));
    await empty();
  }
  expect(warnings()).toHaveLength(1);
  await clock.advance(60_000);
  await outbox.add(artifact(randomBytes(100), 'four'));
  await empty();
  expect(warnings().map(({ count }) => count)).toEqual([1, 3]);
});

it.each([
  'Host',
  'Authorization',
  'Cookie',
  'Proxy-Authorization',
  'Transfer-Encoding',
  'Connection',
  'X-Forwarded-For',
])('sends nothing to a named origin with the header %s (trust model SN12)', async (name) => {
  const headers = { 'x-amz-date': 'now', [name]: 'chosen' };
  const { store, service, outbox, run, empty, warnings } = await withStore(headers, true);
  const bytes = randomBytes(100);
  await outbox.add(artifact(bytes));
  void run();
  await empty();
  expect(store.seen).toEqual([]);
  const [part] = service.seen.filter(isPart);
  expect(Object.values(part?.headers ?? {})).not.toContain('chosen');
  expect(service.uploads.get(UPLOAD)?.content?.equals(bytes)).toBe(true);
  expect(warnings()).toMatchObject([{ code: 'ARTIFACT_HEADER_DENIED' }]);
  expect(String(warnings()[0]?.msg)).toContain(`"${name}"`);
});

it('sends a part to an allowed origin with the headers of object stores', async () => {
  const headers = {
    'Content-Type': 'text/plain',
    'Content-MD5': 'abc=',
    'Content-Length': '999999',
    'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD',
  };
  const { store, service, outbox, run, warnings } = await withStore(headers, true);
  await outbox.add(artifact(randomBytes(100)));
  // The content is in the store, which this service does not know.
  service.always(`/agent/v1/artifacts/${UPLOAD}/complete`, async (request, response) => {
    await read(request);
    response.writeHead(200).end('{"complete":true,"missing":[]}');
  });
  void run();
  await expect.poll(() => store.seen.length).toBe(1);
  expect(store.seen[0]).toMatchObject({
    headers: {
      host: store.url.host,
      'content-type': 'text/plain',
      'content-md5': 'abc=',
      'content-length': '100',
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
    },
  });
  expect(warnings()).toEqual([]);
});

it('gives up an artifact that the service does not take itself, and sends the result', async () => {
  const fixture = await withStore({}, false);
  const { service, outbox, put, run, empty, clock, waitMs, rejected } = fixture;
  const [resultId] = await put('one');
  await outbox.add(artifact(randomBytes(100)));
  service.always(`/agent/v1/artifacts/${UPLOAD}/parts/`, failing(410));
  void run();
  for (let round = 1; round < 5; round += 1) await clock.advance(await waitMs());
  await empty();
  expect(service.taken).toEqual([resultId]);
  expect(rejected).toEqual([['artifact-note', 1]]);
});
