import type { CancelTimer } from '../../../src/runtime/clock.ts';
import type { SecretBox } from '../../../src/runtime/secret-box.ts';
import type { Store } from '../../../src/service/database/store.ts';
import {
  type CredentialSealing,
  createCredentialSealing,
} from '../../../src/service/secrets/credential-sealing.ts';
import { FakeClock } from '../fake-clock.ts';
import { captureLog, type LogCapture } from '../log-capture.ts';

/** Runs during each wait, before its end. */
type DuringWait = (delayMs: number) => Promise<void>;

export interface SealingReplica extends Pick<CredentialSealing, 'isOn' | 'begin'> {
  readonly logs: LogCapture;
  /** Runs until it ends by itself, or wants to wait again after this many waits. */
  keep(waits: number, ending?: AbortController, during?: DuringWait): Promise<void>;
  /** The work of a replica at its start and soon after. */
  start(): Promise<void>;
}

/** The part of a replica that encrypts credentials. Each of its waits ends at once. */
export function sealingReplica(store: Store, secrets: SecretBox | null): SealingReplica {
  const logs = captureLog();
  const clock = new ImpatientClock();
  const sealing = createCredentialSealing({ store, clock, log: logs.log, secrets });
  const keep = (
    waits: number,
    ending = new AbortController(),
    during: DuringWait = async () => {},
  ): Promise<void> => {
    clock.allow(waits, ending, during);
    return sealing.maintain(ending.signal);
  };
  return {
    isOn: sealing.isOn,
    begin: sealing.begin,
    logs,
    keep,
    async start() {
      await sealing.begin();
      await keep(1);
    },
  };
}

class ImpatientClock extends FakeClock {
  #left = 0;
  #ending = new AbortController();
  #during: DuringWait = async () => {};

  allow(waits: number, ending: AbortController, during: DuringWait): void {
    this.#left = waits;
    this.#ending = ending;
    this.#during = during;
  }

  override after(delayMs: number, callback: () => void): CancelTimer {
    const isOver = this.#left === 0;
    this.#left -= 1;
    if (!isOver) this.spend(delayMs);
    const immediate = setImmediate(() => {
      if (isOver) this.#ending.abort();
      else void this.#during(delayMs).then(callback);
    });
    return () => clearImmediate(immediate);
  }
}

/** The same data, as a database that no other replica shares. */
export function unshared(store: Store): Store {
  return {
    kind: 'pglite',
    query: (text, params) => store.query(text, params),
    transaction: (work, options) => store.transaction(work, options),
    listen: (channel, onNotify, onGap) => store.listen(channel, onNotify, onGap),
    close: () => store.close(),
  };
}
