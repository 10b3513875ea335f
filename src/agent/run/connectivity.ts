import { setMaxListeners } from 'node:events';
import { connect } from 'node:net';
import type { Clock } from '../../runtime/clock.ts';
import type { Family, Resolver } from '../net/resolver.ts';
import { JobLog } from '../probes/job-log.ts';

/** One entry of CONNECTIVITY_CHECK. The host name is an address, without brackets, or a name. */
export interface ConnectivityTarget {
  readonly hostname: string;
  readonly port: number;
}

/** Checks whether the agent itself has a network (src/agent/README.md, "Networks and proxies"). */
export interface ConnectivityCheck {
  /**
   * True if any target accepts a connection within 3 s, or if there are no targets. Concurrent
   * callers share the answer, which is cached for a short time. Returns true at once if the signal
   * aborts: there is no evidence of being offline. Never rejects.
   */
  isOnline(signal: AbortSignal): Promise<boolean>;
}

export interface ConnectivityOptions {
  readonly targets: readonly ConnectivityTarget[];
  readonly resolver: Resolver;
  readonly clock: Clock;
}

const TIME_LIMIT_MS = 3_000;
/**
 * How long an answer is cached. "Online" only briefly: if the network was lost since then, all
 * targets would seem to be down.
 */
const ONLINE_CACHE_MS = 100;
const OFFLINE_CACHE_MS = 2_000;
const FAMILIES: readonly Family[] = [4, 6];
/** Per name and family. */
const MAX_ADDRESSES = 4;

/** A check in progress. It ends with an answer, or when no caller waits for it any more. */
interface Probe {
  readonly answer: Promise<boolean>;
  readonly controller: AbortController;
  waiting: number;
}

export function createConnectivityCheck(options: ConnectivityOptions): ConnectivityCheck {
  const { targets, clock } = options;
  let current: Probe | null = null;
  let known: { readonly online: boolean; readonly untilMs: number } | null = null;

  const start = (): Probe => {
    const controller = new AbortController();
    const started: Probe = {
      controller,
      waiting: 0,
      answer: reachAny(options, controller.signal).then((online) => {
        if (current === started) current = null;
        if (!controller.signal.aborted) {
          const cachedMs = online ? ONLINE_CACHE_MS : OFFLINE_CACHE_MS;
          known = { online, untilMs: clock.monotonicMs() + cachedMs };
        }
        return online;
      }),
    };
    return started;
  };

  return {
    async isOnline(signal) {
      if (targets.length === 0 || signal.aborted) return true;
      if (known !== null && clock.monotonicMs() < known.untilMs) return known.online;
      current ??= start();
      const probe = current;
      probe.waiting += 1;
      const online = await unlessAborted(probe.answer, signal);
      probe.waiting -= 1;
      if (probe.waiting === 0) {
        probe.controller.abort();
        if (current === probe) current = null;
      }
      return online ?? true;
    },
  };
}

/** null as soon as the signal aborts. */
function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value | null> {
  return new Promise((resolve) => {
    const onAbort = (): void => resolve(null);
    signal.addEventListener('abort', onAbort, { once: true });
    void promise.then((value) => {
      signal.removeEventListener('abort', onAbort);
      resolve(value);
    });
  });
}

/** Tries all targets at once until the first success or the time limit. */
async function reachAny(
  { targets, resolver, clock }: ConnectivityOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const done = new AbortController();
  // One listener per connection: their number is bounded, so Node's warning would be wrong.
  setMaxListeners(0, done.signal);
  const end = (): void => done.abort();
  signal.addEventListener('abort', end, { once: true });
  const cancel = clock.after(TIME_LIMIT_MS, end);
  const deadlineMs = clock.monotonicMs() + TIME_LIMIT_MS;
  const reach = async ({ hostname, port }: ConnectivityTarget, family: Family) => {
    const options = { signal: done.signal, deadlineMs, log: new JobLog(clock) };
    const resolution = await resolver.resolve(hostname, family, options);
    if (!resolution.ok) return false;
    const addresses = resolution.addresses.slice(0, MAX_ADDRESSES);
    return anyTrue(addresses.map((address) => accepts(address, port, done.signal)));
  };
  const tries = targets.flatMap((target) => FAMILIES.map((family) => reach(target, family)));
  const online = await unlessAborted(anyTrue(tries), done.signal);
  cancel();
  signal.removeEventListener('abort', end);
  end();
  return online ?? false;
}

/** True as soon as one is true; false if none is. */
function anyTrue(promises: readonly Promise<boolean>[]): Promise<boolean> {
  return new Promise((resolve) => {
    const each = promises.map(async (promise) => {
      if (await promise) resolve(true);
    });
    void Promise.all(each).then(() => resolve(false));
  });
}

/** False if the address does not accept, or if the signal aborts. Leaves no socket. */
function accepts(address: string, port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(false);
      return;
    }
    const socket = connect({ host: address, port });
    const settle = (accepted: boolean): void => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve(accepted);
    };
    const onAbort = (): void => settle(false);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => settle(true));
    socket.on('error', () => settle(false));
  });
}
