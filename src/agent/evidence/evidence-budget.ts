import type { ErrorCode } from '../../model/result/error-codes.ts';
import type { Traceroute } from '../../model/result/traceroute.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { NameServers } from '../net/dns/system/name-servers.ts';
import type { Endpoint } from '../probes/endpoint.ts';
import type { Captured, CaptureFilter, CaptureOutcome, Capturer } from './capture/capture.ts';
import type { Tracer } from './traceroute/tracer.ts';
import { tracerouteText } from './traceroute/traceroute-text.ts';

/** EVIDENCE: whether failures are diagnosed. `with-secrets`: captures may contain clear secrets. */
export const EVIDENCE_MODES = ['on', 'off', 'with-secrets'] as const;
export type EvidenceMode = (typeof EVIDENCE_MODES)[number];

/** src/agent/README.md, "Evidence: traceroute and packet capture". */
const LIMIT_MS = 10_000;
const MAX_CAPTURE_BYTES = 5 * 1024 * 1024;
const MAX_AT_ONCE = 2;

/** Failures that packets cannot explain: nothing was sent, or nothing may be sent. */
const WITHOUT_PACKETS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'VARIABLE_UNKNOWN',
  'CREDENTIAL_NOT_READABLE',
  'VARIABLE_DENIED',
  'REQUEST_INVALID',
  'SCRIPT_FAILED',
  'SCRIPT_TIMEOUT',
  'SCRIPT_MEMORY',
  'SCRIPT_REFUSED',
  'TOKEN_REFUSED',
  'TOKEN_ENDPOINT_UNAVAILABLE',
  'ADDRESS_DENIED',
  'CLIENT_CERT_INVALID',
  'ICMP_NOT_PERMITTED',
  'CANCELLED',
  'INTERNAL_ERROR',
]);

export function isWorthEvidence(code: ErrorCode | null): boolean {
  return code === null || !WITHOUT_PACKETS.has(code);
}

export interface EvidenceAbout {
  readonly endpoint: Endpoint;
  /**
   * Repeats the attempt during the capture. Resolves with its outcome, for example `passed`, soon
   * after the signal at the latest. null if nothing is to be captured.
   */
  readonly repeat: ((signal: AbortSignal) => Promise<string>) | null;
}

/** The result of a diagnostic pass. A part is null if it failed; the notes give the reason. */
export interface Evidence {
  readonly traceroute: Traceroute | null;
  readonly captured: Captured | null;
  /** For the job log. */
  readonly notes: readonly string[];
}

/** The part of the evidence that a result contains. */
export interface ReportedEvidence {
  readonly traceroute: Traceroute | null;
  /** The path of the capture; null if there is none. */
  readonly pcapDataUrl: string | null;
}

export interface EvidenceOptions {
  readonly clock: Clock;
  readonly tracer: Tracer;
  readonly capturer: Capturer;
  /** Also captures unencrypted requests with values that only the agent has. */
  readonly capturesSecrets: boolean;
  /** The system's name servers: the subject if the target's name has no address. */
  readonly nameServers: () => NameServers;
  /** Called for each pass; `busy`: skipped because others were in progress. */
  readonly onPass: (outcome: 'made' | 'busy') => void;
}

/**
 * Makes the diagnostic passes of src/agent/README.md, "Evidence: traceroute and packet capture": a
 * trace of the route to the target, and a capture of a repeated attempt. If the target's name has
 * no address, they are about the name servers. Only the run itself waits for its pass, and no pass
 * waits for another.
 */
export class EvidenceBudget {
  readonly #options: EvidenceOptions;
  #inProgress = 0;

  constructor(options: EvidenceOptions) {
    this.#options = options;
  }

  get captures(): boolean {
    return this.#options.capturer.lack === null;
  }

  /** Whether packets may be saved that contain values known only to the agent. */
  get capturesSecrets(): boolean {
    return this.#options.capturesSecrets;
  }

