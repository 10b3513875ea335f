import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  ALERT_OF_STEP,
  type AlertType,
  CONDITIONS,
  type Condition,
} from '../../../../src/model/alerting/alert.ts';
import type { AlertRules } from '../../../../src/model/alerting/alert-settings.ts';
import {
  afterRun,
  afterTime,
  NEVER_RUN,
} from '../../../../src/model/alerting/alert-state-machine.ts';
import type { ParallelLocations } from '../../../../src/model/alerting/location-verdicts.ts';
import { freshFor } from '../../../../src/model/alerting/verdict-freshness.ts';
import { caseCount } from '../../../support/nightly.ts';

const MINUTE_MS = 60_000;

interface Slot {
  readonly condition: Condition;
  readonly isSilenced: boolean;
  readonly slotMs: number;
}

const slots = fc
  .array(
    fc.record({
      condition: fc.constantFrom(...CONDITIONS),
      isSilenced: fc.boolean(),
      gap: fc.integer({ min: 1, max: 8 }),
    }),
    { maxLength: 25 },
  )
  .map((steps) => {
    let minute = 0;
    return steps.map(({ condition, isSilenced, gap }): Slot => {
      minute += gap;
      return { condition, isSilenced, slotMs: minute * MINUTE_MS };
    });
  });

const rules = fc.record<AlertRules>({
  escalation: fc.oneof(
    fc.integer({ min: 1, max: 5 }).map((count) => ({ by: 'runs' as const, runs: count })),
    fc.constantFrom(5, 10, 15, 30).map((min) => ({ by: 'time' as const, forMs: min * MINUTE_MS })),
  ),
  reminders: fc.constant({ amount: 0, everyMs: MINUTE_MS }),
  parallelPercent: fc.constant(null),
});

/** Applies the table to the whole history at each slot. Its only state is the alerts so far. */
function naive(history: readonly Slot[], { escalation }: AlertRules): readonly AlertType[] {
  const given: AlertType[] = [];
  for (const [at, slot] of history.entries()) given.push(alertOf(at, slot));
  return given;

  function conditionAt(at: number): Condition {
    return history[at]?.condition ?? 'passing';
  }
  /** The first slot of the consecutive slots with the same condition. */
  function beginOf(at: number): number {
    let begin = at;
    while (begin > 0 && conditionAt(begin - 1) === conditionAt(at)) begin -= 1;
    return begin;
  }
  /** The condition that the last notice since the check last passed reported. */
  function lastReported(at: number): Condition | null {
    for (let past = at - 1; past >= 0 && conditionAt(past) !== 'passing'; past -= 1) {
      if (given[past] !== 'NO_ALERT') return conditionAt(past);
    }
    return null;
  }
  function isReached(at: number): boolean {
    const begin = beginOf(at);
    if (escalation.by === 'runs') return at - begin + 1 >= escalation.runs;
    return (history[at]?.slotMs ?? 0) - (history[begin]?.slotMs ?? 0) >= escalation.forMs;
  }
  function alertOf(at: number, { condition: to, isSilenced }: Slot): AlertType {
    const from = conditionAt(at - 1);
    const last = lastReported(at);
    if (isSilenced) return 'NO_ALERT';
    if (to === 'passing') return last === null ? 'NO_ALERT' : ALERT_OF_STEP[last].passing;
    if (last === to) return 'NO_ALERT';
    // The condition changed while alerts were silenced.
    if (last !== null) return ALERT_OF_STEP[last][to];
    const waits = from === to || from === 'passing';
    return waits && !isReached(at) ? 'NO_ALERT' : ALERT_OF_STEP[from][to];
  }
}

it('one location: every history of runs gives the alerts of the table', () => {
  fc.assert(
    fc.property(slots, rules, (history, own) => {
      let state = NEVER_RUN;
      const alerts = history.map(({ condition, slotMs, isSilenced }) => {
        const context = { rules: own, parallel: null, rotationLagMs: 0, isSilenced, atMs: slotMs };
        const step = afterRun(state, { location: 'a', slotMs, condition }, context);
        state = step?.state ?? state;
        return step?.alert;
      });
      expect(alerts).toEqual(naive(history, own));
    }),
    { numRuns: caseCount(500) },
  );
});

