import { describe, expect, it } from 'vitest';
import { type RequestProblem, ServiceError } from '../../../../src/service/errors.ts';
import { readReport } from '../../../../src/service/test-sessions/read-report.ts';

const RUN = { checkId: 'a', slot: 1, lastSlot: 1, count: 1, reason: 'agent_busy' };

/** What was read, or the paths of the problems, with the number of yields. */
async function turnsOf(report: Parameters<typeof readReport>[0]): Promise<{
  readonly missed: readonly unknown[] | null;
  readonly wrong: readonly string[];
  readonly turns: number;
}> {
  let turns = 0;
  const turn = async (): Promise<void> => {
    turns += 1;
  };
  try {
    const { missed } = await readReport(report, turn);
    return { missed, wrong: [], turns };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const problems = error.attributes.problems as readonly RequestProblem[];
    return { missed: null, wrong: problems.map(({ path }) => path), turns };
  }
}

describe('a report', () => {
  it('yields to the event loop after each missed run', async () => {
    const missed = Array.from({ length: 10_000 }, () => RUN);
    expect(await turnsOf({ results: [], missed })).toEqual({ missed, wrong: [], turns: 10_000 });
  });

  it('is read until the twentieth invalid record', async () => {
    const missed = [RUN, ...Array.from({ length: 9_999 }, () => ({ ...RUN, count: 0 }))];
    const { wrong, turns } = await turnsOf({ results: [], missed });
    expect(wrong).toEqual(Array.from({ length: 20 }, (_, n) => `body.missed[${n + 1}].count`));
    expect(turns).toBe(20);
  });

  it('names the problems of results and of missed runs', async () => {
    const missed = [{ ...RUN, more: 1 }, RUN, { ...RUN, reason: 'a b' }];
    const { wrong } = await turnsOf({ results: [7], missed });
    expect(wrong).toEqual(['body.results[0]', 'body.missed[0].more', 'body.missed[2].reason']);
  });
});
