import fc from 'fast-check';
import type { Identity } from '../servers/certificates.ts';
import type { FieldHint } from './json-arbitrary.ts';
import type { KnownIds } from './known-ids.ts';

export interface HintParts {
  readonly known: KnownIds;
  /** The slug of an existing private location. */
  readonly slug: string;
  readonly identity: Identity;
  /** Results of runs, in the agents' form. */
  readonly results: fc.Arbitrary<readonly unknown[]>;
}

/** Nothing listens there: requests are refused at once. */
const NOWHERE = 'http://127.0.0.1:9/hook';

type HintOf = (parts: HintParts) => FieldHint;

/** Hints for the fields of requests under these paths, before all others. */
const BY_PATH: readonly (readonly [path: RegExp, fields: Readonly<Record<string, HintOf>>])[] = [
  [
    /^\/v1\/checks\/(api|tcp)\b/,
    { frequency: () => values(0, 1, 10, 60, 1440), frequencyOffset: () => values(10, 20, 30) },
  ],
  [/^\/v1\/checks\/(tcp|dns|icmp)\b/, { onlyOn: () => values([]) }],
  [/^\/v1\/checks\/dns\b/, { query: () => values('a.example.com') }],
  [/^\/v1\/checks\b/, { url: () => values('https://a.example.com/path', 'http://192.0.2.7') }],
  [/^\/v1\/check-groups/, { privateLocations: ({ slug }) => values([], [slug]) }],
  [
    /^\/v1\/alert-channels/,
    {
      // By default channels send to the services of others.
      url: () => ({ values: fc.constant(NOWHERE), presence: 100 }),
      key: () => values('x-a', 'accept'),
      chatId: () => values('-1', '@a'),
      topic: () => values('a'),
      roomId: () => values('!a:b'),
    },
  ],
  [/^\/v1\/private-locations/, { slug: () => fresh('place') }],
  [/^\/v1\/status-pages(\/\{statusPageId\})?$/, { url: () => fresh('page') }],
  // A published incident cannot become a draft again.
  [/^\/v1\/status-pages\/incidents\/\{incidentId\}$/, { isDraft: () => values(false) }],
  [/^\/v1\/snippets/, { name: () => fresh('snippet') }],
  [/^\/v1\/variables/, { key: () => fresh('KEY_') }],
  [
    /^\/v1\/client-certificates/,
    {
      host: () => fresh('host-'),
      cert: ({ identity }) => values(identity.cert),
      key: ({ identity }) => values(identity.key),
      ca: ({ identity }) => values(null, identity.cert),
      passphrase: () => values(null),
    },
  ],
];

const BY_NAME: Readonly<Record<string, HintOf>> = {
  timeZone: () => values('UTC', 'Europe/Berlin'),
  // Every check needs these fields.
  privateLocations: ({ slug }) => ({ values: fc.constant([slug]), presence: 95 }),
  request: () => ({ values: null, presence: 95 }),
  heartbeat: () => ({ values: null, presence: 95 }),
  location: ({ slug }) => values(slug),
  groupId: ({ known }) => numberOf(known, '/v1/check-groups'),
  alertChannelId: ({ known }) => numberOf(known, '/v1/alert-channels'),
  serviceId: ({ known }) => idOf(known, '/v1/status-pages/services'),
  services: ({ known }) => someOf(known, '/v1/status-pages/services'),
  checkId: ({ known }) => idOf(known, '/v1/checks'),
  errorGroupId: ({ known }) => idOf(known, '/v1/error-groups'),
  resultId: ({ known }) => idOf(known, '/v1/check-results/{checkId}'),
  // Only failures of a project can be listed.
  projectId: () => ({ values: fc.constant('shop'), presence: 60 }),
  provider: () => values('rules'),
  results: ({ results }) => ({ values: results, presence: 70 }),
  hostname: () => values('a.example.com', '192.0.2.7'),
  frequency: () => values(1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440),
  // Any frequency but 0.
  frequencyOffset: () => values(1),
  degradedResponseTime: () => ({ values: fc.nat({ max: 500 }) }),
  maxResponseTime: () => ({ values: fc.integer({ min: 3000, max: 5000 }) }),
  degradedPacketLossThreshold: () => ({ values: fc.nat({ max: 10 }) }),
  maxPacketLossThreshold: () => ({ values: fc.integer({ min: 20, max: 100 }) }),
  startsAt: () => values('2026-01-31', '2026-01-31T09:00:00+02:00'),
  endsAt: () => values('2026-02-01', '2026-02-01T00:00:00.5Z'),
  repeatEndsAt: () => values(null, '2027-01-01'),
  startedAt: () => values('2026-01-01 10:00:00', '2026-01-01'),
  stoppedAt: () => values(null, '2026-01-02 10:00:00'),
  period: () => ({ values: fc.integer({ min: 30, max: 300 }) }),
  grace: () => ({ values: fc.integer({ min: 0, max: 300 }) }),
};

/** Valid values of a body field of the path, if more than its schema is known. */
export function hintFor(path: string, name: string, parts: HintParts): FieldHint | null {
  const own = BY_PATH.find(([paths, fields]) => paths.test(path) && Object.hasOwn(fields, name));
  const hintOf = own?.[1][name] ?? (Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined);
  return hintOf?.(parts) ?? null;
}

function values(...all: readonly unknown[]): FieldHint {
  return { values: fc.constantFrom(...all) };
}

/** Practically unique. */
function fresh(word: string): FieldHint {
  return { values: fc.nat({ max: 2 ** 30 }).map((number) => `${word}${number}`) };
}

/** One of the ids known when the value is made. */
function idOf(known: KnownIds, home: string): FieldHint {
  return { values: fc.nat().map((at) => oneAt(known.ids(home), at) ?? 'nothing') };
}

function numberOf(known: KnownIds, home: string): FieldHint {
  return { values: fc.nat().map((at) => Number(oneAt(known.ids(home), at) ?? 0)) };
}

function someOf(known: KnownIds, home: string): FieldHint {
  const picks = fc.array(fc.nat(), { maxLength: 3 });
  return {
    values: picks.map((ats) => [...new Set(ats.flatMap((at) => oneAt(known.ids(home), at) ?? []))]),
  };
}

function oneAt(ids: readonly string[], at: number): string | undefined {
  return ids[at % ids.length];
}
