import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newDatabase } from '../support/database/new-database.ts';
import { makeTestFolder } from '../support/process/test-folder.ts';
import {
  type RunningAgent,
  type RunningService,
  startAgent,
  startService,
  type TestLocation,
  until,
} from '../support/service/deployment.ts';

/** The environment of `vedette agent` after an internal fault. */
const INTERNAL = 70;
const PRELOAD = new URL('../support/process/faulty-stop.mjs', import.meta.url).href;

const CRASH = {
  class: 'TypeError',
  code: null,
  count: 1,
  stack: expect.arrayContaining([
    {
      function: expect.stringMatching(/request$/),
      file: 'dist/runtime/lifecycle.js',
      line: expect.any(Number),
      column: expect.any(Number),
    },
  ]),
};

async function location() {
  const where = await newDatabase('postgres');
  const service = await startService(where);
  const place = await service.addLocation('cellar');
  const dataDir = makeTestFolder();
  const agent = { serviceUrl: service.url, key: place.key, dataDir };
  return {
    service,
    place,
    file: join(dataDir, 'crash-reports.json'),
    startAgent: (env = {}) => startAgent({ ...agent, env }),
    serviceAgain: () => startService({ ...where, port: service.port, apiKey: service.apiKey }),
  };
}

/** The fault of its first SIGTERM. */
async function crash(agent: RunningAgent): Promise<void> {
  await agent.logged(/"checks loaded"/);
  expect(await agent.kill('SIGTERM')).toBe(INTERNAL);
  expect(agent.log()).toMatch(/"level":"fatal".*a fault of Vedette itself/);
}

async function reported(service: RunningService, { id }: TestLocation): Promise<unknown[]> {
  return (await service.ask(`/v1/private-locations/${id}/agent-errors`)).json;
}

it('an agent that crashes reports the fault once, before it ends', async () => {
  const { service, place, file, ...start } = await location();
  await crash(await start.startAgent({ NODE_OPTIONS: `--import=${PRELOAD}` }));
  expect(await reported(service, place)).toEqual([expect.objectContaining(CRASH)]);
  expect(existsSync(file)).toBe(false);
});

it('the next start reports a crash if the service was away', async () => {
  const { service, place, file, ...start } = await location();
  const agent = await start.startAgent({ NODE_OPTIONS: `--import=${PRELOAD}` });
  await agent.logged(/"checks loaded"/);
  await service.kill('SIGKILL');
  await crash(agent);
  expect(existsSync(file)).toBe(true);
  const again = await start.serviceAgain();
  const next = await start.startAgent();
  const list = await until(
    () => reported(again, place),
    (errors) => errors.length > 0,
  );
  expect(list).toEqual([expect.objectContaining(CRASH)]);
  expect(JSON.stringify(list)).not.toMatch(/planted|example/);
  await until(
    async () => existsSync(file),
    (isThere) => !isThere,
  );
  expect(await next.kill('SIGTERM')).toBe(0);
  expect(await reported(again, place)).toHaveLength(1);
});

it('EXTERNAL_OBSERVABILITY=off sends no fault report', async () => {
  const { service, place, file, ...start } = await location();
  const off = { EXTERNAL_OBSERVABILITY: 'OFF', NODE_OPTIONS: `--import=${PRELOAD}` };
  await crash(await start.startAgent(off));
  expect(existsSync(file)).toBe(false);
  expect(await reported(service, place)).toEqual([]);
});
