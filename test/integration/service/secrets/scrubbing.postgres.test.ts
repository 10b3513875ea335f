import { describe, expect, it } from 'vitest';
import { MASK } from '../../../../src/model/credentials/mask.ts';
import type { Traceroute } from '../../../../src/model/result/traceroute.ts';
import { createAssigner } from '../../../../src/service/agents/assignment/assigner.ts';
import { createCheckVariables } from '../../../../src/service/checks/variables/check-variables.ts';
import { createSecretScrubbing } from '../../../../src/service/secrets/secret-scrubbing.ts';
import { secretsRevisionOf } from '../../../../src/service/variables/sql.ts';
import { databases, silentLog } from '../../../support/database/databases.ts';
import { HTTP_DETAIL, HTTP_RESPONSE } from '../../../support/samples/http-results.ts';
import { shownResult } from '../../../support/samples/shown-result.ts';
import { PollingAgent } from '../../../support/service/polling-agent.ts';
import {
  failedRun,
  minutesAgo,
  resultOfRun,
  useResultsFixture,
} from '../../../support/service/results-fixture.ts';
import { useRunningService } from '../../../support/service/service-fixture.ts';

const SECRET = 'correct-horse-battery';
const OWN = 'staple of the shop';

/** A failed run with the text in every field. */
function telling(minutes: number, secret: string, fields: object = {}) {
  const quote = JSON.stringify({ inner: JSON.stringify({ key: secret }) });
  return resultOfRun({
    slot: minutesAgo(minutes),
    hasFailures: true,
    apiCheckResult: {
      ...HTTP_DETAIL,
      request: {
        method: 'POST',
        url: `https://shop.test/?key=${encodeURIComponent(secret)}`,
        data: quote,
        headers: { level: secret },
        params: { key: secret },
      },
      response: { ...HTTP_RESPONSE, headers: { 'x-echo': [secret, 'b'] }, body: quote },
      assertions: [
        {
          source: 'JSON_BODY',
          property: '$.key',
          comparison: 'EQUALS',
          target: 'other',
          regex: null,
          actual: secret,
          error: `expected other, got ${secret}`,
        },
      ],
      requestError: `the answer held ${secret}`,
      requestErrorCode: null,
      jobLog: [{ time: 0, level: 'warn', msg: `sent ${secret}` }],
      jobAssets: ['/v1/artifacts/a'],
    },
    ...fields,
  });
}

/**
 * Secrets in data sent to the service (src/scrub/README.md, "What is masked, and where": "in
 * the service before storing").
 */