it('one location: a late run changes no alert, in whatever order runs arrive', () => {
  fc.assert(
    fc.property(slots, rules, fc.infiniteStream(fc.nat()), (history, own, numbers) => {
      const shuffled = history
        .map((slot) => ({ slot, number: Number(numbers.next().value) }))
        .toSorted((one, other) => one.number - other.number)
        .map(({ slot }) => slot);
      const inOrder = shuffled.filter(({ slotMs }, at) =>
        shuffled.slice(0, at).every((before) => before.slotMs < slotMs),
      );
      const follow = (runs: readonly Slot[]) => {
        let state = NEVER_RUN;
        for (const { condition, slotMs } of runs) {
          const context = {
            rules: own,
            parallel: null,
            rotationLagMs: 0,
            isSilenced: false,
            atMs: slotMs,
          };
          state = afterRun(state, { location: 'a', slotMs, condition }, context)?.state ?? state;
        }
        return state;
      };
      expect(follow(shuffled)).toEqual(follow(inOrder));
    }),
    { numRuns: caseCount(200) },
  );
});

it('several locations: alerts are those of one check whose slots fail when enough locations fail', () => {
  const LOCATIONS = ['a', 'b', 'c', 'd'];
  const rounds = fc.array(fc.tuple(...LOCATIONS.map(() => fc.constantFrom(...CONDITIONS))), {
    maxLength: 12,
  });
  const percents = fc.constantFrom(null, 10, 26, 50, 75, 76, 100);
  fc.assert(
    fc.property(rounds, percents, (history, percent) => {
      const parallel: ParallelLocations = {
        locations: LOCATIONS,
        freshMs: freshFor(MINUTE_MS),
        percent,
      };
      const own: AlertRules = {
        escalation: { by: 'runs', runs: 1 },
        reminders: { amount: 0, everyMs: MINUTE_MS },
        parallelPercent: percent,
      };
      const wanted = percent === null ? 1 : Math.ceil((LOCATIONS.length * percent) / 100);
      let state = NEVER_RUN;
      for (const [number, conditions] of history.entries()) {
        const slotMs = number * MINUTE_MS;
        for (const [at, condition] of conditions.entries()) {
          const context = {
            rules: own,
            parallel,
            rotationLagMs: 0,
            isSilenced: false,
            atMs: slotMs,
          };
          const verdict = { location: LOCATIONS[at] ?? '', slotMs, condition };
          state = afterRun(state, verdict, context)?.state ?? state;
        }
        const failing = conditions.filter((one) => one === 'failing').length;
        const unhealthy = conditions.filter((one) => one !== 'passing').length;
        const verdict =
          failing >= wanted ? 'failing' : unhealthy >= wanted ? 'degraded' : 'passing';
        expect(state.condition).toBe(verdict);
      }
    }),
    { numRuns: caseCount(200) },
  );
});

it('time alone: an alert, then reminders at their interval, up to the configured number', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(5, 10, 15, 30),
      fc.constantFrom(0, 1, 5, 100_000),
      fc.integer({ min: 1, max: 30 }),
      fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 40 }),
      (threshold, amount, interval, waits) => {
        const own: AlertRules = {
          escalation: { by: 'time', forMs: threshold * MINUTE_MS },
          reminders: { amount, everyMs: interval * MINUTE_MS },
          parallelPercent: null,
        };
        const context = {
          rules: own,
          parallel: null,
          rotationLagMs: 0,
          isSilenced: false,
          atMs: 0,
        };
        const first = afterRun(
          NEVER_RUN,
          { location: 'a', slotMs: 0, condition: 'failing' },
          context,
        );
        let state = first?.state ?? NEVER_RUN;
        let minute = 0;
        let lastMinute = Number.NEGATIVE_INFINITY;
        let given = 0;
        for (const wait of waits) {
          minute += wait;
          const step = afterTime(state, { ...context, atMs: minute * MINUTE_MS });
          state = step.state;
          const isDue = given === 0 ? minute >= threshold : minute - lastMinute >= interval;
          const expected = isDue && given <= amount;
          expect(step.alert).toBe(expected ? 'ALERT_FAILURE_REMAIN' : 'NO_ALERT');
          if (!expected) continue;
          expect(step.reminder).toBe(given);
          given += 1;
          lastMinute = minute;
        }
      },
    ),
    { numRuns: caseCount(200) },
  );
});
