import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startPostgres, type TestPostgres } from '../../support/database/postgres.ts';

import { newApiKey, startService } from '../../support/service/deployment.ts';
import type { Reply } from '../../support/service/service-app.ts';

const PAGES = '/v1/status-pages';
/** Replicas are other processes, which nothing here can wait for. */
const WAIT = { timeout: 300_000, interval: 50 };

describe('status pages of two replicas', () => {
  let server: TestPostgres | null = null;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server?.remove();
  });

  it('agree after a change, and are served with their age while the database is away', async () => {
    if (server === null) throw new Error('there is no PostgreSQL');
    const databaseUrl = await server.createDatabase();
    const apiKey = newApiKey();
    const first = await startService({ databaseUrl, apiKey });
    const second = await startService({ databaseUrl, apiKey });
    const open = (replica: typeof first, path: string, host?: string): Promise<Reply> =>
      replica.ask(path, { key: null, headers: host === undefined ? {} : { host } });
    const made = await first.ask(PAGES, {
      method: 'POST',
      body: { name: 'Before', url: 'acme', customDomain: 'status.acme.example' },
    });
    expect(made.status, made.text).toBe(201);

    for (const replica of [first, second]) {
      await vi.waitFor(async () => {
        expect((await open(replica, '/', 'status.acme.example')).text).toContain('Before');
      }, WAIT);
      expect((await open(replica, '/status/acme')).text).toContain('Before');
    }
    await first.ask(`${PAGES}/${made.json.id}`, { method: 'PUT', body: { name: 'After' } });
    for (const replica of [first, second]) {
      await vi.waitFor(async () => {
        expect((await open(replica, '/status/acme')).text).toContain('After');
      }, WAIT);
    }

    await server.stop('immediate');
    for (const replica of [first, second]) {
      await vi.waitFor(async () => {
        const { status, text, headers } = await open(replica, '/status/acme');
        expect(status).toBe(200);
        expect(text).toContain('After');
        expect(text).toContain('Newer data is not available at the moment');
        expect(Number(headers.age)).toBeGreaterThanOrEqual(0);
      }, WAIT);
      expect((await open(replica, '/', 'status.acme.example')).text).toContain('After');
    }

    await server.start();
    await vi.waitFor(async () => {
      const renamed = await second.ask(`${PAGES}/${made.json.id}`, {
        method: 'PUT',
        body: { name: 'Back' },
      });
      expect(renamed.status).toBe(200);
    }, WAIT);
    for (const replica of [first, second]) {
      await vi.waitFor(async () => {
        const { text, headers } = await open(replica, '/status/acme');
        expect(text).toContain('Back');
        expect(text).not.toContain('Newer data');
        expect(headers.age).toBeUndefined();
      }, WAIT);
    }
  });
});
