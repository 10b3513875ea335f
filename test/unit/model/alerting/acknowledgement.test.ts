import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../../src/model/alerting/alert.ts';
import {
  alertRulesOf,
  alertSettingsSchema,
} from '../../../../src/model/alerting/alert-settings.ts';
import {
  type AlertContext,
  type AlertState,
  type AlertStep,
  acknowledge,
  afterRun,
  afterTime,
  escalated,
  NEVER_RUN,
  unacknowledge,
} from '../../../../src/model/alerting/alert-state-machine.ts';

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 1);
const at = (minute: number): number => START_MS + minute * MINUTE_MS;

/** A check with a reminder every 5 minutes and an escalation after 10. */
class Problem {
  state: AlertState = NEVER_RUN;
  dueMinute: number | null = null;

  context(minute: number, isSilenced = false): AlertContext {
    const settings = alertSettingsSchema.parse({ reminders: { amount: 100_000, interval: 5 } });
    const rules = alertRulesOf(settings, { minutes: 10 });
    return { rules, parallel: null, rotationLagMs: 0, isSilenced, atMs: at(minute) };
  }

  run(minute: number, condition: Condition, isSilenced = false): void {
    const verdict = { location: 'a', slotMs: at(minute), condition };
    const step = afterRun(this.state, verdict, this.context(minute, isSilenced));
    if (step === null) throw new Error('the run counts');
    this.take(step);
  }

  take({ state, dueAtMs }: AlertStep): void {
    this.state = state;
    this.dueMinute = dueAtMs === null ? null : (dueAtMs - START_MS) / MINUTE_MS;
  }

  /** Whether it escalates then. */
  pass(minute: number, isSilenced = false): boolean {
    const context = this.context(minute, isSilenced);
    const state = escalated(this.state, context);
    this.take(afterTime(state ?? this.state, context));
    return state !== null;
  }
}

describe('an acknowledged problem', () => {
  it('has no reminders and no escalation until it is undone, and then from that time', () => {
    const problem = new Problem();
    problem.run(0, 'failing');
    expect(problem.dueMinute).toBe(5);
    problem.take(acknowledge(problem.state, problem.context(2)));
    expect(problem.dueMinute).toBeNull();
    problem.run(12, 'failing');
    expect([problem.dueMinute, problem.pass(13)]).toEqual([null, false]);
    problem.take(unacknowledge(problem.state, problem.context(20)));
    expect(problem.dueMinute).toBe(25);
    expect([problem.pass(29), problem.pass(30)]).toEqual([false, true]);
  });

  it('must be acknowledged again if it gets worse, and not if it gets better', () => {
    const problem = new Problem();
    problem.run(0, 'degraded');
    problem.take(acknowledge(problem.state, problem.context(1)));
    problem.run(20, 'failing');
    expect(problem.dueMinute).toBe(25);
    problem.take(acknowledge(problem.state, problem.context(21)));
    problem.run(22, 'degraded');
    problem.run(23, 'failing');
    expect(problem.dueMinute).toBeNull();
    problem.run(24, 'passing');
    problem.run(25, 'failing');
    expect(problem.dueMinute).toBe(30);
  });
});

describe('an escalation', () => {
  it('is taken once, also if the problem changes back and forth', () => {
    const problem = new Problem();
    problem.run(0, 'failing');
    problem.run(4, 'degraded');
    problem.run(8, 'failing');
    expect([problem.pass(9), problem.pass(10), problem.pass(11)]).toEqual([false, true, false]);
    problem.run(12, 'degraded');
    problem.run(13, 'failing');
    expect(problem.pass(40)).toBe(false);
  });

  it('waits again if the problem gets worse than the last notice reported', () => {
    const problem = new Problem();
    problem.run(0, 'degraded');
    expect(problem.pass(10)).toBe(true);
    problem.run(12, 'failing');
    expect([problem.pass(21), problem.pass(22)]).toEqual([false, true]);
  });

  it('waits in silence and is taken after it', () => {
    const problem = new Problem();
    problem.run(0, 'failing');
    expect(problem.pass(10, true)).toBe(false);
    expect(problem.dueMinute).toBe(11);
    expect(problem.pass(12)).toBe(true);
  });

  it('waits while a check that its own depends on fails, also if the problem got worse meanwhile', () => {
    const problem = new Problem();
    problem.run(0, 'degraded');
    const held: AlertContext = { ...problem.context(10), hold: 'held' };
    expect(escalated(problem.state, held)).toBeNull();
    const worse = { location: 'a', slotMs: at(10), condition: 'failing' } as const;
    const step = afterRun(problem.state, worse, held);
    if (step !== null) problem.take(step);
    problem.take(acknowledge(problem.state, held));
    // Nobody was notified that it fails.
    problem.run(11, 'failing');
    expect([problem.dueMinute, problem.pass(21)]).toEqual([16, true]);
  });

  it('is not due without a step', () => {
    const problem = new Problem();
    problem.run(0, 'failing');
    const context = { ...problem.context(60), rules: alertRulesOf(null) };
    expect(escalated(problem.state, context)).toBeNull();
  });
});
