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
  /** By their process; the kernel answers the others, or nothing does. */
  readonly isAnsweredByTargets: boolean;
  /** In the form of a check file. */
  readonly entry: object;
}

/** Most checks have it. */
export const PERIOD_SECONDS = 10;
/** The longest run: an attempt waits for 30 s. */
const HANGING_PERIOD_SECONDS = 30;
/** 20 times the targets' delay. */
const DEGRADED_MS = 100;
const MAX_MS = 1000;
const THRESHOLDS = { degradedResponseTime: DEGRADED_MS, maxResponseTime: MAX_MS };

/** The highest frequency of DNS and ICMP checks. */
const MINUTELY = { frequency: 1, frequencyOffset: null };
const MINUTE_MS = 60_000;
/** A JSONPath that compares each row of a large body. */
const ROW_NAME = '$.rows[?(@.row == 4999)].name';
/** A pattern that tries each position of a large body, and reads a line from many of them. */
const LAST_WORDS = 'unpacked\\. (?!All)(.*)$';

/**
 * `count` checks of targets that answer in 5 ms, one check for each faulty target, and healthy and
 * faulty ones whose judgement costs CPU: of a compressed body, by a slow expression, of echoes.
 */
export function starvationChecks(ports: TargetPorts, count: number): readonly StarvationCheck[] {
  const healthy = Array.from({ length: count }, (_, index) => healthyCheck(ports, index));
  const web = (path: string): string => `http://127.0.0.1:${ports.http}/${path}`;
  const closed = `http://127.0.0.1:${ports.refuse}/`;
  const silent = `http://127.0.0.1:${ports.hang}/`;
  const assertion = (source: string, property: string, target: string): object => ({
    assertions: [{ source, property, comparison: 'EQUALS', target }],
  });
  const text = (target: string) => assertion('TEXT_BODY', LAST_WORDS, target);
  const row = (target: string) => assertion('JSON_BODY', ROW_NAME, target);
  const loss = (target: string) => assertion('JSON_RESPONSE', '$.packetLoss', target);
  const large = (id: string, expected: Expected, what: string, rest: object) => {
    return apiCheck(id, expected, { url: web(`healthy/${what}/${id}`), ...rest });
  };
  return [
    ...healthy,
    large('unpacked', 'passed', 'text', text('the end')),
    large('unpacked-wrong', 'failed', 'text', text('no end')),
    large('compared', 'passed', 'json', row('row-4999')),
    large('compared-wrong', 'failed', 'json', row('row-1')),
    pingCheck('pinged', 'passed', loss('0')),
    pingCheck('pinged-wrong', 'failed', loss('100')),
    apiCheck('broken', 'failed', { url: web('broken/1') }),
    apiCheck('slowish', 'degraded', { url: web('slowish/1') }),
    apiCheck('slow', 'failed', { url: web('slow/1') }),
    { ...apiCheck('refused', 'failed', { url: closed }), isAnsweredByTargets: false },
    {
      ...apiCheck('hanging', 'failed', { url: silent }, HANGING_PERIOD_SECONDS),
      isAnsweredByTargets: false,
    },
  ];
}

function healthyCheck(ports: TargetPorts, index: number): StarvationCheck {
  const id = `healthy-${index}`;
  const made = (checkType: string, rest: object): StarvationCheck => ({
    id,
    expected: 'passed',
    periodMs: PERIOD_SECONDS * 1000,
    isAnsweredByTargets: true,
    entry: { ...entryOf(id, PERIOD_SECONDS), checkType, ...THRESHOLDS, ...rest },
  });
  if (index % 6 === 3) {
    const heard = { source: 'RESPONSE_DATA', comparison: 'EQUALS', target: id };
    const request = { hostname: '127.0.0.1', port: ports.tcp, data: id, assertions: [heard] };
    return made('TCP', { request });
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
    return { ...made('DNS', { ...MINUTELY, request }), periodMs: MINUTE_MS };
  }
  const path = `/healthy/${index}`;
  const inTime = { source: 'RESPONSE_TIME', comparison: 'LESS_THAN', target: String(MAX_MS) };
  const request = { url: `http://127.0.0.1:${ports.http}${path}`, assertions: [inTime] };
  return made('API', { request: { method: 'GET', ...request } });
}

function pingCheck(id: string, expected: Expected, asked: object): StarvationCheck {
  const request = { hostname: '127.0.0.1', pingCount: 2, ...asked };
  const entry = { ...entryOf(id, PERIOD_SECONDS), ...MINUTELY, checkType: 'ICMP', request };
  return { id, expected, periodMs: MINUTE_MS, isAnsweredByTargets: false, entry };
}

function apiCheck(
  id: string,
  expected: Expected,
  asked: object,
  periodSeconds = PERIOD_SECONDS,
): StarvationCheck {
  const request = { method: 'GET', ...asked };
  const entry = { ...entryOf(id, periodSeconds), checkType: 'API', ...THRESHOLDS, request };
  return { id, expected, periodMs: periodSeconds * 1000, isAnsweredByTargets: true, entry };
}

function entryOf(id: string, periodSeconds: number): object {
  // Retries would hide false failures.
  return { id, name: id, frequency: 0, frequencyOffset: periodSeconds, retryStrategy: null };
}