  /** Takes at most 11 s. Rejects only on an internal error, after both parts have ended. */
  async gather(about: EvidenceAbout, signal: AbortSignal): Promise<Evidence> {
    const { onPass, clock } = this.#options;
    if (this.#inProgress >= MAX_AT_ONCE) {
      onPass('busy');
      const note = `No trace and no capture: those of ${MAX_AT_ONCE} other runs were under way`;
      return { traceroute: null, captured: null, notes: [note] };
    }
    onPass('made');
    this.#inProgress += 1;
    try {
      const { endpoint, repeat } = about;
      const subject = this.#subjectOf(endpoint);
      const untilMs = clock.monotonicMs() + LIMIT_MS;
      // Waits for both parts even if one of them throws.
      const [traced, captured] = await Promise.allSettled([
        this.#trace(subject, signal),
        repeat === null ? NOT_WANTED : this.#capture(subject.filter, repeat, { signal, untilMs }),
      ]);
      const [trace, capture] = [settledValue(traced), settledValue(captured)];
      const notes = [...subject.notes, ...trace.notes, ...capture.notes];
      return { traceroute: trace.value, captured: capture.value, notes };
    } finally {
      this.#inProgress -= 1;
    }
  }

  #subjectOf({ hostname, address, port, transport }: Endpoint): Subject {
    if (address !== null) {
      const filter: CaptureFilter = { addresses: [address], port, transport };
      return { trace: { hostname, address }, filter, notes: [] };
    }
    const [first, ...others] = this.#options.nameServers().servers;
    const addresses = [first.address, ...others.map((server) => server.address)] as const;
    return {
      trace: { hostname: first.address, address: first.address },
      filter: { addresses, port: first.port, transport: 'dns' },
      notes: [`The evidence is about the name servers, which were asked for ${hostname}`],
    };
  }

  async #trace(subject: Subject, signal: AbortSignal): Promise<Part<Traceroute>> {
    const { tracer } = this.#options;
    if (tracer.lack !== null) return { value: null, notes: [`No trace: ${tracer.lack}`] };
    const traced = await tracer.trace(subject.trace, { signal, limitMs: LIMIT_MS });
    if (!traced.ok) return { value: null, notes: [`No trace: ${traced.note}`] };
    const { traceroute } = traced;
    return { value: traceroute, notes: tracerouteText(traceroute).trimEnd().split('\n') };
  }

  async #capture(
    filter: CaptureFilter,
    repeat: NonNullable<EvidenceAbout['repeat']>,
    { signal, untilMs }: { readonly signal: AbortSignal; readonly untilMs: number },
  ): Promise<Part<Captured>> {
    const { capturer, clock } = this.#options;
    if (capturer.lack !== null) return { value: null, notes: [`No capture: ${capturer.lack}`] };
    const bounds = { signal, limitMs: LIMIT_MS, maxBytes: MAX_CAPTURE_BYTES };
    const started = await capturer.start(filter, bounds);
    if (!started.ok) return { value: null, notes: [`No capture: ${started.note}`] };
    const limit = new AbortController();
    // The start of the capture is part of the time limit.
    const cancel = clock.after(untilMs - clock.monotonicMs(), () => limit.abort());
    const onAbort = (): void => limit.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) limit.abort();
    let ended: string;
    let stopped: CaptureOutcome;
    try {
      ended = await repeat(limit.signal);
    } finally {
      cancel();
      signal.removeEventListener('abort', onAbort);
      stopped = await started.capture.stop();
    }
    if (!stopped.ok) return { value: null, notes: [`No capture: ${stopped.note}`] };
    const { packets, truncated, dropped } = stopped.captured;
    const cut = truncated ? `, cut at ${MAX_CAPTURE_BYTES} bytes` : '';
    const lost = (dropped ?? 0) > 0 ? `, ${dropped} more were lost by the kernel` : '';
    const note = `Captured ${packets} packets${cut}${lost} of a repeated attempt, which ${ended}`;
    return { value: stopped.captured, notes: [note] };
  }
}

interface Subject {
  readonly trace: { readonly hostname: string; readonly address: string };
  readonly filter: CaptureFilter;
  readonly notes: readonly string[];
}

interface Part<Value> {
  readonly value: Value | null;
  readonly notes: readonly string[];
}

function settledValue<Value>(settled: PromiseSettledResult<Value>): Value {
  if (settled.status === 'fulfilled') return settled.value;
  throw settled.reason;
}

const NOT_WANTED: Part<Captured> = { value: null, notes: [] };
