import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  type AttemptMessage,
  type ListeningMessage,
  watchParent,
} from '../../../../src/cli/up/parent-watch.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

function supervised(env: Readonly<Record<string, string>> = { VEDETTE_SUPERVISED: '1' }) {
  const told: (ListeningMessage | AttemptMessage)[] = [];
  const exits: number[] = [];
  const clock = new FakeClock();
  const signals = new EventEmitter();
  const channel = Object.assign(new EventEmitter(), {
    connected: true,
    send: (message: ListeningMessage | AttemptMessage) => {
      told.push(message);
      return true;
    },
  }) as unknown as NodeJS.Process & EventEmitter;
  const watch = watchParent({ env, signals, clock }, (code) => void exits.push(code), channel);
  return { watch, told, exits, clock, signals, channel };
}

describe('watchParent', () => {
  it('sends the port to its supervisor', () => {
    const { watch, told } = supervised();
    watch.listening(8080);
    expect(told).toEqual([{ listening: 8080 }]);
  });

  it('sends the links for the owner beside the port', () => {
    const { watch, told } = supervised();
    const links = { signInUrl: 'http://127.0.0.1:8080/sign-in/token', setupUrl: null };
    watch.listening(8080, links);
    expect(told).toEqual([{ listening: 8080, links }]);
  });

  it('sends how an attempt to notify ended', () => {
    const { watch, told } = supervised();
    const channel = { type: 'EMAIL', name: 'me@example.com' };
    const attempt = {
      channel,
      headline: 'Shop has failed',
      others: 0,
      error: null,
      isRetried: false,
    };
    watch.attempted(attempt);
    expect(told).toEqual([{ attempt }]);
  });

  it('stops as by SIGTERM when its parent has gone, then harder, then at once', async () => {
    const { channel, signals, clock, exits } = supervised();
    let stops = 0;
    signals.on('SIGTERM', () => {
      stops += 1;
    });
    channel.emit('disconnect');
    expect(stops).toBe(1);
    await clock.advance(5000);
    expect([stops, exits]).toEqual([2, []]);
    await clock.advance(10_000);
    expect(exits).toEqual([143]);
  });

  it('exits where nothing listens for signals yet', () => {
    const { channel, exits } = supervised();
    channel.emit('disconnect');
    expect(exits).toEqual([143]);
  });

  it('does nothing in a process without a supervisor', () => {
    const { watch, told, channel } = supervised({});
    watch.listening(8080);
    expect(told).toEqual([]);
    expect(channel.listenerCount('disconnect')).toBe(0);
  });
});
