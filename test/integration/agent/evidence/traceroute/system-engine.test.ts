import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine, EngineRun } from '../../../../../src/agent/evidence/traceroute/engine.ts';
import { findSystemEngine } from '../../../../../src/agent/evidence/traceroute/system-engine.ts';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { makeTempFolder } from '../../../../support/process/temp-folder.ts';

const TARGET = '192.0.2.9';
const TWO_HOPS = String.raw`printf ' 1  10.0.0.1  1.000 ms  2.000 ms *\n 2  10.0.1.1  3.000 ms'`;

/** Programs of that name that misbehave after their trial on the loopback. */
describe('the program traceroute', () => {
  let folder: ReturnType<typeof makeTempFolder>;
  beforeEach(() => {
    folder = makeTempFolder();
  });
  afterEach(() => {
    folder.remove();
  });

  function install(script: string): void {
    const trial = 'case "$*" in *127.0.0.1) exit 0;; esac';
    installAsIs(`${trial}\n${script}`);
  }

  function installAsIs(script: string): void {
    writeFileSync(folder.file('traceroute'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  async function engineOf(clock = systemClock): Promise<Engine> {
    const found = await findSystemEngine({ clock, folders: [folder.path] });
    if (!found.ok) throw new Error(found.reason);
    return found.engine;
  }

  async function run(signal = new AbortController().signal): Promise<EngineRun> {
    const engine = await engineOf();
    const deadlineMs = systemClock.monotonicMs() + 60_000;
    return await engine.run(TARGET, 4, { signal, deadlineMs });
  }

  it('is missing if no folder has it', async () => {
    const found = await findSystemEngine({ clock: systemClock, folders: [folder.path] });
    expect(found).toEqual({ ok: false, reason: 'it is not installed' });
  });

  it('that does not know the options is reported with its first line', async () => {
    installAsIs(String.raw`printf '\n\033[1mBad option -N\nusage: …\n' >&2; exit 2`);
    const found = await findSystemEngine({ clock: systemClock, folders: [folder.path] });
    expect(found).toEqual({
      ok: false,
      reason: `${folder.file('traceroute')}: ?[1mBad option -N`,
    });
  });

  it('that cannot be started is reported with the reason', async () => {
    writeFileSync(folder.file('traceroute'), '#!/no/such/shell\n', { mode: 0o755 });
    const found = await findSystemEngine({ clock: systemClock, folders: [folder.path] });
    expect(found).toMatchObject({ ok: false, reason: expect.stringContaining('ENOENT') });
  });

  it('that does not end in its trial is ended', async () => {
    installAsIs(`trap '' INT TERM; echo $$ > ${folder.file('pid')}; exec sleep 1000`);
    const clock = new FakeClock();
    const finding = findSystemEngine({ clock, folders: [folder.path] });
    await eventually(() => pidOf(folder.file('pid')) !== null);
    await clock.advance(3000);
    expect(await finding).toEqual({
      ok: false,
      reason: `${folder.file('traceroute')} does not end`,
    });
    expect(isAlive(pidOf(folder.file('pid')))).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });

  it('gets fixed arguments, the address last, and a minimal environment', async () => {
    install(`printf '%s\\n' "$@" > ${folder.file('args')}; env > ${folder.file('env')}`);
    await run();
    expect(readFileSync(folder.file('args'), 'utf8').split('\n')).toEqual([
      ...['-4', '-n', '-q', '3', '-m', '30', '-N', '90', '-w', '4.000', '-z', '15', TARGET, ''],
    ]);
    const names = readFileSync(folder.file('env'), 'utf8').matchAll(/^(\w+)=/gm);
    expect([...names].map(([, name]) => name)).not.toContain('HOME');
  });

  it('that fails without a hop is reported with its message', async () => {
    install(`echo 'connect: Network is unreachable' >&2; exit 1`);
    const note = 'the program traceroute failed: connect: Network is unreachable';
    expect(await run()).toEqual({ ok: false, note });
  });

  it('that dies leaves the hops that it had printed', async () => {
    install(`${TWO_HOPS}; kill -9 $$`);
    expect(await run()).toEqual({ ok: true, observed: { ended: 'stopped', hops: twoHops() } });
  });

  it('is ended at the time limit, with the hops so far', async () => {
    install(`${TWO_HOPS}; echo $$ > ${folder.file('pid')}; exec sleep 1000`);
    const clock = new FakeClock();
    const engine = await engineOf(clock);
    const { signal } = new AbortController();
    const running = engine.run(TARGET, 4, { signal, deadlineMs: clock.monotonicMs() + 9000 });
    await eventually(() => pidOf(folder.file('pid')) !== null);
    await clock.advance(9000);
    expect(await running).toEqual({
      ok: true,
      observed: { ended: 'time limit', hops: twoHops() },
    });
    expect(isAlive(pidOf(folder.file('pid')))).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is ended by the signal, however much it prints', async () => {
    install(`echo $$ > ${folder.file('pid')}; exec yes ' 1  10.0.0.1  1.000 ms'`);
    const stop = new AbortController();
    const running = run(stop.signal);
    await eventually(() => pidOf(folder.file('pid')) !== null);
    stop.abort();
    expect(await running).toMatchObject({ ok: true, observed: { ended: 'stopped' } });
    expect(isAlive(pidOf(folder.file('pid')))).toBe(false);
  });

  it('is not started for a signal that has aborted', async () => {
    install(`exec sleep 1000`);
    expect(await run(AbortSignal.abort())).toMatchObject({
      ok: true,
      observed: { ended: 'stopped', hops: [] },
    });
  });

  it('is not waited for if another process has its outputs', async () => {
    install(`sleep 1000 & echo $! > ${folder.file('pid')}; ${TWO_HOPS}`);
    const clock = new FakeClock();
    const engine = await engineOf(clock);
    const { signal } = new AbortController();
    const running = engine.run(TARGET, 4, { signal, deadlineMs: clock.monotonicMs() + 9000 });
    await eventually(() => pidOf(folder.file('pid')) !== null);
    await eventually(() => (clock.nextTimerInMs ?? 9000) <= 500);
    await clock.advance(500);
    process.kill(pidOf(folder.file('pid')) ?? Number.NaN, 'SIGKILL');
    expect(await running).toMatchObject({ ok: true, observed: { ended: 'complete' } });
  });
});

function twoHops(): unknown {
  const answer = (address: string, rttMs: number) => ({ address, rttMs, meaning: 'on the way' });
  return [[answer('10.0.0.1', 1), answer('10.0.0.1', 2), null], [answer('10.0.1.1', 3)]];
}

/** null if the program has not written it completely. */
function pidOf(file: string): number | null {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return text.endsWith('\n') ? Number(text) : null;
}

function isAlive(pid: number | null): boolean {
  return existsSync(`/proc/${pid}`);
}
