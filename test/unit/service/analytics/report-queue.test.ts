import { describe, expect, it } from 'vitest';
import { ReportQueue } from '../../../../src/service/analytics/report-queue.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';

function reports(atOnce: number, rests = false) {
  const clock = new FakeClock();
  const queue = new ReportQueue({ clock, atOnce, rests });
  const running: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  /** A report that runs until its `end`. */
  const ask = (name: string): Promise<string> =>
    queue.run(name.slice(0, 1), () => {
      running.push(name);
      return new Promise<string>((resolve, reject) => {
        ends.set(name, (error) => (error === undefined ? resolve(name) : reject(error)));
      });
    });
  const end = async (name: string, error?: Error): Promise<void> => {
    ends.get(name)?.(error);
    await settle();
  };
  return { clock, running, ask, end };
}

describe('the queue of reports', () => {
  it('runs some reports at once, and one of each account', async () => {
    const { running, ask, end } = reports(2);
    const all = ['a1', 'a2', 'a3', 'b1', 'c1'].map(ask);
    await settle();
    expect(running).toEqual(['a1', 'b1']);
    await end('b1');
    expect(running).toEqual(['a1', 'b1', 'c1']);
    await end('a1');
    expect(running).toEqual(['a1', 'b1', 'c1', 'a2']);
    await end('c1');
    expect(running).toHaveLength(4);
    await end('a2');
    await end('a3');
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1']);
  });

  it('continues after a failed report', async () => {
    const { running, ask, end } = reports(1);
    const failed = expect(ask('a1')).rejects.toThrow('away');
    const next = ask('a2');
    await settle();
    await end('a1', new Error('away'));
    await failed;
    expect(running).toEqual(['a1', 'a2']);
    await end('a2');
    await next;
  });

  it('rests for as long as a report took, where configured', async () => {
    const { clock, running, ask, end } = reports(1, true);
    const all = [ask('a1'), ask('b1'), ask('c1')];
    await settle();
    clock.spend(3_000);
    await end('a1');
    expect(await all[0]).toBe('a1');
    await clock.advance(2_999);
    expect(running).toEqual(['a1']);
    await clock.advance(1);
    expect(running).toEqual(['a1', 'b1']);
    clock.spend(49);
    await end('b1');
    expect(running).toEqual(['a1', 'b1', 'c1']);
    await end('c1');
    await Promise.all(all);
    expect(clock.pendingTimers).toBe(0);
  });

  it('refuses reports of an account with too many waiting', async () => {
    const { ask, end } = reports(1);
    const names = Array.from({ length: 31 }, (_, n) => `a${n}`);
    const all = names.map(ask);
    await expect(ask('a31')).rejects.toMatchObject({ status: 503 });
    const other = ask('b1');
    await settle();
    for (const name of [...names, 'b1']) await end(name);
    await Promise.all([...all, other]);
  });
});
