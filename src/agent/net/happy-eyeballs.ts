import type { IpFamily } from '../../model/enums.ts';
import type { FamilyOutcome } from '../../model/result/details/check-detail.ts';
import { type Failure, isOwnFault } from '../../model/result/error-codes.ts';
import { endpointText } from '../../runtime/net/endpoint-text.ts';
import { millisecondsText } from '../../runtime/text/duration-text.ts';
import { sleep } from '../../runtime/wait.ts';
import type { ProbeContext } from '../probes/probe.ts';
import { connectFailure, mayMeanNoIpv6, noIpv6Failure, targetText } from './connect-failures.ts';
import { type ConnectInstant, connectsFrom } from './kernel/connect-time.ts';
import { type NotOpened, type Opened, openSocket } from './open-socket.ts';
import { chooseAddresses } from './permitted-addresses.ts';
import type { StarvationWatch } from './starvation-watch.ts';
import { Stopwatch } from './stopwatch.ts';

/** Delay between the attempts at two addresses (RFC 8305 5, Connection Attempt Delay). */
const ATTEMPT_DELAY_MS = 250;
/** Maximum delay of IPv4 for the name's IPv6 addresses (RFC 8305 3, Resolution Delay). */
const RESOLUTION_DELAY_MS = 50;

/** The family that is tried first comes first. */
const FAMILIES = ['IPv6', 'IPv4'] as const satisfies readonly IpFamily[];

export interface RaceTarget {
  /** A name, not an address. */
  readonly hostname: string;
  readonly port: number;
}

interface Won {
  readonly ok: true;
  readonly address: string;
  readonly ipFamily: IpFamily;
  readonly opened: Extract<Opened, { ok: true }>;
  /** The start of the connection that won. */
  readonly since: ConnectInstant;
}

interface Lost {
  readonly ok: false;
  readonly failure: Failure;
  /** null if none was tried. */
  readonly address: string | null;
}

/** The end of a race; with each family that was tried, or whose addresses could not be found. */
export type RaceEnd = (Won | Lost) & {
  readonly families: readonly FamilyOutcome[];
  /** Milliseconds until the first connection began. */
  readonly dnsMs: number;
};

/** One connection that was begun. */
interface Connection {
  readonly ipFamily: IpFamily;
  readonly address: string;
  readonly since: ConnectInstant;
  /** null until it has ended. */
  failure: Failure | null;
}

type Event =
  | { readonly kind: 'found'; readonly ipFamily: IpFamily; readonly found: Found }
  | { readonly kind: 'ended'; readonly connection: Connection; readonly end: Opened }
  | { readonly kind: 'due' };

type Found =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly failure: Failure };

/**
 * Connects to a name over the family that answers first (RFC 8305, "Happy Eyeballs"). Tries
 * addresses of both families alternately, IPv6 first, the next one 250 ms after the previous one,
 * or as soon as one failed. No attempt is ended for the next one: the first that is connected wins,
 * and the others are closed. Does not try addresses that the guard denies.
 *
 * A family that failed, or that had not answered when the other one won, is in `families` and in
 * the job log. The log warns only of a family that failed.
 */
export async function raceFamilies(target: RaceTarget, context: ProbeContext): Promise<RaceEnd> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  context.signal.addEventListener('abort', end, { once: true });
  if (context.signal.aborted) end();
  try {
    return await new Race(target, { ...context, signal: ended.signal }).run();
  } finally {
    context.signal.removeEventListener('abort', end);
    // Ends the look-ups, connections and timers that are left.
    end();
  }
}

class Race {
  readonly #target: RaceTarget;
  readonly #context: ProbeContext;
  readonly #stopwatch: Stopwatch;
  /** Addresses that were not tried yet. */
  readonly #left: Record<IpFamily, string[]> = { IPv4: [], IPv6: [] };
  readonly #lookups = new Map<IpFamily, Promise<Event>>();
  readonly #lookupFailures = new Map<IpFamily, Failure>();
  readonly #connections: Connection[] = [];
  readonly #pending = new Map<Connection, Promise<Event>>();
  /** Ends when the next address may be tried; it is tried earlier if one fails before. */
  #delay: Promise<Event> | null = null;
  #dnsMs: number | null = null;

  constructor(target: RaceTarget, context: ProbeContext) {
    this.#target = target;
    this.#context = context;
    this.#stopwatch = new Stopwatch(context);
  }

