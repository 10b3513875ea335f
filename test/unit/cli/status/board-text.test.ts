import { describe, expect, it } from 'vitest';
import { paletteFor } from '../../../../src/cli/print/colour.ts';
import { columnsOf } from '../../../../src/cli/print/columns.ts';
import { terminalSafe } from '../../../../src/cli/print/terminal-safe.ts';
import type { Board, ListedStatus } from '../../../../src/cli/status/board.ts';
import { boardLines, jsonLines, plainLines } from '../../../../src/cli/status/board-text.ts';

const NOW = new Date(2026, 0, 31, 12, 0, 0).getTime();
const ago = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();

function status(fields: Partial<ListedStatus>): ListedStatus {
  return {
    checkId: 'shop',
    name: 'The shop',
    checkType: 'URL',
    locations: ['office', 'cellar'],
    state: 'failing',
    since: ago(72),
    muted: false,
    mutedByGroup: false,
    inMaintenance: false,
    acknowledgement: null,
    unknownReason: null,
    hasErrors: false,
    lastRunLocation: 'office',
    lastResponseTime: 4_200,
    usualResponseTime: 300,
    lastError: {
      code: 'CONNECT_REFUSED',
      message: 'it refused the connection',
      location: 'cellar',
    },
    ...fields,
  };
}

const BOARD: Board = {
  counts: { failing: 1, degraded: 1, unknown: 13, passing: 4, paused: 0 },
  statuses: [
    status({}),
    status({ checkId: 'mail', name: 'mail', state: 'degraded', lastError: null, since: ago(3) }),
    status({ checkId: 'new', state: 'unknown', unknownReason: 'no_result', lastError: null }),
  ],
  isCut: false,
  silentLocations: [{ slug: 'attic', name: 'The attic', since: ago(30), checks: 12 }],
};
const pretty = (board: Board, width = 160, coloured = false) =>
  boardLines(board, { palette: paletteFor(coloured), width, nowMs: NOW });

