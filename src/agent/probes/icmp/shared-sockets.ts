import type { Failure } from '../../../model/result/error-codes.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Family } from '../../net/resolver.ts';
import { EchoExchange } from './echo-exchange.ts';
import { type OpenedTransport, openTransport } from './open-transport.ts';

/** The socket of one family for one run, which must release it once, in every case. */
interface SharedSocket {
  readonly exchange: EchoExchange;
  /** A description of the socket for the job log. */
  readonly transportName: string;
  release(): void;
}

export type Acquired =
  | { readonly ok: true; readonly socket: SharedSocket }
  | { readonly ok: false; readonly failure: Failure };

interface Entry {
  users: number;
  readonly exchange: EchoExchange;
  readonly opened: ReturnType<typeof openTransport>;
}

/** A rejection left in the entry would fail every later run, too. */
function couldNotOpen(error: unknown): OpenedTransport {
  const message = `No ICMP socket could be opened: ${messageOf(error)}.`;
  return { ok: false, failure: { code: 'INTERNAL_ERROR', message } };
}

/**
 * One socket for each family, opened by the first run that needs it and closed after the last one.
 * Thereby a permission that is granted while the agent runs takes effect with a later run.
 */
export class SharedSockets {
  readonly #clock: Clock;
  readonly #entries = new Map<Family, Entry>();
  #state: 'open' | 'closed' = 'open';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async acquire(family: Family): Promise<Acquired> {
    if (this.#state === 'closed') {
      const message = 'The ICMP probe was closed.';
      return { ok: false, failure: { code: 'INTERNAL_ERROR', message } };
    }
    const entry = this.#entryFor(family);
    entry.users += 1;
    const opened = await entry.opened;
    const release = (): void => this.#release(family, entry);
    if (!opened.ok) {
      release();
      return opened;
    }
    const transportName = opened.transport.name;
    return { ok: true, socket: { exchange: entry.exchange, transportName, release } };
  }

  /** Closes the sockets even while they are in use; none can be acquired after it. */
  close(): void {
    this.#state = 'closed';
    for (const { exchange } of this.#entries.values()) exchange.close();
    this.#entries.clear();
  }

  #entryFor(family: Family): Entry {
    const present = this.#entries.get(family);
    if (present?.exchange.usable === true) return present;
    const exchange = new EchoExchange(this.#clock);
    const opened = openTransport(family, this.#clock, exchange).then((result) => {
      if (result.ok) exchange.attach(result.transport);
      return result;
    }, couldNotOpen);
    const entry: Entry = { users: 0, exchange, opened };
    this.#entries.set(family, entry);
    return entry;
  }

  #release(family: Family, entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    entry.exchange.close();
    if (this.#entries.get(family) === entry) this.#entries.delete(family);
  }
}
