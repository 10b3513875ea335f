import { describe, expect, it } from 'vitest';
import { columnsOf } from '../../../../src/cli/print/columns.ts';
import { allPassed } from '../../../../src/cli/run/run-outcome.ts';
import { RunPrinter } from '../../../../src/cli/run/run-printer.ts';
import { memoryTerminal } from '../../../support/agent/memory-terminal.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { HTTP_DETAIL, resultOf } from '../../../support/samples/http-results.ts';

const MISSED = { checkId: 'a', slot: 0, lastSlot: 0, count: 1, reason: 'agent_starved' } as const;

const checks = (count: number) =>
  Array.from({ length: count }, (_, n) => checkOf('URL', { id: `check-${n}` }));

/** Words that are wider than any terminal of these tests. */
const LONG_WORDS = [
  ['Latin', 'x'.repeat(250)],
  ['wide', '東京'.repeat(75)],
] as const;

/** Prints a result, missed slots, skipped checks and a summary, with `word` in names and errors. */
function printLong(word: string, extras: { isTTY?: boolean; columns?: number }): string {
  const { terminal, stdout } = memoryTerminal(extras);
  const printer = new RunPrinter(terminal, 'pretty', [checkOf('URL', { id: 'a', name: word })]);
  printer.skipped({ selected: [], skipped: [checkOf('URL', { id: word })] });
  const requestError = `${word} refused the connection`;
  const refused = { response: null, requestError, requestErrorCode: 'CONNECT_REFUSED' } as const;
  const apiCheckResult = { ...HTTP_DETAIL, ...refused };
  printer.result(resultOf({ name: word, hasFailures: true, apiCheckResult }));
  printer.missed(MISSED);
  for (const fields of [{}, { isDegraded: true }, { hasErrors: true }, { isCancelled: true }]) {
    printer.result(resultOf(fields));
  }
  printer.summary();
  return stdout();
}