describe.each(databases)('on %s', (kind) => {
  describe('secrets in what agents and users send', () => {
    const running = useRunningService(kind);
    const fixture = useResultsFixture(running);

    const secretOfAccount = (key: string, value: string) =>
      fixture().mine.post('/v1/variables', { key, value, secret: true });
    const shown = async (checkId = 'shop') =>
      (await fixture().mine.get(`/v1/check-results/${checkId}?resultType=ALL`)).json;
    const stored = async (): Promise<string> => {
      const { store, mine } = fixture();
      const tables = ['check_results', 'error_groups', 'root_cause_analyses', 'alert_deliveries'];
      const texts = await Promise.all(
        [...tables, 'test_sessions', 'test_session_results'].map((table) =>
          store.query(`select to_jsonb(t)::text as text from ${table} t where account_id = $1`, [
            mine.accountId,
          ]),
        ),
      );
      return JSON.stringify(texts);
    };

    it('are masked in each text of a result, its error groups and what follows from them, and nowhere else', async () => {
      const { berlin, deliver, mine } = fixture();
      await secretOfAccount('TOKEN', SECRET);
      const result = telling(1, SECRET);
      await deliver(berlin, { results: [result] });
      expect(await stored()).not.toContain(SECRET);
      const [only] = await shown();
      expect(only.apiCheckResult).toMatchObject({
        request: { method: 'POST', headers: { level: MASK }, params: { key: MASK } },
        response: { status: 200, headers: { 'x-echo': [MASK, 'b'] } },
        assertions: [{ source: 'JSON_BODY', property: '$.key', target: 'other', actual: MASK }],
        requestError: `the answer held ${MASK}`,
        jobLog: [{ level: 'warn', msg: `sent ${MASK}` }],
        jobAssets: ['/v1/artifacts/a'],
      });
      expect(only).toMatchObject({ id: result.id, name: 'Shop', runLocation: 'berlin' });
      const groups = (await mine.get('/v1/error-groups?checkId=shop')).json;
      expect(groups).toHaveLength(1);
      expect(JSON.stringify(groups)).toContain(MASK);
    });

    it('are not searched in an account without any, and results do not change', async () => {
      const { berlin, deliver, theirs } = fixture();
      await theirs.post('/v1/variables', { key: 'TOKEN', value: SECRET, secret: true });
      await fixture().mine.post('/v1/variables', { key: 'OPEN', value: SECRET });
      const result = telling(1, SECRET);
      await deliver(berlin, { results: [result] });
      const [only] = await shown();
      expect(only).toEqual({ ...shownResult(result), errorGroupIds: only.errorGroupIds });
    });

    it('are masked from the moment that they exist, and as long as they do', async () => {
      const { berlin, deliver, mine } = fixture();
      const actuals = async (minutes: number, secret: string) => {
        await deliver(berlin, { results: [telling(minutes, secret)] });
        const [newest] = await shown();
        return newest.apiCheckResult.assertions[0].actual;
      };
      expect(await actuals(9, SECRET)).toBe(SECRET);
      await secretOfAccount('TOKEN', SECRET);
      expect(await actuals(8, SECRET)).toBe(MASK);
      await mine.patch('/v1/variables/TOKEN', { value: 'another-value' });
      expect(await actuals(7, 'another-value')).toBe(MASK);
      await secretOfAccount('MORE', SECRET);
      expect(await actuals(6, SECRET)).toBe(MASK);
      await mine.patch('/v1/variables/TOKEN', { value: 'known', secret: false });
      await mine.delete('/v1/variables/MORE');
      expect(await actuals(5, SECRET)).toBe(SECRET);
    });

    it('of a check itself are masked only in its own results', async () => {
      const { berlin, deliver, check, mine } = fixture();
      const variables = [{ key: 'OWN', value: OWN, secret: true }];
      await check('other', { variables });
      const results = ['shop', 'other'].map((checkId) => telling(2, OWN, { checkId }));
      await deliver(berlin, { results });
      expect(JSON.stringify(await shown('other'))).not.toContain(OWN);
      expect(JSON.stringify(await shown('shop'))).toContain(OWN);
      // First the value changes, then another check has the same id.
      await mine.patch('/v1/checks/other', { variables: [{ ...variables[0], value: 'new one' }] });
      await deliver(berlin, { results: [telling(1, 'new one', { checkId: 'other' })] });
      expect((await shown('other'))[0].apiCheckResult.assertions[0].actual).toBe(MASK);
      await mine.delete('/v1/checks/other');
      await check('other', { variables: [{ key: 'OWN', value: 'third', secret: true }] });
      await deliver(berlin, { results: [telling(0.5, 'third', { checkId: 'other' })] });
      expect((await shown('other'))[0].apiCheckResult.assertions[0].actual).toBe(MASK);
    });

    it.each([
      ['the password in its URL', 'https://user:p%40w0rd-horse@shop.test/', []],
      ['a token', 'https://shop.test/', [{ key: 'Authorization', value: 'Bearer p@w0rd-horse' }]],
    ])('of a check are %s, as targets are sent it', async (_, url, headers) => {
      const { berlin, deliver, check } = fixture();
      await check('other', { checkType: 'API', request: { url, headers } });
      const result = telling(1, 'echo p@w0rd-horse', { checkId: 'other' });
      await deliver(berlin, { results: [result] });
      expect(await stored()).not.toContain('w0rd-horse');
      expect((await shown('other'))[0].apiCheckResult.assertions[0].actual).toBe(`echo ${MASK}`);
    });

    it('of a check and of its account may be parts of each other', async () => {
      const { berlin, deliver, check } = fixture();
      await secretOfAccount('SHORT', 'horse');
      await secretOfAccount('LONG', 'a-correct-horse-battery');
      await check('other', { variables: [{ key: 'OWN', value: 'correct-horse', secret: true }] });
      const texts = ['horse', 'correct-horse', 'a-correct-horse-battery'];
      const results = texts.map((text, n) => telling(n + 1, text, { checkId: 'other' }));
      await deliver(berlin, { results });
      for (const result of await shown('other')) {
        expect(result.apiCheckResult.assertions[0].actual).toBe(MASK);
      }
    });

    it('do not split groups of failures that differ only in them', async () => {
      const { berlin, deliver, mine } = fixture();
      await secretOfAccount('ONE', 'first-secret-value');
      await secretOfAccount('TWO', 'second-secret-value');
      const values = ['first-secret-value', 'second-secret-value'];
      const results = values.map((value, n) => failedRun(n + 1, `no such key ${value} here`));
      await deliver(berlin, { results });
      const groups = (await mine.get('/v1/error-groups?checkId=shop')).json;
      expect(groups).toHaveLength(1);
    });

    it('are masked in the report of a run from a file', async () => {
      const { mine } = fixture();
      await secretOfAccount('TOKEN', SECRET);
      const brought = await mine.post('/v1/test-sessions', {
        name: `with ${SECRET}`,
        projectId: 'shop',
        environment: 'staging',
        repository: `https://git:${SECRET}@git.test/shop`,
        branch: SECRET.padEnd(255, 'x'),
        commitId: null,
        results: [telling(1, SECRET)],
      });
      expect(brought.status).toBe(201);
      expect(brought.text).not.toContain(SECRET);
      expect(brought.json).toMatchObject({ name: `with ${MASK}`, projectId: 'shop' });
      expect(await stored()).not.toContain(SECRET);
      expect((await mine.get(`${brought.json.link}/results`)).text).toContain(MASK);
      expect((await mine.get(brought.json.link)).status).toBe(200);
    });

    it('cannot be guessed in parts with the role run', async () => {
      await secretOfAccount('TOKEN', SECRET);
      const attacker = await fixture().clientWith('run');
      const half = SECRET.slice(0, -1);
      const digits = Buffer.from(half);
      const guesses = [half, SECRET.slice(1), SECRET.slice(0, 8), SECRET.slice(4, 14)];
      const forms = [digits.toString('base64'), digits.toString('hex'), encodeURIComponent(half)];
      for (const guess of [...guesses, ...forms]) {
        const long = guess.padStart(8_000, 'x');
        for (const text of [guess, `${guess}…`, `${guess}… (cut at 10240 bytes)`, long]) {
          const body = { name: `${guess}…`, branch: guess, results: [telling(1, text)] };
          const brought = await attacker.post('/v1/test-sessions', body);
          expect(brought.status).toBe(201);
          expect(brought.text).not.toContain(MASK);
          const { text: results } = await attacker.get(`${brought.json.link}/results`);
          expect(results).not.toContain(MASK);
        }
      }
    });

    it('cannot be guessed in parts by a target', async () => {
      const { berlin, deliver } = fixture();
      await secretOfAccount('TOKEN', SECRET);
      const guess = `${SECRET.slice(0, -1)}…`;
      await deliver(berlin, { results: [telling(1, guess.padStart(5_000, 'x'))] });
      expect(JSON.stringify(await shown())).not.toContain(MASK);
    });

    it('are masked in the reason why an agent could not read a check', async () => {
      const { mine, berlin, features, store, clock } = fixture();
      await secretOfAccount('TOKEN', SECRET);
      const caller = { accountId: mine.accountId, locationId: berlin.id, keyId: 'key' };
      const agent = new PollingAgent(features.agents, caller, 'agent-a');
      await agent.look();
      await createAssigner({ store, clock, log: silentLog() }).pass();
      agent.refused = [{ checkId: 'shop', problem: `request.url: ${SECRET} is none` }];
      await agent.look();
      const { json, text } = await mine.get(`/v1/private-locations/${berlin.id}/agents`);
      expect(json[0].refused).toEqual([
        { checkId: 'shop', problem: `request.url: ${MASK} is none` },
      ]);
      expect(text).not.toContain(SECRET);
    });

    it('are read again only after a change', async () => {
      const { store, clock, mine, features } = fixture();
      await secretOfAccount('TOKEN', SECRET);
      let read = 0;
      const { forAgents } = features.variables;
      const scrubbing = createSecretScrubbing({
        clock,
        variables: {
          forAgents(sql, accountId) {
            read += 1;
            return forAgents(sql, accountId);
          },
        },
        checkVariables: createCheckVariables({ log: silentLog(), secrets: null }),
      });
      const scrub = () => scrubbing.results(store, mine.accountId, [telling(1, SECRET)]);
      for (let batch = 0; batch < 3; batch += 1) await scrub();
      expect(read).toBe(1);
      await mine.post('/v1/variables', { key: 'OPEN', value: 'open' });
      await scrub();
      expect(read).toBe(1);
      const revision = await secretsRevisionOf(store, mine.accountId);
      await mine.delete('/v1/variables/TOKEN');
      expect(await secretsRevisionOf(store, mine.accountId)).toBe(revision + 1);
      const [result] = await scrub();
      expect(read).toBe(2);
      expect(result?.apiCheckResult?.requestError).toContain(SECRET);
    });

    it('the route to a target is stored and shown unchanged', async () => {
      const { berlin, deliver } = fixture();
      const traceroute: Traceroute = {
        hostname: 'shop.test',
        resolvedIp: '192.0.2.9',
        hops: [
          {
            hop: 1,
            address: '192.0.2.1',
            host: 'gateway.test',
            sent: 3,
            received: 2,
            lossPercent: 33.333,
            lastMs: 0.412,
            avgMs: 0.5,
            bestMs: 0.412,
            worstMs: 0.588,
            stdDevMs: 0.088,
          },
          {
            hop: 2,
            address: null,
            host: null,
            sent: 3,
            received: 0,
            lossPercent: 100,
            lastMs: null,
            avgMs: null,
            bestMs: null,
            worstMs: null,
            stdDevMs: null,
          },
        ],
        destinationReached: false,
        truncationReason: 'the time was up',
      };
      const pcapDataUrl = '/v1/artifacts/capture';
      const failed = { ...HTTP_DETAIL, response: null, pcapDataUrl, traceroute };
      const result = resultOfRun({
        slot: minutesAgo(1),
        hasFailures: true,
        apiCheckResult: { ...failed, requestErrorCode: 'CONNECT_TIMEOUT', requestError: 'away' },
      });
      await deliver(berlin, { results: [result] });
      const [only] = await shown();
      expect(only.apiCheckResult).toMatchObject({ traceroute, pcapDataUrl });
    });
  });
});
