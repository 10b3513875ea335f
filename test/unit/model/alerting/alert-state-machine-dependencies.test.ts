import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../../src/model/alerting/alert.ts';
import { alertRulesOf } from '../../../../src/model/alerting/alert-settings.ts';
import {
  type AlertState,
  afterRun,
  afterTime,
  type Hold,
  NEVER_RUN,
} from '../../../../src/model/alerting/alert-state-machine.ts';

const RULES = alertRulesOf({ escalationType: 'RUN_BASED', reminders: { amount: 5, interval: 1 } });

/** A check that runs every 60 s, and what it depends on. Times are seconds. */
class Child {
  state: AlertState = NEVER_RUN;
  due: number | null = null;

  run(second: number, condition: Condition, hold: Hold, isSilenced = false): string | undefined {
    const verdict = { location: 'a', slotMs: second * 1000, condition };
    const context = { rules: RULES, parallel: null, rotationLagMs: 0, isSilenced, hold };
    return this.#take(afterRun(this.state, verdict, { ...context, atMs: second * 1000 }));
  }

  wait(second: number, hold: Hold, isSilenced = false): string | undefined {
    const context = { rules: RULES, parallel: null, rotationLagMs: 0, isSilenced, hold };
    return this.#take(afterTime(this.state, { ...context, atMs: second * 1000 }));
  }

  #take(step: ReturnType<typeof afterRun>): string | undefined {
    if (step === null) return 'late';
    this.state = step.state;
    this.due = step.dueAtMs === null ? null : step.dueAtMs / 1000;
    return step.reminder === 0 ? step.alert : `${step.alert} ${step.reminder}`;
  }
}

describe('the alert of a check that depends on another', () => {
  it('waits 20 s for the other to be found failing, and is sent then', () => {
    const child = new Child();
    expect(child.run(60, 'failing', 'briefly')).toBe('NO_ALERT');
    expect(child.due).toBe(80);
    expect(child.wait(80, 'briefly')).toBe('ALERT_FAILURE');
    expect(child.run(120, 'passing', 'briefly')).toBe('ALERT_RECOVERY');
  });

  it('waits while the other fails, is judged every minute, and is sent by the first run after that', () => {
    const child = new Child();
    child.run(60, 'failing', 'briefly');
    expect([child.wait(80, 'held'), child.due]).toEqual(['NO_ALERT', 140]);
    expect([child.run(120, 'failing', 'held'), child.due]).toEqual(['NO_ALERT', 180]);
    expect(child.run(180, 'failing', 'briefly')).toBe('ALERT_FAILURE');
  });

  it('is never sent if the check passes by then, and neither is a recovery', () => {
    const child = new Child();
    child.run(60, 'failing', 'held');
    expect([child.run(120, 'passing', 'briefly'), child.due]).toEqual(['NO_ALERT', null]);
  });

  it('is sent with the type for degraded to failing if a degraded check fails while it waits', () => {
    const child = new Child();
    expect(child.run(60, 'degraded', 'none')).toBe('ALERT_DEGRADED');
    expect(child.run(120, 'failing', 'held')).toBe('NO_ALERT');
    expect(child.run(180, 'failing', 'briefly')).toBe('ALERT_DEGRADED_FAILURE');
  });

  it('is not needed if the check is again in the condition that was sent', () => {
    const child = new Child();
    child.run(60, 'degraded', 'none');
    child.run(120, 'failing', 'held');
    expect(child.run(180, 'degraded', 'held')).toBe('NO_ALERT');
    expect(child.state.heldAtMs).toBeUndefined();
    expect(child.run(240, 'passing', 'held')).toBe('ALERT_DEGRADED_RECOVERY');
  });

  it('gets no reminders while the other fails', () => {
    const child = new Child();
    expect(child.run(60, 'failing', 'none')).toBe('ALERT_FAILURE');
    expect([child.wait(120, 'held'), child.due]).toEqual(['NO_ALERT', 180]);
    expect(child.wait(180, 'briefly')).toBe('ALERT_FAILURE_REMAIN 1');
  });

  it('waits for the end of a maintenance window, too', () => {
    const child = new Child();
    child.run(60, 'failing', 'held');
    expect([child.wait(140, 'briefly', true), child.due]).toEqual(['NO_ALERT', 200]);
    expect(child.run(180, 'failing', 'briefly', true)).toBe('NO_ALERT');
    expect(child.wait(200, 'briefly')).toBe('ALERT_FAILURE');
  });
});
