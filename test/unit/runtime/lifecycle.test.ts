import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { guardAgainstFaults } from '../../../src/runtime/fault-guard.ts';
import { StopSignals } from '../../../src/runtime/lifecycle.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { captureLog } from '../../support/log-capture.ts';

function setUp(graceMs = 300_000) {
  const emitter = new EventEmitter();
  const clock = new FakeClock();
  const { log, records } = captureLog();
  const stop = new StopSignals({ emitter, clock, graceMs, log });
  const modes = () => ({ stopping: stop.stopping.aborted, now: stop.now.aborted });
  const messages = () => records().map(({ msg }) => msg);
  return { emitter, clock, log, stop, modes, messages, records };
}

describe('StopSignals', () => {
  it.each(['SIGTERM', 'SIGINT'])(
    '%s starts the stop, a second one ends it at once',
    async (signal) => {
      const { emitter, clock, modes, messages } = setUp();
      expect(modes()).toEqual({ stopping: false, now: false });
      emitter.emit(signal);
      expect(modes()).toEqual({ stopping: true, now: false });
      await clock.advance(1000);
      emitter.emit(signal);
      expect(modes()).toEqual({ stopping: true, now: true });
      expect(clock.pendingTimers).toBe(0);
      emitter.emit(signal);
      expect(messages()).toEqual([
        `stopping: ${signal} received`,
        `stopping at once: ${signal} came again`,
      ]);
    },
  );

  it('stops at the first signal, and ends at once at the second', () => {
    const { emitter, modes } = setUp();
    emitter.emit('SIGINT');
    emitter.emit('SIGTERM');
    expect(modes()).toEqual({ stopping: true, now: true });
  });

  it('counts one Ctrl-C that arrives twice as one signal', async () => {
    const { emitter, clock, modes } = setUp();
    emitter.emit('SIGINT');
    await clock.advance(5);
    emitter.emit('SIGINT');
    expect(modes()).toEqual({ stopping: true, now: false });
    await clock.advance(500);
    emitter.emit('SIGINT');
    expect(modes().now).toBe(true);
  });

  it('ends at once when the grace is over, and not before', async () => {
    const { emitter, clock, modes } = setUp(10_000);
    emitter.emit('SIGTERM');
    await clock.advance(9_999);
    expect(modes().now).toBe(false);
    await clock.advance(1);
    expect(modes().now).toBe(true);
  });

  it('stops and ends at once without a grace', () => {
    const { emitter, clock, modes } = setUp(0);
    emitter.emit('SIGTERM');
    expect(modes()).toEqual({ stopping: true, now: true });
    expect(clock.pendingTimers).toBe(0);
  });

  it('stops at the first request, and ignores later ones', async () => {
    const { stop, clock, modes, messages } = setUp();
    stop.request('the work is done');
    stop.request('the work is done');
    expect(modes()).toEqual({ stopping: true, now: false });
    expect(messages()).toEqual(['stopping: the work is done']);
    expect(clock.pendingTimers).toBe(1);
  });

  it('leaves no listener and no timer behind after disposal', () => {
    const { emitter, clock, stop, modes } = setUp();
    emitter.emit('SIGTERM');
    stop.dispose();
    expect(emitter.eventNames()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
    emitter.emit('SIGTERM');
    expect(modes()).toEqual({ stopping: true, now: false });
  });
});

describe('guardAgainstFaults', () => {
  it.each(['uncaughtException', 'unhandledRejection'])(
    'logs the first %s as a fault of our own and starts the stop',
    (event) => {
      const { emitter, log, stop, modes, records } = setUp();
      const guard = guardAgainstFaults({ emitter, log, stop });
      expect(guard.faults).toBe(0);
      emitter.emit(event, new Error('a bug'));
      emitter.emit(event, 'its echo');
      expect(guard.faults).toBe(2);
      expect(modes()).toEqual({ stopping: true, now: false });
      const faults = records().filter(({ level }) => level === 'fatal');
      expect(faults).toHaveLength(1);
      expect(faults[0]).toMatchObject({ kind: 'internal', err: { message: 'a bug' } });
      guard.dispose();
      expect(emitter.listenerCount(event)).toBe(0);
    },
  );

  it('reports the first fault before it logs it', () => {
    const { emitter, log, stop, records } = setUp();
    const told: [unknown, number][] = [];
    const onFault = (error: Error): void => void told.push([error.message, records().length]);
    guardAgainstFaults({ emitter, log, stop, onFault });
    emitter.emit('uncaughtException', 'a bug');
    emitter.emit('unhandledRejection', new Error('its echo'));
    expect(told).toEqual([['a bug', 0]]);
  });

  it('logs any thrown value', () => {
    const { emitter, log, stop, records } = setUp();
    guardAgainstFaults({ emitter, log, stop });
    emitter.emit('unhandledRejection', undefined);
    expect(records()[0]).toMatchObject({ kind: 'internal', err: { message: 'undefined' } });
  });
});
