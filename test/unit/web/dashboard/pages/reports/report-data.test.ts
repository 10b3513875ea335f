import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { errorOf } from '../../../../../../src/web/dashboard/api/errors.ts';
import {
  type ReadPart,
  ReportData,
  type ReportPart,
} from '../../../../../../src/web/dashboard/pages/reports/report-data.ts';
import {
  fileName,
  progressText,
  waitText,
} from '../../../../../../src/web/dashboard/pages/reports/report-progress.ts';

const WINDOW = { from: '2026-11-01T12:00:00.000Z', to: '2026-11-08T12:59:50.000Z' };

type Summary = ReportPart['entries'][number];

/** The parts of 100 checks, with the numbers from `first` on. */
function part(first: number, length = 100, total = 150): ReportPart {
  const entries = Array.from({ length }, (_, index): Summary => {
    const checkId = `check-${first + index}`;
    const counts = { runs: 1, failures: 0, degraded: 0, availability: 100 };
    const about = { activated: true, muted: false, tags: [], groupId: null };
    const times = { responseTime: null, packetLoss: null, phases: {} };
    return { checkId, name: checkId, checkType: 'URL', ...about, ...counts, ...times, ...WINDOW };
  });
  return { entries, total, isAtLeast: false };
}

const failure = (status: number, headers: Readonly<Record<string, string>> = {}) =>
  errorOf(new Response(null, { status, headers }), null);

/** Reads what is given, one after the other, and throws what is an error. */
function reading(...answers: readonly (ReportPart | Error)[]) {
  const queries: Parameters<ReadPart>[0][] = [];
  const readPart: ReadPart = async (query) => {
    const answer = answers[queries.length];
    queries.push(query);
    if (answer === undefined || answer instanceof Error) throw answer;
    return answer;
  };
  return { data: new ReportData(readPart, {}, { quickRange: 'last7Days' }), queries };
}

describe('the data of the report page', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('have the window of the first part, and each check once', async () => {
    const { data, queries } = reading(part(0), part(99, 51));
    data.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(data.rows.value).toHaveLength(150);
    expect(data.isReading.value).toBe(false);
    const { from, to } = WINDOW;
    expect(queries).toEqual([
      { quickRange: 'last7Days', limit: 100, page: 1 },
      {
        quickRange: 'last7Days',
        from: Date.parse(from),
        to: Date.parse(to),
        limit: 100,
        page: 2,
      },
    ]);
  });

  it('wait as long as the API asks when the reports of a minute are used up, and say so', async () => {
    const { data, queries } = reading(failure(429, { 'retry-after': '40' }), part(0, 1, 1));
    data.start();
    await vi.advanceTimersByTimeAsync(39_999);
    expect(data.waitsMs.value).toBe(40_000);
    expect(queries).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(data.waitsMs.value).toBeNull();
    expect(data.rows.value).toHaveLength(1);
  });

  it('do not count against the limit for a filter that is changed at once', async () => {
    const { data, queries } = reading(part(0, 1, 1));
    const end = data.start(1_000);
    await vi.advanceTimersByTimeAsync(999);
    end();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(queries).toEqual([]);
  });

  it('keep what was read before an error', async () => {
    const { data } = reading(part(0), failure(503));
    data.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(data.rows.value).toHaveLength(100);
    expect(data.error.value?.status).toBe(503);
    expect(data.isReading.value).toBe(false);
  });
});

describe('the words of a report that is read', () => {
  it.each([
    [{ read: 1, total: 1 }, '1 check', ''],
    [{ read: 400, total: 900 }, '400 of 900 checks were read', '-first-400-of-900'],
    [{ read: 400, total: 900, isReading: true }, '400 of 900 checks', '-first-400-of-900'],
    [
      { read: 2_000, total: 10_000, isAtLeast: true },
      '2,000 of more than 10,000 checks, the first by name: use a filter for others',
      '-first-2000-of-more-than-10000',
    ],
  ])('of %j are: %s', (given, text, name) => {
    const progress = { isAtLeast: false, isReading: false, ...given };
    expect(progressText(progress)).toBe(text);
    expect(fileName('2026-11-08', progress)).toBe(`vedette-report-2026-11-08${name}.csv`);
  });

  it('say for how long it waits', () => {
    expect(waitText(39_001)).toMatch(/within 40 s\.$/);
  });
});
