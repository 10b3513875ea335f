import { once } from 'node:events';
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BulkChecks } from '../../../../src/service/bulk/bulk-checks.ts';
import { bulkChecksRoutes } from '../../../../src/service/bulk/routes.ts';
import { conflict } from '../../../../src/service/errors.ts';
import { KEYS, type ServiceApp, startServiceApp } from '../../../support/service/service-app.ts';

const PATH = '/v1/checks/bulk';
const BODY = { action: 'mute', ids: ['a'] };

describe('the route of bulk requests', () => {
  let app: ServiceApp;
  let stopping: AbortController;
  let run: BulkChecks['run'];
  beforeEach(async () => {
    stopping = new AbortController();
    const bulkChecks: BulkChecks = { run: (...given) => run(...given) };
    app = await startServiceApp([bulkChecksRoutes({ bulkChecks, stopping: stopping.signal })]);
  });
  afterEach(() => app.close());

  /** Resolves with the signal of the request once that has begun. */
  const beginWork = (): Promise<AbortSignal> =>
    new Promise((resolve) => {
      run = async (_accountId, _body, { signal }) => {
        resolve(signal);
        if (!signal.aborted) await once(signal, 'abort');
        return [];
      };
    });

  it('ends the work when the client disconnects', async () => {
    const begun = beginWork();
    const headers = { authorization: `Bearer ${KEYS.write}`, 'content-type': 'application/json' };
    const sent = request({ port: app.port, path: PATH, method: 'POST', headers });
    sent.on('error', () => {});
    sent.end(JSON.stringify(BODY));
    const signal = await begun;
    expect(signal.aborted).toBe(false);
    const ended = once(signal, 'abort');
    sent.destroy();
    await ended;
    expect(signal.aborted).toBe(true);
  });

  it('ends the work when the service stops, and answers', async () => {
    const begun = beginWork();
    const reply = app.ask(PATH, { method: 'POST', body: BODY });
    const signal = await begun;
    stopping.abort();
    expect(signal.aborted).toBe(true);
    expect((await reply).status).toBe(200);
  });

  it('maps each error as the request for one check does, and logs faults', async () => {
    run = async (_accountId, _body, { errorOf }) =>
      [conflict('it is taken'), new TypeError('a secret of our own')].map((thrown, index) => {
        const { status, message, attributes } = errorOf(thrown);
        const error = { statusCode: status, error: 'x', message, attributes };
        return { index, id: 'a', status, error };
      });
    const reply = await app.ask(PATH, { method: 'POST', body: BODY });
    expect(reply.json).toMatchObject({
      dryRun: false,
      counts: { total: 2, succeeded: 0, failed: 2 },
      results: [
        { status: 409, error: { message: 'it is taken' } },
        { status: 500, error: { message: 'Internal error; see the service log' } },
      ],
    });
    expect(reply.text).not.toContain('a secret of our own');
    const fault = 'a request failed by a fault of the service';
    const faults = app.logs.records().filter(({ msg }) => msg === fault);
    expect(faults).toHaveLength(1);
  });
});
