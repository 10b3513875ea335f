import { durationText } from '../../../../runtime/text/duration-text.ts';
import type { AnalysisInput } from '../../analysis-input.ts';
import type { CauseRow } from '../cause.ts';
import { LINKS } from '../links.ts';
import { orderedPhases, type Phase, type Subject } from '../subject.ts';

interface PhaseRow {
  /** Names the phase in a sentence. */
  readonly what: string;
  readonly likely: string;
  readonly fix: string;
}

const NO_ROW: PhaseRow = {
  what: 'the run as a whole',
  likely: 'It is unknown which part was slow.',
  fix: 'Compare with earlier runs, and look at the load of the target at the time.',
};

const CONNECTING: PhaseRow = {
  what: 'establishing the TCP connection',
  likely:
    'Likely packets are lost and retransmitted (the first time after one second), or the host is far away or overloaded.',
  fix: 'Look for packet loss with a trace (mtr), and at the load of the host and its queue of new connections.',
};

/** What a long phase means. */
const PHASES: Readonly<Record<string, PhaseRow>> = {
  wait: {
    what: 'waiting in the agent before the request was sent',
    likely: "The target did not cause this delay: likely the agent's machine is overloaded.",
    fix: "Look at the load of the agent's machine; let it run fewer checks at once (JOB_CONCURRENCY) or add an agent.",
  },
  dns: {
    what: 'looking up the name',
    likely:
      'Likely a name server did not answer, so that the next one was asked, or the answer was not cached and came from far away.',
    fix: 'Check how long "dig" takes on the agent\'s machine with each of its name servers; remove the one that does not answer, and give the record a longer TTL.',
  },
  tcp: CONNECTING,
  connection: CONNECTING,
  tls: {
    what: 'the TLS handshake',
    likely:
      'Likely the server is short of CPU time, or the handshake needs more round trips than usual over a long distance.',
    fix: 'Look at the CPU load of the server that terminates TLS, and enable TLS 1.3, which needs one round trip less.',
  },
  firstByte: {
    what: 'waiting for the first byte of the answer',
    likely:
      'The network was fast, so the time was likely spent in the application: slow queries, missing caches, exhausted pools, or calls to other services.',
    fix: 'Profile the address that is checked: slow queries, calls to other services, and queues for workers. Compare with the last deployment.',
  },
  download: {
    what: 'receiving the body',
    likely:
      'Likely the body is large or sent slowly, or the network has little bandwidth or loses packets.',
    fix: 'Compress the body or make it smaller, serve it closer to the clients (a CDN), or check an address with a smaller body.',
  },
  data: {
    what: 'waiting for the data of the answer',
    likely: 'The connection was fast, so the time was likely spent in the service itself.',
    fix: 'Look at what the service did at the time of the run.',
  },
};

/** A phase and its usual length. */
export interface PhaseChange extends Phase {
  /** The median of the latest runs that passed; null without such runs. */
  readonly usualMs: number | null;
}

/** The phases of the failure with the medians of earlier runs that passed. */
export function phaseChanges(
  subject: Subject,
  { surroundings }: AnalysisInput,
): readonly PhaseChange[] {
  const before = surroundings.passed.map(({ phases }) => orderedPhases(phases));
  return subject.phases.map(({ name, ms }) => {
    const values = before.map((phases) => phases.find((one) => one.name === name)?.ms ?? 0);
    return { name, ms, usualMs: medianOf(values) };
  });
}

export function medianOf(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  if (upper === undefined) return null;
  const lower = sorted.length % 2 === 0 ? (sorted[middle - 1] ?? upper) : upper;
  return (lower + upper) / 2;
}

/** The phase that made the run slow: the one that grew most, else the longest. */
export function slowestOf(changes: readonly PhaseChange[]): PhaseChange | null {
  const grownBy = ({ ms, usualMs }: PhaseChange): number => ms - (usualMs ?? 0);
  return changes.reduce<PhaseChange | null>(
    (most, one) => (most === null || grownBy(one) > grownBy(most) ? one : most),
    null,
  );
}

export function phaseText(name: string): string {
  return (PHASES[name] ?? NO_ROW).what;
}

/** Why a run with an answer took too long. */
export const SLOW_CAUSE: CauseRow = {
  classification: 'SLOW_RESPONSE',
  cause(subject, input) {
    const { result, check } = input;
    const slowest = slowestOf(phaseChanges(subject, input));
    const limitMs = limitOf(check, result.overMaxResponseTime);
    const over =
      limitMs === null ? 'more than the check allows' : `over its limit of ${limitMs} ms`;
    const took = `${subject.target} answered after ${durationText(result.responseTime)}, ${over}.`;
    // The only phase of a DNS check is the total time.
    if (slowest === null) {
      return subject.kind === 'dns'
        ? `${took} Likely ${subject.resolver} had to ask other servers first, or did not answer the first query.`
        : `${took} ${NO_ROW.likely}`;
    }
    const usual =
      slowest.usualMs === null ? '' : `, where ${durationText(slowest.usualMs)} is usual`;
    const row = PHASES[slowest.name] ?? NO_ROW;
    return `${took} Most of the delay was ${row.what}: ${durationText(slowest.ms)}${usual}. ${row.likely}`;
  },
  fix(subject, input) {
    const slowest = slowestOf(phaseChanges(subject, input));
    const row = slowest === null ? NO_ROW : (PHASES[slowest.name] ?? NO_ROW);
    return `${row.fix} If this time is normal, raise the thresholds of the check.`;
  },
  links: [LINKS.caching],
};

function limitOf(check: AnalysisInput['check'], isOverMax: boolean): number | null {
  if (check === null || !('maxResponseTime' in check)) return null;
  return isOverMax ? check.maxResponseTime : check.degradedResponseTime;
}
