import { describe, expect, it } from 'vitest';
import { historyLines, plainHistory } from '../../../../src/cli/history/history-text.ts';
import type { History, ListedRun } from '../../../../src/cli/history/read-history.ts';
import { paletteFor } from '../../../../src/cli/print/colour.ts';
import { columnsOf } from '../../../../src/cli/print/columns.ts';
import { terminalSafe } from '../../../../src/cli/print/terminal-safe.ts';

const NOW = new Date(2026, 0, 31, 12, 0, 0).getTime();
const CHECK = { id: 'shop', name: 'The shop', checkType: 'URL' };

const run = (fields: Partial<ListedRun> = {}): ListedRun => ({
  slot: new Date(NOW - 60_000).toISOString(),
  number: 1,
  location: 'office',
  result: 'passed',
  responseTime: 12.34,
  errorCode: null,
  response: 'status 200',
  reason: null,
  ...fields,
});
const lines = (history: History, width = 120) =>
  historyLines(history, { palette: paletteFor(false), width, nowMs: NOW });

describe('the history of a check', () => {
  it('has a row for each run', () => {
    const entries = [run({ result: 'failed', reason: 'status 500', number: 3 }), run()];
    expect(lines({ kind: 'runs', check: CHECK, entries })).toEqual([
      'The shop (shop), URL',
      '',
      'FAIL  11:59:00  12.3 ms  office  3 attempts  status 500',
      'PASS  11:59:00  12.3 ms  office              status 200',
    ]);
  });

  it('says that there is nothing yet', () => {
    expect(lines({ kind: 'runs', check: CHECK, entries: [] }).at(-1)).toBe('no run has ended yet');
    expect(lines({ kind: 'pings', check: CHECK, entries: [] }).at(-1)).toBe('no ping yet');
  });

  it('has the pings of a heartbeat', () => {
    const timestamp = new Date(NOW).toISOString();
    const ping = { state: 'EARLY', timestamp, source: 'GET from 10.0.0.1', pings: 3 };
    const history: History = { kind: 'pings', check: CHECK, entries: [ping] };
    expect(lines(history).at(-1)).toBe('EARLY  12:00:00  3 pings  GET from 10.0.0.1');
    expect(plainHistory(history)).toEqual([`EARLY\t${timestamp}\t3\tGET from 10.0.0.1`]);
  });

  it('fits into the terminal, and cannot steer it', () => {
    const evil = `\u001b[2J\t\n${'東京'.repeat(50)}`;
    const entries = [run({ location: evil, reason: evil }), run()];
    const history: History = { kind: 'runs', check: { ...CHECK, name: evil }, entries };
    for (const width of [30, 80]) {
      const printed = lines(history, width);
      expect(Math.max(...printed.map(columnsOf))).toBeLessThanOrEqual(width);
      expect(printed.map((line) => terminalSafe(line, 10_000))).toEqual(printed);
    }
    expect(plainHistory(history).map((line) => line.split('\t').length)).toEqual([7, 7]);
  });
});
