import { describe, expect, it } from 'vitest';
import { idsOf, openTestSpool, recordFor } from '../../../support/agent/spool.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const frame = 40;

describe('the spool without DATA_DIR', () => {
  it('logs once that results are lost when the agent ends', async () => {
    const { records, spool } = await openTestSpool({ dataDir: null });
    spool.put(recordFor('a'));
    const warnings = records().filter(({ level }) => level === 'warn');
    expect(warnings.map(({ msg }) => msg)).toEqual([expect.stringContaining('DATA_DIR')]);
    expect(spool.state).toBe('memory');
  });

  it('drops spare records first, then the oldest, and counts each by kind', async () => {
    const { spool, dropped } = await openTestSpool({
      dataDir: null,
      maxMemoryBytes: (100 + frame + 1) * 3,
    });
    for (const [id, kind] of [
      ['1', 'result'],
      ['2', 'attempt'],
      ['3', 'missed'],
      ['4', 'artifact-note'],
      ['5', 'result'],
      ['6', 'result'],
    ] as const) {
      spool.put(recordFor(id, { kind }));
    }
    expect(await idsOf(spool)).toEqual(['3', '5', '6']);
    expect(dropped.map(({ kind }) => kind)).toEqual(['attempt', 'artifact-note', 'result']);
    expect(spool.dropped).toEqual({ attempt: 1, 'artifact-note': 1, result: 1, missed: 0 });
  });

  it('refuses and counts a record larger than its bound', async () => {
    const { spool, dropped } = await openTestSpool({ dataDir: null, maxMemoryBytes: 1000 });
    spool.put(recordFor('small'));
    spool.put(recordFor('large', { bytes: 1000 }));
    expect(await idsOf(spool)).toEqual(['small']);
    expect(dropped).toEqual([{ kind: 'result', count: 1, reason: 'space' }]);
  });

  it('drops records that waited too long, by a monotonic clock', async () => {
    const clock = new FakeClock();
    const { spool, dropped } = await openTestSpool({ dataDir: null, maxAgeMs: 1000 }, clock);
    spool.put(recordFor('a'));
    clock.stepWall(10 * 24 * 3_600_000);
    expect(await idsOf(spool)).toEqual(['a']);
    await clock.advance(600);
    spool.put(recordFor('b'));
    expect(spool.oldestAgeMs).toBe(600);
    await clock.advance(600);
    expect(await idsOf(spool)).toEqual(['b']);
    expect(dropped).toEqual([{ kind: 'result', count: 1, reason: 'age' }]);
    clock.suspend(1000);
    expect(await idsOf(spool)).toEqual([]);
    expect(spool.oldestAgeMs).toBeNull();
  });
});
