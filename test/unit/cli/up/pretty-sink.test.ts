import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { paletteFor } from '../../../../src/cli/print/colour.ts';
import { columnsOf } from '../../../../src/cli/print/columns.ts';
import { PrettySink } from '../../../../src/cli/up/pretty-sink.ts';
import { memoryTerminal } from '../../../support/agent/memory-terminal.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { resultOf } from '../../../support/samples/http-results.ts';

const never = new AbortController().signal;
const MISSED = { checkId: 'a', slot: 0, lastSlot: 0, count: 1, reason: 'agent_busy' } as const;

function sinkTo(stdout: PassThrough) {
  const { terminal } = memoryTerminal();
  const dropped = { attempt: 0, result: 0, missed: 0 };
  let closed = 0;
  const sink = new PrettySink(
    { ...terminal, stdout },
    {
      palette: paletteFor(false),
      checkOf: (id) => (id === 'a' ? checkOf('URL', { id, name: 'Shop A' }) : undefined),
      onDropped: (kind, count) => {
        dropped[kind] += count;
      },
      onClosed: () => {
        closed += 1;
      },
    },
  );
  return { sink, dropped, closed: () => closed };
}

describe('PrettySink', () => {
  it('prints results and missed slots with the time of day', async () => {
    const stdout = new PassThrough();
    const { sink } = sinkTo(stdout);
    const reading = text(stdout);
    sink.result(resultOf());
    sink.missed(MISSED);
    await sink.flush(never);
    stdout.end();
    expect(await reading).toMatch(
      /^\d\d:\d\d:\d\d PASS {4}Shop .*\n\d\d:\d\d:\d\d MISSED {2}Shop A \(a\) {2}slot .*\n$/,
    );
  });

  it('prints lines that fit into a terminal, the time included', () => {
    const { terminal, stdout } = memoryTerminal({ isTTY: true, columns: 60 });
    const options = { checkOf: () => undefined, onDropped: () => {}, onClosed: () => {} };
    const sink = new PrettySink(terminal, { palette: paletteFor(false), ...options });
    sink.result(resultOf());
    sink.missed(MISSED);
    const lines = stdout().split('\n');
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d PASS {4}Shop .* 11\.8 ms$/);
    expect(lines[1]).toMatch(/^\d\d:\d\d:\d\d MISSED {2}a {2}slot .*…$/);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(60);
  });

  it.each([
    [40, 'Latin', 'x'.repeat(250)],
    [80, 'Latin', 'x'.repeat(250)],
    [200, 'Latin', 'x'.repeat(250)],
    [40, 'wide', '東京'.repeat(75)],
    [80, 'wide', '東京'.repeat(75)],
    [200, 'wide', '東京'.repeat(75)],
  ])(
    'prints long names so that they fit into a terminal of %i columns, and whole in a pipe: %s',
    (columns, _script, name) => {
      const printed = (extras: { isTTY?: boolean; columns: number }): string => {
        const { terminal, stdout } = memoryTerminal(extras);
        const checkNamed = () => checkOf('URL', { id: 'a', name });
        const options = { checkOf: checkNamed, onDropped: () => {}, onClosed: () => {} };
        const sink = new PrettySink(terminal, { palette: paletteFor(false), ...options });
        sink.result(resultOf({ name }));
        sink.missed(MISSED);
        const channel = { type: 'WEBHOOK', name } as const;
        const sent = { channel, headline: 'Shop has failed', others: 0, isRetried: false };
        sink.attempt({ ...sent, error: null });
        sink.note('25 checks have run once: 20 passed, 2 degraded, 3 failed');
        return stdout();
      };
      const shown = printed({ isTTY: true, columns });
      expect(Math.max(...shown.split('\n').map(columnsOf))).toBeLessThan(columns);
      expect(shown).toMatch(/ PASS .*… {2}U/);
      expect(shown.replaceAll(/\s+/g, ' ')).toContain('2 degraded, 3 failed');
      const piped = printed({ columns });
      expect(piped.split('\n').filter((line) => line.includes(name))).toHaveLength(3);
      expect(piped).not.toContain('…');
    },
  );

  it('buffers a bounded amount for a slow reader, and prints how many results it dropped', async () => {
    const stdout = new PassThrough();
    const { sink, dropped } = sinkTo(stdout);
    const long = resultOf({ name: 'x'.repeat(400) });
    while (dropped.result === 0) sink.result(long);
    sink.result(resultOf({ resultType: 'ATTEMPT' }));
    sink.missed(MISSED);
    expect(dropped).toEqual({ attempt: 1, result: 1, missed: 1 });
    expect(stdout.writableLength).toBeLessThan(2 * 1024 * 1024);

    const reading = text(stdout);
    await sink.flush(never);
    sink.result(resultOf());
    stdout.end();
    expect(await reading).toMatch(
      /\n3 results were left out: they were not read in time\n.* PASS .*\n$/,
    );
  });

  it('says when stdout is closed, and drops and counts what comes after', async () => {
    const stdout = new PassThrough();
    const { sink, dropped, closed } = sinkTo(stdout);
    stdout.destroy(new Error('EPIPE'));
    await new Promise((resolve) => stdout.once('close', resolve));
    expect(closed()).toBe(1);
    sink.result(resultOf());
    await sink.flush(never);
    expect(dropped.result).toBe(1);
  });

  it('ends a flush with its signal', async () => {
    const { sink } = sinkTo(new PassThrough({ highWaterMark: 1 }));
    for (let n = 0; n < 10; n += 1) sink.result(resultOf());
    const controller = new AbortController();
    const flushed = sink.flush(controller.signal);
    controller.abort();
    await flushed;
  });
});
