import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { isInTime } from '../../runtime/wait.ts';
import type { SystemResolver } from '../net/dns/system-resolver.ts';
import { openCapturer } from './capture/capturer.ts';
import type { Capturer } from './capture.ts';
import { EvidenceBudget } from './evidence-budget.ts';
import { endOrphans } from './orphans.ts';
import type { Tracer } from './tracer.ts';
import { openTracer } from './traceroute/open-tracer.ts';

/** The trials take at most 4 s, unless a folder is on a dead mount. */
const SEARCH_LIMIT_MS = 5000;

export interface OpenEvidenceOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly resolver: SystemResolver;
  readonly capturesSecrets: boolean;
  readonly onPass: (outcome: 'made' | 'busy') => void;
  /** Ends the search at once. */
  readonly signal: AbortSignal;
}

export interface OpenedEvidence {
  /** null if the search failed: then no diagnostic passes are made. */
  readonly budget: EvidenceBudget | null;
  /** @param keepsCaptures whether captures can be stored */
  logAvailability(keepsCaptures: boolean): void;
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

/**
 * Finds the programs and rights for traces and captures, and ends the processes that a killed agent
 * left. Never rejects, and takes at most 5 s: the start of the checks and the end of the agent wait
 * for it.
 */
export async function openEvidence(
  options: OpenEvidenceOptions,
  find = findPrograms,
): Promise<OpenedEvidence> {
  const { clock, log, resolver, capturesSecrets, onPass, signal } = options;
  const limit = new AbortController();
  const end = (): void => limit.abort();
  const cancel = clock.after(SEARCH_LIMIT_MS, end);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const search = find(options);
  try {
    if (!(await isInTime(search, limit.signal))) {
      void search.then(([tracer]) => tracer.close()).catch(() => {});
      if (!signal.aborted) log.warn(`evidence is disabled: ${TOO_SLOW}`);
      return NO_EVIDENCE;
    }
    const [tracer, capturer, ended] = await search;
    if (ended > 0)
      log.warn({ processes: ended }, 'ended processes that a killed agent had left running');
    const nameServers = () => resolver.nameServers();
    return {
      budget: new EvidenceBudget({ clock, tracer, capturer, capturesSecrets, nameServers, onPass }),
      logAvailability: (keepsCaptures) =>
        logAvailability(log, tracer, keepsCaptures ? capturer : null),
      close: () => tracer.close(),
    };
  } catch (fault) {
    log.error({ err: fault }, `evidence is disabled: ${messageOf(fault)}`);
    return NO_EVIDENCE;
  } finally {
    cancel();
    signal.removeEventListener('abort', end);
  }
}

const TOO_SLOW = `looking for tcpdump and traceroute took longer than ${SEARCH_LIMIT_MS / 1000} s`;

/** Logs once what is available, or what is missing and how to grant it. */
function logAvailability(log: Logger, tracer: Tracer, capturer: Capturer | null): void {
  if (tracer.lack !== null) log.warn(`traceroute is disabled: ${tracer.lack}`);
  else log.info({ method: tracer.method }, 'tracing network failures');
  if (capturer === null) return;
  if (capturer.lack === null) log.info('capturing packets of network failures');
  else log.warn(`packet capture is disabled: ${capturer.lack}`);
}
