import { writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import type { MissedSlots } from '../../src/model/result/missed-slots.ts';
import type { CheckResult } from '../../src/model/result/result.ts';
import { slotRuleOf } from '../../src/model/schedule/slot-rule.ts';
import { startCli } from '../support/agent/cli.ts';
import { makeTempFolder } from '../support/process/temp-folder.ts';
import { listenTcp } from '../support/servers/tcp-servers.ts';

const OFTEN = { checkType: 'TCP', frequency: 0, frequencyOffset: 10 };
const CHECKS = 300;

/** Slots by check id, with how often each was a FINAL result or a missed record. */
function accountOf(ndjson: string): Map<string, Map<number, number>> {
  const account = new Map<string, Map<number, number>>();
  const count = (checkId: string, slotMs: number): void => {
    const slots = account.get(checkId) ?? new Map<number, number>();
    slots.set(slotMs, (slots.get(slotMs) ?? 0) + 1);
    account.set(checkId, slots);
  };
  for (const line of ndjson.trimEnd().split('\n')) {
    const record = JSON.parse(line) as CheckResult & { readonly missed?: MissedSlots };
    const { missed } = record;
    if (missed === undefined) {
      if (record.resultType === 'FINAL') count(record.checkId, record.checkRunId);
      continue;
    }
    const { periodMs } = slotRuleOf(missed.checkId, 0, 10);
    for (let n = 0; n < missed.count; n += 1) count(missed.checkId, missed.slot + n * periodMs);
  }
  return account;
}

it('each slot is accounted for exactly once through a reload, a frozen process and a stop', async () => {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  const target = await listenTcp((socket) => void socket.end());
  // Accepts connections and never answers: its run is in progress whenever the agent is stopped.
  const silent = await listenTcp((socket) => void socket.resume());
  onTestFinished(async () => {
    await target.close();
    await silent.close();
  });
  const checks = Array.from({ length: CHECKS }, (_, n) => ({
    ...OFTEN,
    id: `check-${n}`,
    request: { hostname: '127.0.0.1', port: target.port },
  }));
  const assertions = [{ source: 'RESPONSE_DATA', comparison: 'NOT_EMPTY' }];
  const slow = {
    ...OFTEN,
    id: 'slow',
    request: { hostname: '127.0.0.1', port: silent.port, data: 'hello', assertions },
  };
  const file = folder.file('checks.json');
  const write = (...all: readonly object[]): void =>
    writeFileSync(file, JSON.stringify({ checks: all }));
  write(...checks, slow);
  const cli = startCli(['agent'], {
    CHECKS_FILE: file,
    AGENT_HEALTH_PORT: '0',
    SHUTDOWN_GRACE_SECONDS: '1',
    LOG_LEVEL: 'info',
  });
  // Reads from the beginning: trying each position would delay the target’s connections.
  const lines = (count: number): RegExp => new RegExp(`^(?:[^\\n]*\\n){${count}}`);
  await cli.seen('stdout', lines(CHECKS));

  const added = { ...OFTEN, id: 'added', request: { hostname: '127.0.0.1', port: target.port } };
  const [, ...kept] = checks;
  write(...kept, slow, added);
  await cli.seen('stderr', /checks loaded[\s\S]*checks loaded/);
  cli.child.kill('SIGSTOP');
  // A stopped process gives no event to wait for, so the target's clock is used.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  cli.child.kill('SIGCONT');
  await cli.seen('stdout', lines(2 * CHECKS));
  await cli.seen('stdout', /"checkId":"added"/);
  cli.child.kill('SIGTERM');
  const { code, stdout } = await cli.ended;

  expect(code).toBe(0);
  const account = accountOf(stdout);
  expect(new Set(account.keys())).toEqual(new Set([...checks, slow, added].map(({ id }) => id)));
  for (const [id, slots] of account) {
    const { periodMs, phaseMs } = slotRuleOf(id, 0, 10);
    const instants = [...slots.keys()].sort((one, other) => one - other);
    // No gap between the first and the last, each on the check's own schedule, none twice.
    expect(instants.map((slotMs) => (slotMs - phaseMs) % periodMs)).toEqual(instants.map(() => 0));
    const [first = 0] = instants;
    expect(instants).toEqual(instants.map((_, n) => first + n * periodMs));
    expect([...slots.values()].every((times) => times === 1)).toBe(true);
  }
  const failed = stdout.split('\n').filter((line) => line.includes('"hasFailures":true'));
  expect(failed.filter((line) => !line.includes('"checkId":"slow"'))).toEqual([]);
  expect(stdout).toContain('"reason":"agent_stopped"');
}, 90_000);
