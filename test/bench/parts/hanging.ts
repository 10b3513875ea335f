import type { Part } from '../part.ts';
import { measureStarts } from '../schedule/measure.ts';
import type { Judged } from '../schedule/observed.ts';

const HANGING = 1000;
const MIX = { minutely: 0, tenSecondly: 200, held: 0 };

/** Whether targets that hang delay the checks of other targets. */
export const hangingPart: Part = {
  name: 'hanging',
  method:
    'One agent process with 200 checks every 10 s of a target that responds at once, and 1,000 checks every 10 s of a target that accepts requests and never responds. Nearly all of the 1,000 therefore wait at any time, for 30 s each. The 200 are judged as in schedule.',
  programs: [],
  async run(context) {
    const rounds: Judged[] = [];
    for (let round = 0; round < context.rounds; round += 1) {
      context.progress(`1,000 hanging targets, round ${round + 1} of ${context.rounds}`);
      rounds.push(await measureStarts(context, { mix: MIX, hanging: HANGING }));
    }
    const lateness = (measured: string, figure: (judged: Judged) => number) => ({
      measure: `${measured} beside 1,000 hanging targets`,
      unit: 'ms',
      values: rounds.map(figure),
    });
    const target = { of: 'value', bound: 'at most' } as const;
    return [
      lateness('Lateness of starts, median,', ({ lateP50Ms }) => lateP50Ms),
      {
        ...lateness('Lateness of starts, p99,', ({ lateP99Ms }) => lateP99Ms),
        target: { ...target, number: 25 },
      },
      {
        ...lateness('Lateness as the target sees it, p99,', ({ arrivedP99Ms }) => arrivedP99Ms),
        target: { ...target, number: 25 },
      },
      {
        measure: 'Slots missed beside 1,000 hanging targets, the worst round',
        unit: 'slots',
        values: rounds.map(({ missed }) => missed),
        summary: 'worst',
        target: { ...target, number: 0 },
      },
    ];
  },
};
