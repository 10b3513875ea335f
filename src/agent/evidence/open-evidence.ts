import { MINUTE_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { isInTime } from '../../runtime/wait.ts';
import type { SystemResolver } from '../net/dns/system/system-resolver.ts';
import type { Capturer } from './capture/capture.ts';
import { lackingCapturer, openCapturer } from './capture/capturer.ts';
import { EvidenceBudget } from './evidence-budget.ts';
import { endOrphans } from './orphans.ts';
import { lackingTracer, openTracer } from './traceroute/open-tracer.ts';
import type { Tracer } from './traceroute/tracer.ts';

/** How long the start waits. The trials take at most 4 s unless the machine is busy, as at boot. */
const START_WAIT_MS = 5000;
/** The limit of the search, reached only if a call hangs, for example on a dead mount. */
const SEARCH_LIMIT_MS = 10 * MINUTE_MS;

export interface OpenEvidenceOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly resolver: SystemResolver;
  readonly capturesSecrets: boolean;
  readonly onPass: (outcome: 'made' | 'busy') => void;
  /** Cancels the search at once. */
  readonly signal: AbortSignal;
}

export interface OpenedEvidence {
  /** null if the search failed: then no diagnostic passes are made. */
  readonly budget: EvidenceBudget | null;
  /**
   * Logs what is available, or what is missing and how to grant it, once the search has ended.
   *
   * @param keepsCaptures whether captures can be stored
   */
  logAvailability(keepsCaptures: boolean): void;
  /** Also ends a search that is in progress. */
  close(): void;
}

export const NO_EVIDENCE: OpenedEvidence = { budget: null, logAvailability() {}, close() {} };

function findPrograms({
  clock,
  log,
  resolver,
}: OpenEvidenceOptions): Promise<readonly [Tracer, Capturer, number]> {
  return Promise.all([
    openTracer({ clock, log, resolver }),
    openCapturer({ clock, log }),
    endOrphans({ log }),
  ]);
}

interface Programs {
  readonly tracer: Tracer;
  readonly capturer: Capturer;
}

type SearchEnd = 'found' | 'failed' | 'cancelled';

/**
 * Finds the programs and rights for traces and captures, and ends the processes that a killed agent
 * left. Never rejects, and takes at most 5 s, since the start of the checks waits for it. A search
 * that takes longer continues in parallel with the checks for at most 10 minutes: evidence is
 * gathered after its end.
 */
export async function openEvidence(
  options: OpenEvidenceOptions,
  find = findPrograms,
): Promise<OpenedEvidence> {
  const { clock, log, resolver, capturesSecrets, onPass } = options;
  const search = new ProgramSearch(options, find);
  const { ended } = search;
  const start = new AbortController();
  const cancel = clock.after(START_WAIT_MS, () => start.abort());
  const isInStart = await isInTime(ended, start.signal);
  cancel();
  if (isInStart && (await ended) !== 'found') return NO_EVIDENCE;
  if (!isInStart) log.warn(STILL_SEARCHING);
  const nameServers = () => resolver.nameServers();
  const { tracer, capturer } = search;
  const logFound = (keepsCaptures: boolean): void =>
    logAvailability(log, tracer, keepsCaptures ? capturer : null);
  return {
    budget: new EvidenceBudget({ clock, tracer, capturer, capturesSecrets, nameServers, onPass }),
    logAvailability(keepsCaptures) {
      if (isInStart) logFound(keepsCaptures);
      else void ended.then((end) => end === 'found' && logFound(keepsCaptures));
    },
    close: () => search.close(),
  };
}

const STILL_SEARCHING =
  'the search for tcpdump and traceroute runs in parallel with the checks: until it ends, failures have no evidence';
const NOT_YET = 'the agent is still looking for tcpdump and traceroute';
const TOO_SLOW = `looking for tcpdump and traceroute took longer than ${SEARCH_LIMIT_MS / MINUTE_MS} min`;

/**
 * | state | entered by | tracer and capturer |
 * |---|---|---|
 * | searching | – | say that the agent is still looking for them |
 * | ended | the search, its limit, an abort or `close` | those found, or why there are none |
 * | closed | `close` | traces end |
 */
class ProgramSearch {
  readonly tracer: Tracer;
  readonly capturer: Capturer;
  /** Never rejects. */
  readonly ended: Promise<SearchEnd>;
  readonly #options: OpenEvidenceOptions;
  readonly #cancelling = new AbortController();
  #programs = withoutPrograms(NOT_YET);

  constructor(options: OpenEvidenceOptions, find: typeof findPrograms) {
    this.#options = options;
    const programs = (): Programs => this.#programs;
    this.tracer = {
      get method() {
        return programs().tracer.method;
      },
      get lack() {
        return programs().tracer.lack;
      },
      trace: (target, limits) => programs().tracer.trace(target, limits),
      close: () => this.close(),
    };
    this.capturer = {
      get lack() {
        return programs().capturer.lack;
      },
      start: (filter, limits) => programs().capturer.start(filter, limits),
    };
    this.ended = this.#search(find);
  }

  close(): void {
    this.#cancelling.abort();
    this.#programs.tracer.close();
  }

  async #search(find: typeof findPrograms): Promise<SearchEnd> {
    const { clock, log, signal } = this.#options;
    const limit = new AbortController();
    const end = (): void => limit.abort();
    const cancelled = AbortSignal.any([signal, this.#cancelling.signal]);
    const cancel = clock.after(SEARCH_LIMIT_MS, end);
    cancelled.addEventListener('abort', end, { once: true });
    if (cancelled.aborted) end();
    try {
      const finding = find(this.#options);
      if (!(await isInTime(finding, limit.signal))) {
        void finding.then(([tracer]) => tracer.close()).catch(() => {});
        if (cancelled.aborted) return 'cancelled';
        log.warn(`evidence is disabled: ${TOO_SLOW}`);
        this.#programs = withoutPrograms(TOO_SLOW);
        return 'failed';
      }
      const [tracer, capturer, orphans] = await finding;
      if (orphans > 0)
        log.warn({ processes: orphans }, 'ended processes that a killed agent had left running');
      this.#programs = { tracer, capturer };
      if (this.#cancelling.signal.aborted) tracer.close();
      return 'found';
    } catch (fault) {
      log.error({ err: fault }, `evidence is disabled: ${messageOf(fault)}`);
      this.#programs = withoutPrograms(`the search for it failed: ${messageOf(fault)}`);
      return 'failed';
    } finally {
      cancel();
      cancelled.removeEventListener('abort', end);
    }
  }
}

function withoutPrograms(lack: string): Programs {
  return { tracer: lackingTracer(lack), capturer: lackingCapturer(lack) };
}

/** Logs once what is available, or what is missing and how to grant it. */
function logAvailability(log: Logger, tracer: Tracer, capturer: Capturer | null): void {
  if (tracer.lack !== null) log.warn(`traceroute is disabled: ${tracer.lack}`);
  else log.info({ method: tracer.method }, 'tracing network failures');
  if (capturer === null) return;
  if (capturer.lack === null) log.info('capturing packets of network failures');
  else log.warn(`packet capture is disabled: ${capturer.lack}`);
}