describe('the board for people', () => {
  it('has the counts, and then what is wrong, since when, where and why', () => {
    expect(pretty(BOARD).map((line) => line.replaceAll(/ {2,}/g, ' | '))).toEqual([
      '1 failing, 1 degraded, 13 unknown, 4 passing',
      '',
      'FAIL | The shop (shop) | 10:48:00 (1 h 12 min) | cellar | CONNECT_REFUSED: it refused the connection',
      'SLOW | mail | 11:57:00 (3 min) | office | took 4200 ms, usually 300 ms',
      'UNKNOWN | The shop (new) | 10:48:00 (1 h 12 min) | office, cellar | no run has ended yet',
      'SILENT | The attic (attic) | 11:30:00 (30 min) | no agent polls: 12 checks do not run there',
    ]);
  });

  it('says that there are no checks, and that not all are listed', () => {
    const none = { failing: 0, degraded: 0, unknown: 0, passing: 0, paused: 0 };
    const empty = { counts: none, statuses: [], isCut: false, silentLocations: [] };
    expect(pretty(empty)).toEqual(['no checks']);
    expect(pretty({ ...BOARD, isCut: true }).at(-1)).toBe('only the first of them are listed');
  });

  it('distinguishes checks whose names begin alike in a terminal of 80 columns', () => {
    const statuses = ['https://shop.example/cart', 'https://shop.example/pay'].map((target, n) =>
      status({ checkId: `probes-${n}`, name: `blackbox-http: ${target}` }),
    );
    const lines = pretty({ ...BOARD, statuses, silentLocations: [] }, 79);
    expect(lines.filter((line) => line.startsWith('FAIL'))).toEqual([
      expect.stringContaining('https://shop.example/cart'),
      expect.stringContaining('https://shop.example/pay'),
    ]);
  });

  it('names the reason where no code and no message says it', () => {
    const why = (fields: Partial<ListedStatus>) =>
      pretty({ ...BOARD, statuses: [status(fields)], silentLocations: [] }).at(-1);
    expect(why({ lastError: null, checkType: 'HEARTBEAT' })).toMatch(/no ping came in time$/);
    expect(why({ lastError: null })).toMatch(/ it failed$/);
    const fresh = { state: 'unknown', unknownReason: 'no_result', lastError: null } as const;
    expect(why({ ...fresh, checkType: 'HEARTBEAT' })).toMatch(/ no ping has come yet$/);
    const answered = { code: null, message: 'status 500', location: 'office' };
    expect(why({ lastError: answered })).toMatch(/ {2}status 500$/);
    expect(why({ state: 'unknown', hasErrors: true })).toMatch(/because of a fault of the system$/);
    expect(why({ state: 'degraded', checkType: 'ICMP' })).toMatch(/too many echoes were lost$/);
  });

  it('says why nobody is notified of a check, and who has its alert', () => {
    const quiet = (fields: Partial<ListedStatus>) => {
      const board = { ...BOARD, statuses: [status(fields)], silentLocations: [] };
      const [, , , , , , , last] = plainLines(board)[0]?.split('\t') ?? [];
      return [
        pretty(board)
          .at(-1)
          ?.match(/\[.*\] CONNECT_REFUSED: /)?.[0],
        last,
      ];
    };
    expect(quiet({})).toEqual([undefined, '']);
    expect(quiet({ muted: true })).toEqual(['[muted] CONNECT_REFUSED: ', 'muted']);
    expect(quiet({ muted: true, mutedByGroup: true })).toEqual([
      '[muted] CONNECT_REFUSED: ',
      'muted',
    ]);
    const acknowledgement = { by: { name: 'ann@e.test' } };
    expect(quiet({ mutedByGroup: true, inMaintenance: true, acknowledgement })).toEqual([
      '[muted by its group, in maintenance, acknowledged by ann@e.test] CONNECT_REFUSED: ',
      'muted by its group; in maintenance; acknowledged by ann@e.test',
    ]);
  });

  it.each([20, 50, 79, 120])('fits into %i columns', (width) => {
    const longest = status({ name: '東京'.repeat(40), since: ago(9_999_999) });
    const lines = pretty({ ...BOARD, statuses: [longest, ...BOARD.statuses] }, width);
    expect(Math.max(...lines.map(columnsOf))).toBeLessThanOrEqual(width);
  });

  it('colours the states where colours are wanted', () => {
    expect(pretty(BOARD, 160, true)[2]).toContain('\u001b[31mFAIL\u001b[39m');
  });
});

describe('the board for programs', () => {
  it('is one line of fields for each entry', () => {
    expect(plainLines(BOARD).map((line) => line.split('\t'))).toEqual([
      [
        ...['failing', 'shop', ago(72), 'cellar', 'CONNECT_REFUSED'],
        ...['it refused the connection', 'The shop', ''],
      ],
      ['degraded', 'mail', ago(3), 'office', '', 'took 4200 ms, usually 300 ms', 'mail', ''],
      [
        ...['unknown', 'new', ago(72), 'office,cellar', 'no_result', 'no run has ended yet'],
        ...['The shop', ''],
      ],
      [
        ...['silent', 'attic', ago(30), 'attic', 'location_silent'],
        ...['no agent polls: 12 checks do not run there', 'The attic', ''],
      ],
    ]);
  });

  it('is one object of JSON for each entry, after the counts', () => {
    expect(jsonLines(BOARD).map((line) => JSON.parse(line) as unknown)).toEqual([
      { counts: BOARD.counts },
      ...BOARD.statuses,
      { silentLocation: BOARD.silentLocations[0] },
    ]);
  });
});

it('lets no text of a target or a user steer the terminal or add fields', () => {
  const evil = 'a\u001b[2J\tb\nc\u202e';
  const bad = status({
    name: evil,
    locations: [evil],
    lastError: { code: evil, message: evil, location: evil },
    acknowledgement: { by: { name: evil } },
  });
  const board = { ...BOARD, statuses: [bad], silentLocations: [] };
  for (const line of [...pretty(board), ...jsonLines(board)]) {
    expect(terminalSafe(line, 10_000)).toBe(line);
  }
  expect(plainLines(board).map((line) => line.split('\t').length)).toEqual([8]);
});
