import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { slotFaults } from '../../support/agent/slot-verdict.ts';
import { newDatabase } from '../../support/database/new-database.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import {
  addVisitors,
  CountingTarget,
  PERIOD_SECONDS,
} from '../../support/servers/counting-target.ts';
import { listening } from '../../support/servers/tcp-servers.ts';
import {
  type RunningAgent,
  type RunningService,
  slotRecords,
  startAgent,
  startService,
  until,
} from '../../support/service/deployment.ts';

const CHECKS = 60;
const LEASE_MS = 3_000;
/** Longer than the lease (3 s), the move of the checks (2 s), and the delay of a run (5 s). */
const STOPPED_MS = 12_000;
/** Time for late runs to end and for checks to be distributed again. */
const AFTER_MS = 12_000;

async function setUp() {
  const where = await newDatabase('postgres');
  const service = await startService(where);
  const { key, slug } = await service.addLocation('cellar');
  const target = new CountingTarget();
  const { port, close } = await listening(createServer((socket) => target.serve(socket, '')));
  onTestFinished(() => close());
  const names = await addVisitors(service, { count: CHECKS, slug, port });
  return { where, service, key, target, checkIds: [...names.values()] };
}

interface PrintingAgent extends RunningAgent {
  /** Check and slot of each run that it ended. */
  readonly runs: () => readonly string[];
}

async function startPrinting(service: RunningService, key: string): Promise<PrintingAgent> {
  const dataDir = makeTestFolder();
  const stdoutFile = `${makeTestFolder()}/results`;
  const agent = await startAgent({ serviceUrl: service.url, key, dataDir, stdoutFile });
  const runs = (): readonly string[] =>
    readFileSync(stdoutFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"resultType":"FINAL"'))
      .map((line) => JSON.parse(line))
      .map(({ checkId, checkRunId }) => `${checkId} ${checkRunId}`);
  return { ...agent, runs };
}

const slotOf = (run: string): number => Number(run.split(' ')[1]);

const checksOf = async (agent: RunningAgent): Promise<number> => (await agent.health()).json.checks;

it('an agent that was stopped for longer than its lease runs no slot that another agent ran', async () => {
  const { where, service, key, target, checkIds } = await setUp();
  const [stopped, other] = [await startPrinting(service, key), await startPrinting(service, key)];
  const isShared = (count: number): boolean => count > 10 && count < CHECKS - 10;
  await until(() => checksOf(stopped), isShared);
  const sharedMs = Date.now();
  await target.after(sharedMs + 1_000 * PERIOD_SECONDS);

  const stopMs = Date.now();
  stopped.child.kill('SIGSTOP');
  await target.after(stopMs + STOPPED_MS);
  const wokenMs = Date.now();
  stopped.child.kill('SIGCONT');
  await stopped.logged(/it confirms its assignments/);
  await until(() => checksOf(stopped), isShared);
  await target.after(wokenMs + AFTER_MS);
  const upToMs = Date.now();
  for (const agent of [stopped, other]) expect(await agent.kill('SIGTERM')).toBe(0);
  expect(await service.kill('SIGTERM')).toBe(0);

  const ran = new Set(other.runs());
  // Slots after that belong to a check that is moving back; the other agent may learn of it a
  // moment later.
  const twice = stopped.runs().filter((run) => ran.has(run) && slotOf(run) <= wokenMs);
  expect(twice).toEqual([]);
  expect(stopped.runs().length).toBeGreaterThan(CHECKS / 2);
  expect(stopped.log()).not.toContain('did not respond in time');
  const records = await slotRecords(where);
  const watched = { checkIds, afterMs: sharedMs, upToMs, periodSeconds: PERIOD_SECONDS } as const;
  expect(slotFaults(records, watched)).toEqual({
    unanswered: [],
    double: [],
    unplanned: [],
  });
});

it('an agent whose service does not answer runs its last assignments after 5 s and sends no second request', async () => {
  const { service, key, target } = await setUp();
  const agent = await startPrinting(service, key);
  await until(
    () => checksOf(agent),
    (count) => count === CHECKS,
  );
  await target.more(10);

  service.child.kill('SIGSTOP');
  agent.child.kill('SIGSTOP');
  const stopMs = Date.now();
  await until(
    async () => Date.now(),
    (nowMs) => nowMs > stopMs + LEASE_MS + 2_000,
  );
  agent.child.kill('SIGCONT');
  await agent.logged(/did not respond in time/);
  await target.more(CHECKS);
  service.child.kill('SIGCONT');
  expect(agent.log().match(/it confirms its assignments/g)).toHaveLength(1);
  expect(await agent.kill('SIGTERM')).toBe(0);
  expect(await service.kill('SIGTERM')).toBe(0);
});
