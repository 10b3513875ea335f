import { describe, expect, it } from 'vitest';
import type { Child, ChildEnd } from '../../../../src/cli/up/child.ts';
import { Supervisor } from '../../../../src/cli/up/supervisor.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const KILLED: ChildEnd = { code: null, signal: 'SIGKILL', lastWords: null };

/** A process as the supervisor sees it. The test ends it. */
function started() {
  let end: (end: ChildEnd) => void = () => {};
  let listen: (port: number) => void = () => {};
  const asked: string[] = [];
  const ended = new Promise<ChildEnd>((resolve) => {
    end = resolve;
  });
  const listening = new Promise<{ readonly listening: number }>((resolve) => {
    listen = (port) => resolve({ listening: port });
  });
  const child = {
    ended,
    listening,
    stop: () => void asked.push('stop'),
    kill: () => void asked.push('kill'),
  } as unknown as Child;
  return { child, asked, end: (how: ChildEnd) => end(how), listen: (port: number) => listen(port) };
}

function supervised() {
  const clock = new FakeClock();
  const children: ReturnType<typeof started>[] = [];
  const ports: (number | null)[] = [];
  const restarts: number[] = [];
  const supervisor = new Supervisor({
    clock,
    start(port) {
      const next = started();
      children.push(next);
      ports.push(port);
      return next.child;
    },
    onRestart: (_end, delayMs) => void restarts.push(delayMs),
  });
  const newest = () => {
    const child = children.at(-1);
    if (child === undefined) throw new Error('nothing was started');
    return child;
  };
  /** Ends the newest process, and lets the supervisor notice. */
  const endNewest = async (how = KILLED): Promise<void> => {
    newest().end(how);
    await newest().child.ended;
  };
  return { clock, supervisor, children, ports, restarts, newest, endNewest };
}

describe('Supervisor', () => {
  it('reports a process that ended before the start was complete, and restarts nothing', async () => {
    const { clock, supervisor, children, restarts, endNewest } = supervised();
    const end: ChildEnd = { code: 2, signal: null, lastWords: 'port 1 is taken' };
    await endNewest(end);
    expect(await supervisor.failed).toBe(end);
    await clock.advance(120_000);
    expect([children.length, restarts]).toEqual([1, []]);
  });

  it('restarts a process on its port after 1, 2, … 30 s, and after 1 s again once it ran for long', async () => {
    const { clock, supervisor, children, ports, restarts, newest, endNewest } = supervised();
    newest().listen(8080);
    expect(await supervisor.listening).toEqual({ listening: 8080 });
    supervisor.keepRunning();
    for (const delayMs of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      const before = children.length;
      await endNewest();
      expect(restarts.at(-1)).toBe(delayMs);
      await clock.advance(delayMs - 1);
      expect(children).toHaveLength(before);
      await clock.advance(1);
      expect(children).toHaveLength(before + 1);
    }
    expect(ports).toEqual([null, ...Array.from({ length: 7 }, () => 8080)]);
    await clock.advance(60_000);
    await endNewest();
    expect(restarts.at(-1)).toBe(1000);
  });

  it('ends the running processes, and starts none after that', async () => {
    const { clock, supervisor, children, newest, endNewest } = supervised();
    supervisor.keepRunning();
    const ending = supervisor.end();
    expect(newest().asked).toEqual(['stop']);
    supervisor.kill();
    expect(newest().asked).toEqual(['stop', 'kill']);
    await endNewest();
    await ending;
    await clock.advance(120_000);
    expect(children).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends while it waits to start again', async () => {
    const { clock, supervisor, children, endNewest } = supervised();
    supervisor.keepRunning();
    await endNewest();
    await supervisor.end();
    expect(clock.pendingTimers).toBe(0);
    expect(children).toHaveLength(1);
  });
});