describe('RunPrinter', () => {
  describe.each(LONG_WORDS)('with a long word of %s characters', (_script, word) => {
    it.each([40, 80, 200])('has no line longer than a terminal of %i columns', (columns) => {
      const text = printLong(word, { isTTY: true, columns });
      const widths = text.split('\n').map(columnsOf);
      expect(Math.max(...widths)).toBeLessThan(columns);
      // The name is cut, not what follows it, and the error is whole.
      expect(text).toMatch(/^FAIL .*… {2}URL {2}11\.8 ms$/m);
      expect(text.replaceAll(/\s+/g, '')).toContain(`${word}refusedtheconnection`);
    });

    it('cuts nothing in a pipe', () => {
      const text = printLong(word, { columns: 40 });
      expect(text.split('\n').filter((line) => line.includes(word))).toHaveLength(4);
      expect(text).toContain(`: ${word} refused the connection\n`);
      expect(text).toContain(`not activated: ${word} (run one with --check ID)\n`);
      expect(text).not.toContain('…');
    });
  });

  it('says how many passed', () => {
    const { terminal, stdout } = memoryTerminal();
    const printer = new RunPrinter(terminal, 'pretty', checks(3));
    printer.result(resultOf());
    printer.result(resultOf({ isDegraded: true }));
    printer.result(resultOf({ resultType: 'ATTEMPT', hasFailures: true }));
    printer.result(resultOf({ attempts: 1 }));
    printer.summary();
    expect(allPassed(printer.counts)).toBe(true);
    expect(stdout()).toMatch(/\n\n3 checks in 0\.00 ms: 2 passed, 1 slow\n$/);
  });

  it.each([
    ['failed', { hasFailures: true }],
    ['could not be run', { hasErrors: true }],
    ['stopped', { isCancelled: true }],
  ])('counts a check as %s, not as passed', (words, fields) => {
    const { terminal, stdout } = memoryTerminal();
    const printer = new RunPrinter(terminal, 'pretty', checks(1));
    printer.result(resultOf(fields));
    printer.summary();
    expect(allPassed(printer.counts)).toBe(false);
    expect(stdout()).toContain(`0 passed, 1 ${words}\n`);
  });

  it('does not count a check whose run was missed as passed', () => {
    const { terminal, stdout } = memoryTerminal();
    const printer = new RunPrinter(terminal, 'pretty', checks(1));
    printer.missed(MISSED);
    printer.summary();
    expect(allPassed(printer.counts)).toBe(false);
    expect(stdout()).toMatch(/^MISSED {2}a {2}slot \d\d:\d\d:\d\d: .* \(agent_starved\)\n/);
    expect(stdout()).toContain('0 passed, 1 missed\n');
  });

  it('knows the names and the thresholds of its checks', () => {
    const { terminal, stdout } = memoryTerminal();
    const check = checkOf('URL', { id: 'shop', name: 'The shop', degradedResponseTime: 10 });
    const printer = new RunPrinter(terminal, 'pretty', [check]);
    printer.result(resultOf({ isDegraded: true }));
    printer.missed({ ...MISSED, checkId: 'shop' });
    expect(stdout()).toContain('\n        12 ms, over 10 ms: degraded\n');
    expect(stdout()).toContain('MISSED  The shop (shop)  slot ');
  });

  it('writes nothing but JSON to stdout where JSON is asked for', () => {
    const { terminal, stdout, stderr } = memoryTerminal();
    const printer = new RunPrinter(terminal, 'json', checks(1));
    const check = checkOf('URL', { id: 'off' });
    printer.skipped({ selected: [], skipped: [check] });
    printer.started(check);
    printer.result(resultOf());
    printer.missed(MISSED);
    printer.summary();
    const objects: unknown[] = stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(objects).toEqual([resultOf(), { missed: MISSED }]);
    expect(stderr()).toBe('SKIPPED not activated: off (run one with --check ID)\n');
  });

  it('shows its progress on a terminal, on one line that fits, and clears it in the end', () => {
    const { terminal, stderr } = memoryTerminal({ isTTY: true, columns: 40 });
    const printer = new RunPrinter(terminal, 'pretty', checks(2));
    printer.started(checkOf('URL', { id: 'shop', name: 'Shop \u001b[2J with a long name' }));
    const line = stderr().split('\r\u001b[K').at(-1) ?? '';
    expect(line).toMatch(/^0 of 2 checks done; running: Shop/);
    expect(line.length).toBeLessThan(40);
    expect(line).not.toContain('\u001b');
    printer.result(resultOf());
    printer.summary();
    expect(stderr().endsWith('1 of 2 checks done\r\u001b[K')).toBe(true);
  });

  it.each([
    [0, 80],
    [30, 30],
    [7, 7],
  ])('shows no more progress than fits into a terminal of %i columns', (columns, room) => {
    const { terminal, stderr } = memoryTerminal({ isTTY: true, columns });
    const printer = new RunPrinter(terminal, 'pretty', checks(2));
    // Each of these takes two columns.
    for (const id of ['a', 'b', 'c'])
      printer.started(checkOf('URL', { id, name: '東京'.repeat(9) }));
    const line = stderr().split('\r\u001b[K').at(-1) ?? '';
    const wide = [...line].filter((char) => char > '\u2fff').length;
    expect(line.length + wide).toBeLessThan(room);
    expect(line.length).toBeGreaterThan(room === 80 ? 50 : 5);
  });

  it('writes JSON that cannot steer a terminal, and means the same', () => {
    const { terminal, stdout } = memoryTerminal();
    const name = 'a\u001b[2J\u009b2J\u007f\u202e\ufeff';
    new RunPrinter(terminal, 'json', checks(1)).result(resultOf({ name }));
    expect(stdout()).toContain('"name":"a\\u001b[2J\\u009b2J\\u007f\\u202e\\ufeff"');
    expect(JSON.parse(stdout())).toEqual(resultOf({ name }));
  });

  it('shows no progress on a terminal that cannot clear a line', () => {
    const { terminal, stderr } = memoryTerminal({ isTTY: true });
    new RunPrinter({ ...terminal, env: { TERM: 'dumb' } }, 'pretty', checks(1)).started(
      checkOf('URL'),
    );
    expect(stderr()).toBe('');
  });

  it('shows no progress where there is no terminal', () => {
    const { terminal, stderr } = memoryTerminal();
    const printer = new RunPrinter(terminal, 'pretty', checks(1));
    printer.started(checkOf('URL'));
    printer.result(resultOf());
    printer.summary();
    expect(stderr()).toBe('');
  });
});
