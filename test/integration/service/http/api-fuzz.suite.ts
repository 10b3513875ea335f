import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertAccount } from '../../../../src/service/accounts/sql.ts';
import { giveEverySlot } from '../../../support/agent/assigned-slots.ts';
import type { DatabaseKind } from '../../../support/database/databases.ts';
import { AGENT_HEADERS } from '../../../support/hostile/full-account.ts';
import { openSender, type Sender } from '../../../support/hostile/request-sender.ts';
import { type OpenApiDocument, operationsOf } from '../../../support/openapi/document.ts';
import type { HintParts } from '../../../support/openapi/field-hints.ts';
import { fileResults, workAsFuzzAgent } from '../../../support/openapi/fuzz-agent.ts';
import { KnownIds } from '../../../support/openapi/known-ids.ts';
import { type MadeRequest, RequestMaker } from '../../../support/openapi/request-maker.ts';
import { ResponseJudge } from '../../../support/openapi/response-judge.ts';
import { createSelfSigned } from '../../../support/servers/certificates.ts';
import { useRunningService } from '../../../support/service/service-fixture.ts';

export interface FuzzOptions {
  /** The least number of requests. More are made while too many operations never succeeded. */
  readonly requests: number;
  /** The number of operations that may never succeed. */
  readonly maxNever: number;
}

/** The most requests, as a multiple: an operation without a success by then is not bad luck. */
const MOST_TIMES = 4;

const MAX_TOLD = 20;
/** Some routes allow 60 requests a minute to a key. */
const REQUESTS_A_KEY = 50;
const REQUESTS_A_WORK = 20;
/** Time between requests, so that none is too soon after the last of its kind. */
const WORK_MS = 2_000;
const SLUG = 'shop';
/** To make the requests of a failed run again. */
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);

