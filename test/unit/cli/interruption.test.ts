import { describe, expect, it } from 'vitest';
import { watchForInterruption } from '../../../src/cli/interruption.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { captureLog } from '../../support/log-capture.ts';

function watching() {
  const { terminal } = memoryTerminal();
  const exits: number[] = [];
  const interruption = watchForInterruption(terminal, captureLog().log, (code) => exits.push(code));
  const { signals, stdout, clock } = terminal;
  return { interruption, exits, signals, stdout, clock: clock as FakeClock };
}

describe('an interruption', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('by %s gives time to end cleanly, and its exit code', (signal, exitCode) => {
    const { interruption, signals, exits } = watching();
    expect(interruption.exitCode).toBeNull();
    signals.emit(signal);
    expect(interruption.signal.aborted).toBe(true);
    expect(interruption.exitCode).toBe(exitCode);
    expect(exits).toEqual([]);
    interruption.dispose();
  });

  it('that comes twice at once, as Ctrl-C under npm does, is one', async () => {
    const { interruption, signals, clock, exits } = watching();
    signals.emit('SIGINT');
    signals.emit('SIGINT');
    expect(exits).toEqual([]);
    await clock.advance(1000);
    signals.emit('SIGINT');
    expect(exits).toEqual([130]);
    interruption.dispose();
  });

  it('ends a command that does not end by itself', async () => {
    const { interruption, signals, clock, exits } = watching();
    signals.emit('SIGTERM');
    await clock.advance(5000);
    expect(exits).toEqual([143]);
    interruption.dispose();
  });

  it('stops the command when stdout is closed', () => {
    const { interruption, stdout } = watching();
    stdout.emit('error', new Error('EPIPE'));
    expect(interruption.signal.aborted).toBe(true);
    expect(interruption.exitCode).toBe(141);
    interruption.dispose();
  });

  it('also reacts to an uncaught error, with the exit code of a bug', async () => {
    const { interruption, signals, clock, exits } = watching();
    signals.emit('uncaughtException', new TypeError('no'));
    expect(interruption.signal.aborted).toBe(true);
    expect(interruption.exitCode).toBe(70);
    signals.emit('SIGINT');
    await clock.advance(5000);
    expect(exits).toEqual([70]);
    interruption.dispose();
  });

  it('is not handled any more after dispose()', () => {
    const { interruption, signals, stdout, clock } = watching();
    signals.emit('SIGINT');
    interruption.dispose();
    expect(signals.eventNames()).toEqual([]);
    expect(stdout.listenerCount('error')).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });
});
