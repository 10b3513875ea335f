import type { Measured, Part, Target } from '../part.ts';
import { quantile } from '../row.ts';
import { measureStarts } from '../schedule/measure.ts';
import type { Judged } from '../schedule/observed.ts';

const MIX = { minutely: 10_000, tenSecondly: 2_000, held: 200 };

/** Whether checks start when they are due, and what a busy agent reports about its targets. */
export const schedulePart: Part = {
  name: 'schedule',
  method:
    'One agent process with 10,000 checks every minute and 2,000 every 10 s (367 runs/s: API, URL, TCP and some DNS checks, each against a separate address in 127.0.0.0/8). The start of a run is the `startedAt` of its result, rounded up to the millisecond; the time at which the target, in a separate process, accepts the connection must confirm it. Missed: slots of the window, by the rule of each check, that have no run or more than one. firstByte: 200 of the checks use a server that delays each response by 50 ms and reports how long it really delayed it.',
  programs: [],
  async run(context) {
    const rounds: Judged[] = [];
    for (let round = 0; round < context.rounds; round += 1) {
      context.progress(`12,000 checks, round ${round + 1} of ${context.rounds}`);
      rounds.push(await measureStarts(context, { mix: MIX, hanging: 0 }));
    }
    const of = (
      measured: string,
      unit: string,
      figure: (judged: Judged) => number,
      number?: number,
    ) => rowWith(measured, unit, rounds.map(figure), number);
    return [
      of('Lateness of starts, median', 'ms', ({ lateP50Ms }) => lateP50Ms, 2),
      of('Lateness of starts, p99', 'ms', ({ lateP99Ms }) => lateP99Ms, 25),
      {
        ...of('Slots missed, the worst round', 'slots', ({ missed }) => missed, 0),
        summary: 'worst',
      },
      of('Lateness as the target sees it, median', 'ms', ({ arrivedP50Ms }) => arrivedP50Ms, 2),
      of('Lateness as the target sees it, p99', 'ms', ({ arrivedP99Ms }) => arrivedP99Ms, 25),
      of('Error of firstByte, median', 'ms', ({ errorsMs }) => quantile(errorsMs, 0.5), 0.5),
      of('Error of firstByte, p99', 'ms', ({ errorsMs }) => quantile(errorsMs, 0.99), 5),
    ];
  },
};

function rowWith(measure: string, unit: string, values: number[], number?: number): Measured {
  if (number === undefined) return { measure, unit, values };
  const target: Target = { of: 'value', bound: 'at most', number };
  return { measure, unit, values, target };
}