  async run(): Promise<RaceEnd> {
    for (const ipFamily of FAMILIES) this.#lookups.set(ipFamily, this.#lookUp(ipFamily));
    for (;;) {
      if (this.#delay === null) this.#startNext();
      if (this.#lookups.size === 0 && this.#pending.size === 0) return this.#lost();
      const event = await this.#next();
      switch (event.kind) {
        case 'found':
          this.#lookups.delete(event.ipFamily);
          this.#take(event.ipFamily, event.found);
          break;
        case 'due':
          this.#delay = null;
          break;
        case 'ended': {
          const { connection, end } = event;
          this.#pending.delete(connection);
          if (end.ok) return this.#won(connection, end);
          this.#failed(connection, end);
          this.#delay = null;
        }
      }
    }
  }

  #next(): Promise<Event> {
    const delay = this.#delay === null ? [] : [this.#delay];
    return Promise.race([...this.#lookups.values(), ...this.#pending.values(), ...delay]);
  }

  async #lookUp(ipFamily: IpFamily): Promise<Event> {
    const { hostname, port } = this.#target;
    const { resolver, starvation, log } = this.#context;
    const context = { ...this.#context, starvation: starvation && withoutKernelTimes(starvation) };
    const resolution = await resolver.resolve(hostname, ipFamily === 'IPv6' ? 6 : 4, context);
    if (!resolution.ok) return { kind: 'found', ipFamily, found: resolution };
    const foundText = millisecondsText(this.#stopwatch.elapsedMs());
    log.info(`${hostname} is ${resolution.addresses.join(', ')} (found in ${foundText})`);
    const found = chooseAddresses(endpointText(hostname, port), resolution.addresses, context);
    return { kind: 'found', ipFamily, found };
  }

  #take(ipFamily: IpFamily, found: Found): void {
    if (found.ok) this.#left[ipFamily].push(...found.addresses);
    else this.#lookupFailures.set(ipFamily, found.failure);
    if (this.#connections.length > 0) return;
    const waitsForIpv6 = found.ok && this.#lookups.has('IPv6');
    this.#delay = waitsForIpv6 ? this.#wait(RESOLUTION_DELAY_MS) : null;
  }

  #startNext(): void {
    const last = this.#connections.at(-1)?.ipFamily;
    const byTurns = last === 'IPv6' ? FAMILIES.toReversed() : FAMILIES;
    const ipFamily = byTurns.find((family) => this.#left[family].length > 0);
    const address = ipFamily === undefined ? undefined : this.#left[ipFamily].shift();
    if (ipFamily === undefined || address === undefined) return;
    this.#dnsMs ??= this.#stopwatch.elapsedMs();
    const connection: Connection = {
      ipFamily,
      address,
      since: connectsFrom(this.#context),
      failure: null,
    };
    this.#connections.push(connection);
    this.#pending.set(connection, this.#connect(connection));
    this.#delay = this.#wait(ATTEMPT_DELAY_MS);
  }

  async #connect(connection: Connection): Promise<Event> {
    const end = await openSocket(connection.address, this.#target.port, this.#context);
    return { kind: 'ended', connection, end };
  }

  async #wait(delayMs: number): Promise<Event> {
    await sleep(this.#context.clock, delayMs, this.#context.signal);
    return { kind: 'due' };
  }

  #failed(connection: Connection, end: NotOpened): void {
    const { address, ipFamily, since } = connection;
    const tookMs = this.#context.clock.monotonicMs() - since.atMs;
    const text = this.#text(address);
    // Taken as a missing route, although ports may be exhausted: IPv4 would report that, too.
    const lacksIpv6 = ipFamily === 'IPv6' && end.ended === 'error' && mayMeanNoIpv6(end.systemCode);
    const failure = lacksIpv6 ? noIpv6Failure(text) : connectFailure(text, end, tookMs);
    connection.failure = failure;
    if (end.ended !== 'cancelled') this.#context.log.warn(failure.message);
  }

  #text(address: string): string {
    return targetText(this.#target.hostname, this.#target.port, address);
  }

  #won(connection: Connection, opened: Won['opened']): RaceEnd {
    const { address, ipFamily, since } = connection;
    const other = this.#outcomeOf(ipFamily === 'IPv4' ? 'IPv6' : 'IPv4', ipFamily);
    const own: FamilyOutcome = { ...NO_ERROR, ipFamily, address, outcome: 'passed' };
    for (const pending of this.#pending.values()) void pending.then(closeLoser);
    if (other !== null) this.#logOther(other, ipFamily);
    const families = other === null ? [own] : [own, other];
    const dnsMs = this.#dnsMs ?? 0;
    return { ok: true, address, ipFamily, opened, since, families, dnsMs };
  }

  #logOther(other: FamilyOutcome, winner: IpFamily): void {
    const { log } = this.#context;
    const { hostname } = this.#target;
    const { ipFamily, outcome, requestError } = other;
    if (outcome === 'failed') {
      log.warn(`${ipFamily} does not work for ${hostname}, ${winner} does: ${requestError}`);
    } else {
      // It may only be slower: its connection may have begun just before.
      log.info(`${ipFamily} was slower for ${hostname} than ${winner}: ${requestError}`);
    }
  }

  /** Reports IPv4's failure if IPv4 was tried, whichever family failed last. */
  #lost(): RaceEnd {
    const ends = ['IPv4' as const, 'IPv6' as const].flatMap((ipFamily) => {
      const connection = this.#connections.findLast((each) => each.ipFamily === ipFamily);
      const failure = connection?.failure ?? null;
      return failure === null ? [] : [{ failure, address: connection?.address ?? null }];
    });
    const untried = this.#untriedFailures().map((failure) => ({ failure, address: null }));
    const all = [...ends, ...untried];
    const worst =
      all.find(({ failure }) => failure.code === 'CANCELLED') ??
      // A family that was not tried because of a fault of the agent: the target may be well.
      all.find(({ failure }) => isOwnFault(failure.code)) ??
      all[0];
    if (worst === undefined) throw new Error('a race ended without any failure');
    const others = ends.filter((each) => each !== worst).map(({ failure }) => failure.message);
    const message = [worst.failure.message, ...others].join('; ');
    const families = FAMILIES.flatMap((each) => this.#outcomeOf(each, null) ?? []);
    const dnsMs = this.#dnsMs ?? this.#stopwatch.elapsedMs();
    return {
      ok: false,
      failure: { ...worst.failure, message },
      address: worst.address,
      families,
      dnsMs,
    };
  }

  /** Why addresses were not found or may not be tried; families that the name lacks come last. */
  #untriedFailures(): readonly Failure[] {
    const { hostname } = this.#target;
    const found = [...this.#lookupFailures.values()];
    const real = found.filter(({ code }) => code !== 'DNS_NO_ADDRESS');
    const message = `${hostname} exists but has neither an IPv4 nor an IPv6 address`;
    return found.length > real.length ? [...real, { code: 'DNS_NO_ADDRESS', message }] : real;
  }

  /** @param winner null if no family was connected */
  #outcomeOf(ipFamily: IpFamily, winner: IpFamily | null): FamilyOutcome | null {
    const connections = this.#connections.filter((each) => each.ipFamily === ipFamily);
    const [first] = connections;
    if (first === undefined) {
      const failure = this.#lookupFailures.get(ipFamily);
      if (failure === undefined || HAS_NONE.has(failure.code)) return null;
      return { ...NO_ERROR, ipFamily, address: null, ...failedWith(failure) };
    }
    const pending = connections.find(({ failure }) => failure === null);
    if (pending === undefined) {
      const failure = first.failure;
      return failure && { ...NO_ERROR, ipFamily, address: first.address, ...failedWith(failure) };
    }
    const tookMs = this.#context.clock.monotonicMs() - pending.since.atMs;
    const requestError = `${this.#text(pending.address)} had not answered after ${millisecondsText(tookMs)}, when ${winner ?? 'the other family'} was connected`;
    const { address } = pending;
    return { ...NO_ERROR, ipFamily, address, outcome: 'unanswered', requestError };
  }
}

/** Closes a connection that was established at the same moment as the winner's. */
function closeLoser(event: Event): void {
  if (event.kind === 'ended' && event.end.ok) event.end.socket.destroy();
}

const NO_ERROR = { responseTime: null, requestErrorCode: null, requestError: null } as const;

/** Codes without a fault: the name has no address of the family, or the operator denied them. */
const HAS_NONE: ReadonlySet<string> = new Set(['DNS_NO_ADDRESS', 'ADDRESS_DENIED', 'CANCELLED']);

function failedWith({ code, message }: Failure) {
  return { outcome: 'failed', requestErrorCode: code, requestError: message } as const;
}

/** Two look-ups overlap, and spans that the kernel timed must not: the event loop times both. */
function withoutKernelTimes(starvation: StarvationWatch): StarvationWatch {
  return {
    startMs: starvation.startMs,
    sockets: starvation.sockets,
    get starvedMs() {
      return starvation.starvedMs;
    },
    get unseenMs() {
      return starvation.unseenMs;
    },
    mark: () => starvation.mark(),
    timedByKernel() {},
    pausedReading() {},
    timedOut: (certain) => starvation.timedOut(certain),
  };
}
