import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { isInTime } from '../../runtime/wait.ts';
import type { SystemResolver } from '../net/dns/system-resolver.ts';
import { openCapturer } from './capture/capturer.ts';
import type { Capturer } from './capture.ts';
import { EvidenceBudget } from './evidence.ts';
import { endOrphans } from './orphans.ts';
import type { Tracer } from './tracer.ts';
import { openTracer } from './traceroute/open-tracer.ts';

/** The trials take 4 s at most. What takes longer does not come: a folder on a dead mount. */
const LOOK_LIMIT_MS = 5000;

export interface OpenEvidenceOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly resolver: SystemResolver;
  readonly capturesSecrets: boolean;
  readonly onPass: (outcome: 'made' | 'busy') => void;
  /** Ends the look at once. */
  readonly signal: AbortSignal;
}

export interface OpenedEvidence {
  /** null where nothing can be said of what is there: no diagnostic passes are made then. */
  readonly room: EvidenceBudget | null;
  /** @param keepsCaptures whether they have somewhere to go */
  tell(keepsCaptures: boolean): void;
  close(): void;
}

export const NO_EVIDENCE: OpenedEvidence = { room: null, tell() {}, close() {} };

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
 * Looks for what traces and captures need, and ends the processes that an agent before this one,
 * killed in the middle, has left. Never rejects, and takes 5 s at most: the checks wait for it, and
 * so does the end of the agent.
 */
export async function openEvidence(
  options: OpenEvidenceOptions,
  look = findPrograms,
): Promise<OpenedEvidence> {
  const { clock, log, resolver, capturesSecrets, onPass, signal } = options;
  const limit = new AbortController();
  const end = (): void => limit.abort();
  const cancel = clock.after(LOOK_LIMIT_MS, end);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const looking = look(options);
  try {
    if (!(await isInTime(looking, limit.signal))) {
      void looking.then(([tracer]) => tracer.close()).catch(() => {});
      if (!signal.aborted) log.warn(`failures come without evidence: ${TOO_SLOW}`);
      return NO_EVIDENCE;
    }
    const [tracer, capturer, ended] = await looking;
    if (ended > 0) log.warn({ processes: ended }, 'ended what a killed agent had left running');
    const nameServers = () => resolver.nameServers();
    return {
      room: new EvidenceBudget({ clock, tracer, capturer, capturesSecrets, nameServers, onPass }),
      tell: (keepsCaptures) => tell(log, tracer, keepsCaptures ? capturer : null),
      close: () => tracer.close(),
    };
  } catch (fault) {
    // Without evidence an agent is worth as much as before.
    log.error({ err: fault }, `failures come without evidence: ${messageOf(fault)}`);
    return NO_EVIDENCE;
  } finally {
    cancel();
    signal.removeEventListener('abort', end);
  }
}

const TOO_SLOW = `looking for tcpdump and traceroute took longer than ${LOOK_LIMIT_MS / 1000} s`;

/** Says once what is missing and how to grant it. */
function tell(log: Logger, tracer: Tracer, capturer: Capturer | null): void {
  if (tracer.lack !== null) log.warn(`failures come without a trace: ${tracer.lack}`);
  else log.info({ method: tracer.method }, 'failures of the network are traced');
  if (capturer === null) return;
  if (capturer.lack === null) log.info('failures of the network are captured');
  else log.warn(`failures come without a packet capture: ${capturer.lack}`);
}
