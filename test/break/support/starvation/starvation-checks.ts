/** The targets' output when they are ready. */
export interface TargetPorts {
  readonly http: number;
  readonly tcp: number;
  readonly hang: number;
  readonly refuse: number;
  readonly dns: number;
}

/** The expected FINAL of a check. */
export type Expected = 'passed' | 'degraded' | 'failed';

export interface StarvationCheck {
  readonly id: string;
  readonly expected: Expected;
  readonly periodMs: number;
  /** The targets' name for its requests; null if nothing answers. */
  readonly targetName: string | null;
  /** In the form of a check file. */
  readonly entry: object;
}

const PERIOD_SECONDS = 10;
/** The longest run: an attempt waits for 30 s. */
const HANGING_PERIOD_SECONDS = 30;
/** 20 times the targets' delay. */
const DEGRADED_MS = 100;
const MAX_MS = 1000;
const THRESHOLDS = { degradedResponseTime: DEGRADED_MS, maxResponseTime: MAX_MS };

/** `count` checks of targets that answer in 5 ms, and one check for each faulty target. */
export function starvationChecks(ports: TargetPorts, count: number): readonly StarvationCheck[] {
  const healthy = Array.from({ length: count }, (_, index) => healthyCheck(ports, index));
  const web = (path: string): string => `http://127.0.0.1:${ports.http}/${path}`;
  const closed = `http://127.0.0.1:${ports.refuse}/`;
  const silent = `http://127.0.0.1:${ports.hang}/`;
  return [
    ...healthy,
    faulty('broken', 'failed', { url: web('broken/1') }, '/broken/1'),
    faulty('slowish', 'degraded', { url: web('slowish/1') }, '/slowish/1'),
    faulty('slow', 'failed', { url: web('slow/1') }, '/slow/1'),
    faulty('refused', 'failed', { url: closed }, null),
    faulty('hanging', 'failed', { url: silent }, null, HANGING_PERIOD_SECONDS),
  ];
}

function healthyCheck(ports: TargetPorts, index: number): StarvationCheck {
  const id = `healthy-${index}`;
  const made = (checkType: string, targetName: string, rest: object): StarvationCheck => ({
    id,
    expected: 'passed',
    periodMs: PERIOD_SECONDS * 1000,
    targetName,
    entry: { ...entryOf(id, PERIOD_SECONDS), checkType, ...THRESHOLDS, ...rest },
  });
  if (index % 6 === 3) {
    const heard = { source: 'RESPONSE_DATA', comparison: 'EQUALS', target: id };
    const request = { hostname: '127.0.0.1', port: ports.tcp, data: id, assertions: [heard] };
    return made('TCP', id, { request });
  }
  if (index % 6 === 4) {
    const name = `${id}.routed.test`;
    const { dns: port } = ports;
    const request = {
      query: name,
      recordType: 'A',
      nameServer: '127.0.0.1',
      port,
      protocol: 'UDP',
    };
    // Every minute, the highest frequency of a DNS check.
    return made('DNS', name, { frequency: 1, frequencyOffset: null, request });
  }
  const path = `/healthy/${index}`;
  const inTime = { source: 'RESPONSE_TIME', comparison: 'LESS_THAN', target: String(MAX_MS) };
  const request = { url: `http://127.0.0.1:${ports.http}${path}`, assertions: [inTime] };
  return made('API', path, { request: { method: 'GET', ...request } });
}

function faulty(
  id: string,
  expected: Expected,
  asked: object,
  targetName: string | null,
  periodSeconds = PERIOD_SECONDS,
): StarvationCheck {
  const request = { method: 'GET', ...asked };
  const entry = { ...entryOf(id, periodSeconds), checkType: 'API', ...THRESHOLDS, request };
  return { id, expected, periodMs: periodSeconds * 1000, targetName, entry };
}

function entryOf(id: string, periodSeconds: number): object {
  // Retries would hide false failures.
  return { id, name: id, frequency: 0, frequencyOffset: periodSeconds, retryStrategy: null };
}

/** No healthy target may take longer by its own clock. */
export const HEALTHY_LIMIT_MS = DEGRADED_MS;
