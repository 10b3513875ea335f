import { beforeAll, describe, expect, it } from 'vitest';
import type { DatabaseKind } from '../databases.ts';
import { openSender } from '../hostile/send.ts';
import { type OpenApiDocument, operationsOf } from '../openapi/document.ts';
import { type MadeRequest, RequestMaker } from '../openapi/request-maker.ts';
import { ResponseJudge } from '../openapi/response-judge.ts';
import { useAccounts, useRunningService } from './service-harness.ts';

const REQUESTS = 6_000;
const MAX_TOLD = 20;
/** To make the requests of a failed run again. */
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);

/** Requests made of the API's own document at random: whatever comes, the answers are of it, too. */
export function apiFuzzSuite(kind: DatabaseKind): void {
  describe(`any of ${REQUESTS} requests to ${kind}`, () => {
    const running = useRunningService(kind);
    const service = useAccounts(running, 'shared');
    beforeAll(async () => {
      const { mine } = service();
      await mine.post('/v1/private-locations', { slug: 'shop', name: 'Shop' });
    });

    it('is answered as the document says, and by no fault', { timeout: 600_000 }, async () => {
      const { app } = running();
      const { mine, features } = service();
      const document: OpenApiDocument = (await app.ask('/openapi.json', { key: null })).json;
      const operations = operationsOf(document).filter(({ role }) => role !== null);
      const judge = new ResponseJudge(document);
      const maker = new RequestMaker(document, operations, SEED);
      maker.know('/v1/accounts', mine.accountId);
      const sender = openSender(app.port);
      const newKey = async () =>
        (await features.apiKeys.create(mine.accountId, { name: 'fuzz', role: 'admin' })).key;
      let key = await newKey();
      const wrong: string[] = [];
      const succeeded = new Map(operations.map(({ name }) => [name, 0]));
      const ask = async (made: MadeRequest): Promise<void> => {
        const { operation, path, body } = made;
        const headers = body === null ? {} : { 'content-type': 'application/json' };
        const sent = { method: operation.method, path, key, headers, body: body ?? undefined };
        let answer = await sender.send(sent);
        // Some routes allow so few requests a minute that a key is soon used up; or it was revoked.
        if (answer.status === 429 || answer.status === 401) {
          key = await newKey();
          answer = await sender.send({ ...sent, key });
        }
        const { status, text, json } = answer;
        const type = String(answer.headers['content-type'] ?? '');
        const fault = judge.wrongWith(operation, { status, type, text });
        if (fault !== null) wrong.push(`${operation.method} ${path} ${body ?? ''} ${fault}`);
        if (status >= 400) return;
        succeeded.set(operation.name, (succeeded.get(operation.name) ?? 0) + 1);
        maker.learn(made, json);
      };
      for (let n = 0; n < REQUESTS && wrong.length < MAX_TOLD; n += 1) await ask(maker.next());
      await sender.close();
      expect(wrong, `FUZZ_SEED=${SEED}`).toEqual([]);
      const logged = app.logs.records().filter(({ level }) => level === 'error');
      expect(logged, `FUZZ_SEED=${SEED}`).toEqual([]);
      // Else it would show only that bad requests are refused.
      const never = [...succeeded].filter(([, count]) => count === 0).map(([name]) => name);
      console.log(
        kind,
        operations.length,
        [...succeeded.values()].reduce((a, b) => a + b, 0),
        never,
      );
      expect(never.length, never.join('\n')).toBeLessThan(operations.length / 4);
    });
  });
}
