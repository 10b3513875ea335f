const LOCATED = { name: 'Check', locations: ['eu-west-1'] };
/** The smallest valid body of each type. */
export const SMALLEST = {
  url: { ...LOCATED, request: { url: 'https://shop.test/' } },
  api: { ...LOCATED, request: { url: 'https://shop.test/' } },
  tcp: { ...LOCATED, request: { hostname: 'shop.test', port: 443 } },
  dns: { ...LOCATED, request: { query: 'shop.test', recordType: 'A' } },
  icmp: { ...LOCATED, request: { hostname: 'shop.test' } },
  heartbeats: {
    name: 'Backup',
    heartbeat: { period: 1, periodUnit: 'HOURS', grace: 5, graceUnit: 'MINUTES' },
  },
} as const;

type Type = keyof typeof SMALLEST;
type Limit = readonly [
  Type,
  string,
  (value: never) => object,
  readonly unknown[],
  readonly unknown[],
];

const thresholds = (most: number, type: Type): readonly Limit[] => [
  [
    type,
    'degradedResponseTime',
    (degradedResponseTime: number) => ({ degradedResponseTime, maxResponseTime: most }),
    [0, most, null],
    [-1, most + 1],
  ],
  [
    type,
    'maxResponseTime',
    (maxResponseTime: number) => ({ degradedResponseTime: 0, maxResponseTime }),
    [0, most, null],
    [-1, most + 1],
  ],
];

const settings = (alertSettings: object): object => ({ alertSettings });
const retry = (fields: object): object => ({ retryStrategy: { type: 'FIXED', ...fields } });
const urlOf = (length: number): string => `https://shop.test/${'x'.repeat(length - 18)}`;
const nameOf = (length: number): string =>
  `${'a.'.repeat(length)}`.slice(0, length - 1).concat('a');
const heartbeat = (fields: object): object => ({
  heartbeat: { ...SMALLEST.heartbeats.heartbeat, ...fields },
});

/** Valid and invalid values of fields, by the semantics, sections 1, 5 and 6. */
export const LIMITS: readonly Limit[] = [
  ...thresholds(30_000, 'api'),
  ...thresholds(5000, 'tcp'),
  ...thresholds(5000, 'dns'),
  [
    'url',
    'url',
    (url: string) => ({ request: { url } }),
    [urlOf(2048)],
    [urlOf(2049), '', 'ftp://a'],
  ],
  ['url', 'method', request('url', 'method'), ['GET'], ['POST', 'HEAD']],
  [
    'api',
    'method',
    request('api', 'method'),
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
    ['TRACE', 'get'],
  ],
  [
    'api',
    'bodyType',
    request('api', 'bodyType'),
    ['JSON', 'FORM', 'RAW', 'GRAPHQL', 'NONE'],
    ['XML'],
  ],
  ['api', 'ipFamily', request('api', 'ipFamily'), ['IPv4', 'IPv6'], ['IPv5']],
  ['tcp', 'port', request('tcp', 'port'), [1, 65_535], [0, 65_536]],
  [
    'dns',
    'recordType',
    request('dns', 'recordType'),
    ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SOA', 'NS', 'SRV', 'CAA', 'PTR', 'HTTPS'],
    ['ANY'],
  ],
  ['dns', 'query', request('dns', 'query'), ['a', nameOf(253)], ['', nameOf(254)]],
  ['dns', 'protocol', request('dns', 'protocol'), ['UDP', 'TCP'], ['DOH']],
  ['icmp', 'pingCount', request('icmp', 'pingCount'), [1, 50], [0, 51]],
  [
    'url',
    'retryStrategy.type',
    (type: string) => retry({ type }),
    ['FIXED', 'LINEAR', 'EXPONENTIAL', 'SINGLE_RETRY', 'NO_RETRIES'],
    ['SOMETIMES'],
  ],
  ['url', 'retryStrategy.maxRetries', (maxRetries) => retry({ maxRetries }), [1, 10], [0, 11]],
  [
    'url',
    'retryStrategy.maxDurationSeconds',
    (maxDurationSeconds) => retry({ maxDurationSeconds }),
    [0, 600],
    [-1, 601],
  ],
  ['url', 'retryStrategy.onlyOn', (onlyOn) => retry({ onlyOn }), [['NETWORK_ERROR']], [['RAIN']]],
  [
    'url',
    'escalationType',
    (escalationType) => settings({ escalationType }),
    ['RUN_BASED', 'TIME_BASED'],
    ['MOOD_BASED'],
  ],
  [
    'url',
    'failedRunThreshold',
    (failedRunThreshold) => settings({ runBasedEscalation: { failedRunThreshold } }),
    [1, 5],
    [0, 6],
  ],
  [
    'url',
    'minutesFailingThreshold',
    (minutesFailingThreshold) => settings({ timeBasedEscalation: { minutesFailingThreshold } }),
    [5, 10, 15, 30],
    [0, 6, 31],
  ],
  [
    'url',
    'reminders.amount',
    (amount) => settings({ reminders: { amount } }),
    [0, 5, 100_000],
    [-1, 6, 99_999],
  ],
  [
    'url',
    'reminders.interval',
    (interval) => settings({ reminders: { interval } }),
    [1, 2, 3, 4, 5, 10, 15, 30],
    [0, 6, 31],
  ],
  [
    'url',
    'parallelRunFailureThreshold.percentage',
    (percentage) => settings({ parallelRunFailureThreshold: { enabled: true, percentage } }),
    [10, 100],
    [9, 101],
  ],
  [
    'heartbeats',
    'period in seconds',
    (period) => heartbeat({ period, periodUnit: 'SECONDS' }),
    [30, 365 * 86_400],
    [29, 365 * 86_400 + 1],
  ],
  [
    'heartbeats',
    'grace in days',
    (grace) => heartbeat({ grace, graceUnit: 'DAYS' }),
    [0, 365],
    [-1, 366],
  ],
];

function request(type: Exclude<Type, 'heartbeats'>, field: string): (value: never) => object {
  return (value) => ({ request: { ...SMALLEST[type].request, [field]: value } });
}