/** Random requests by the OpenAPI document. Every answer must match the document. */
export function apiFuzzSuite(kind: DatabaseKind, { requests, maxNever }: FuzzOptions): void {
  describe(`any of ${requests} requests to ${kind}, FUZZ_SEED=${SEED}`, () => {
    // Also the UUIDs of the service, because they come back in requests.
    const ids = idsOf(SEED);
    const running = useRunningService(kind, { ids });
    const accountId = ids();
    let fixture: FuzzFixture | null = null;

    beforeAll(async () => {
      fixture = await prepare(running(), accountId);
    });
    afterAll(() => fixture?.sender.close());

    it('has a success response in the document', () => {
      const { operations = [] } = fixture ?? {};
      const without = operations.filter(
        ({ responses }) => !Object.keys(responses).some((status) => status.startsWith('2')),
      );
      expect(without.map(({ name }) => name)).toEqual([]);
      expect(operations.length).toBeGreaterThan(140);
    });

    it('is the same again with the same seed', () => {
      if (fixture === null) throw new Error('the fixture comes before the test');
      const { document, operations, hints } = fixture;
      const some = (seed: number): readonly string[] => {
        const maker = new RequestMaker(document, operations, hints, seed);
        return Array.from({ length: 50 }, () => JSON.stringify(maker.next()));
      };
      expect(some(SEED)).toEqual(some(SEED));
      expect(some(SEED)).not.toEqual(some(SEED + 1));
    });

    it('has a response of the document, and no internal error', { timeout: 600_000 }, async () => {
      if (fixture === null) throw new Error('the fixture comes before the test');
      const { app, clock, features, store } = running();
      const { document, operations, hints, sender, agentKey } = fixture;
      const judge = new ResponseJudge(document);
      const maker = new RequestMaker(document, operations, hints, SEED);
      const newKey = async () =>
        (await features.apiKeys.create(accountId, { name: 'fuzz', role: 'admin' })).key;
      let key = '';
      const wrong: string[] = [];
      const succeeded = new Map(operations.map(({ name }) => [name, 0]));
      const send = async (method: string, path: string, body: unknown) => {
        const type = body instanceof Buffer ? 'application/octet-stream' : 'application/json';
        const sent = body instanceof Buffer ? body : JSON.stringify(body);
        const headers = { ...AGENT_HEADERS, 'content-type': type };
        const answer = await sender.send({ method, path, key: agentKey, headers, body: sent });
        if (answer.status >= 500) wrong.push(`${method} ${path}: ${answer.status} ${answer.text}`);
        return answer.json ?? {};
      };
      const assign = (checkId: string) =>
        giveEverySlot(store, { accountId, checkId, slugs: [SLUG] });
      const ask = async (made: MadeRequest): Promise<void> => {
        const { operation, path, body } = made;
        const headers = body === null ? {} : { 'content-type': 'application/json' };
        const sent = { method: operation.method, path, headers, body: body ?? undefined };
        let answer = await sender.send({ ...sent, key });
        // The key may have been revoked by one of the requests.
        if (answer.status === 401) {
          key = await newKey();
          answer = await sender.send({ ...sent, key });
        }
        const { status, text, json } = answer;
        const type = String(answer.headers['content-type'] ?? '');
        const fault = judge.wrongWith(operation, { status, type, text });
        if (fault !== null) wrong.push(`${operation.method} ${path} ${body ?? ''} ${fault}`);
        if (status >= 400) return;
        succeeded.set(operation.name, (succeeded.get(operation.name) ?? 0) + 1);
        maker.known.learn(operation, made.ids, json);
      };
      const never = () => [...succeeded].filter(([, count]) => count === 0).map(([name]) => name);
      const isEnough = (n: number): boolean =>
        wrong.length >= MAX_TOLD ||
        n >= requests * MOST_TIMES ||
        (n >= requests && never().length <= maxNever);
      for (let n = 0; !isEnough(n); n += 1) {
        if (n % REQUESTS_A_KEY === 0) key = await newKey();
        if (n % REQUESTS_A_WORK === REQUESTS_A_WORK - 1) {
          clock.spend(WORK_MS);
          await workAsFuzzAgent({ maker, slug: SLUG, assign, send });
          await features.rootCauseAnalyses.makePending(new AbortController().signal);
        }
        await ask(maker.next());
      }
      expect(wrong, `FUZZ_SEED=${SEED}`).toEqual([]);
      const logged = app.logs.records().filter(({ level }) => level === 'error');
      expect(logged, `FUZZ_SEED=${SEED}`).toEqual([]);
      // Otherwise the test would only show that invalid requests are refused.
      const message = `FUZZ_SEED=${SEED}, never: ${never().join(', ')}`;
      expect(never().length, message).toBeLessThanOrEqual(maxNever);
    });
  });
}

interface FuzzFixture {
  readonly document: OpenApiDocument;
  readonly operations: ReturnType<typeof operationsOf>;
  readonly hints: HintParts;
  readonly sender: Sender;
  readonly agentKey: string;
}

/** An account with a private location that stays. */
async function prepare(
  { app, store, clock, features }: ReturnType<ReturnType<typeof useRunningService>>,
  accountId: string,
): Promise<FuzzFixture> {
  await insertAccount(store, { id: accountId, name: 'fuzz', createdAtMs: clock.wallMs() });
  const known = new KnownIds();
  known.add('/v1/accounts', [accountId]);
  known.add('/v1/test-session-error-groups/projects', [SLUG]);
  const location = await features.privateLocations.create(accountId, { slug: SLUG, name: 'Shop' });
  const { key: agentKey, locationKey } = await features.locationKeys.create(accountId, location.id);
  known.reserve(location.id);
  known.reserve(locationKey.id);
  const document: OpenApiDocument = (await app.ask('/openapi.json', { key: null })).json;
  const isAsked = ({ role, path }: { role: string | null; path: string }) =>
    role !== null || path.startsWith('/heartbeat/');
  const identity = await createSelfSigned();
  return {
    document,
    operations: operationsOf(document).filter(isAsked),
    hints: { known, slug: SLUG, identity, results: fileResults },
    sender: openSender(app.port),
    agentKey,
  };
}

/** UUIDs that follow from the seed: they come back in requests. */
function idsOf(seed: number): () => string {
  let made = 0;
  return () => {
    made += 1;
    const hex = createHash('sha256').update(`${seed} ${made}`).digest('hex');
    return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
  };
}
