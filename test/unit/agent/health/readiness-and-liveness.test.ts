import { describe, expect, it } from 'vitest';
import {
  type HealthStatus,
  liveness,
  readiness,
} from '../../../../src/agent/health/readiness-and-liveness.ts';

const RUNNING: HealthStatus = {
  state: 'running',
  checks: 2,
  running: 1,
  waiting: 0,
  queued: 0,
  missedSlots: 0,
  droppedLines: 0,
  spoolDepth: null,
  spoolOldestSeconds: null,
  lastContact: null,
  checkFileUsable: null,
  lastTickMs: 1000,
};

describe('readiness', () => {
  it('is 200 only while checks run, and gives the reason otherwise', () => {
    expect(readiness(RUNNING)).toMatchObject({ status: 200, body: 'ready\n' });
    expect(readiness({ ...RUNNING, state: 'starting' })).toMatchObject({
      status: 503,
      body: expect.stringContaining('not ready: starting'),
    });
    expect(readiness({ ...RUNNING, state: 'draining' })).toMatchObject({
      status: 503,
      body: expect.stringContaining('not ready: draining'),
    });
  });
});

describe('liveness', () => {
  it('is 200 until the scheduler has not ticked for 30 s', () => {
    expect(liveness(RUNNING, 31_000).status).toBe(200);
    expect(liveness(RUNNING, 31_001)).toMatchObject({
      status: 503,
      body: expect.stringContaining('has not ticked for 30 s'),
    });
  });

  it.each(['starting', 'draining'] as const)('needs no ticks while %s', (state) => {
    expect(liveness({ ...RUNNING, state }, 1_000_000).status).toBe(200);
    expect(liveness({ ...RUNNING, state, lastTickMs: null }, 1_000_000).status).toBe(200);
  });
});
