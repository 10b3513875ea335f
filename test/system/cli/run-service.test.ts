import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadServiceConfig } from '../../../src/service/config.ts';
import { runService } from '../../../src/service/main.ts';
import { migrateService } from '../../../src/service/operator/database-commands.ts';
import { copyEmptyDatabase } from '../../support/database/new-database.ts';
import { captureLog } from '../../support/log-capture.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { askService } from '../../support/service/service-app.ts';

const folder = makeTempFolder();
const ends: (() => Promise<unknown>)[] = [];

beforeAll(() => copyEmptyDatabase(folder.path));
afterAll(() => folder.remove());

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Runs until the test is over. */
function start() {
  const stopping = new AbortController();
  const now = new AbortController();
  const logs = captureLog();
  let ended: Promise<void> = Promise.resolve();
  const port = new Promise<number>((resolve, reject) => {
    ended = runService({
      config: loadServiceConfig({ PORT: '0', HOST: '127.0.0.1', DATA_DIR: folder.path }),
      log: logs.log,
      stop: { stopping: stopping.signal, now: now.signal },
      onListening: resolve,
      hasOwnersTerminal: false,
    });
    ended.catch(reject);
  });
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ended;
  };
  ends.push(() => stop().catch(() => {}));
  return { port, stop, logs };
}

describe('the service', () => {
  it('migrates on demand, and finds nothing to do the next time', async () => {
    const config = loadServiceConfig({ DATA_DIR: folder.path });
    const { log } = captureLog();
    expect((await migrateService({ config, log })).applied.length).toBeGreaterThan(0);
    expect((await migrateService({ config, log })).applied).toEqual([]);
  });

  it('starts on the embedded database, is ready, asks for keys, and stops', async () => {
    const { port, stop, logs } = start();
    const at = await port;
    expect((await askService(at, '/-/readiness', { key: null })).status).toBe(200);
    expect((await askService(at, '/health', { key: null })).json).toMatchObject({
      state: 'running',
      database: 'answers',
    });
    const paths = Object.keys((await askService(at, '/openapi.json', { key: null })).json.paths);
    expect(paths).toEqual(expect.arrayContaining(['/health', '/v1/checks', '/v1/checks/url/{id}']));
    // This key is unknown in the real table of keys.
    expect((await askService(at, '/v1/checks')).json).toMatchObject({
      statusCode: 401,
      message: 'Bad Token',
    });
    expect((await askService(at, '/docs/api', { key: null })).text).toContain(
      '<div id="put-v1-checks-url-id">',
    );
    expect((await askService(at, '/docs/operations', { key: null })).text).toContain(
      '<tr id="RETENTION_DAYS">',
    );
    await stop();
    await expect(askService(at, '/health')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(logs.records().filter(({ level }) => level === 'error')).toEqual([]);
    const offer = logs.records().find(({ msg }) => /^there is no user yet/.test(String(msg)));
    expect(offer).toMatchObject({ level: 'warn' });
    expect(offer?.url).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${at}/setup/[\\w-]{43}$`));
  });

  it('ends without opening the port where it is asked to stop while it starts', async () => {
    const { stop, logs } = start();
    await stop();
    expect(logs.records().map(({ msg }) => msg)).not.toContain('the API is served');
  });
});
