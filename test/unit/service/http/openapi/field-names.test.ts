import { describe, expect, it } from 'vitest';
import { NEW_NAMES } from '../../../../../src/service/http/resources/deprecated-names.ts';
import { serviceDocument } from '../../../../support/openapi/service-document.ts';

/** The meaning of each field whose value is a day or an instant. */
const TIMES: Readonly<Record<string, string>> = {
  alertedAt: 'when an alert was given',
  at: 'when an event, error or change happened',
  confirmedAt: 'when a subscriber confirmed the address',
  created_at: 'when the resource was created',
  date: 'the day of a value of a series',
  endedAt: 'when an agent ended',
  endsAt: 'when a planned window or a session ends',
  expiresAt: 'when an invitation expires',
  failsAt: 'when a heartbeat fails unless it is pinged',
  finishedAt: 'when a delivery was sent or given up',
  firstSeen: 'when an error occurred, or an agent polled, first',
  from: 'the beginning of a queried window, inclusive',
  lastAttemptAt: 'when a delivery was last attempted',
  lastPingAt: 'when a heartbeat was last pinged',
  lastRunAt: 'when a check last ran',
  lastSeen: 'when an error occurred, or an agent polled, last',
  lastSignInAt: 'when a user last signed in',
  lastSlot: 'the last slot of a range',
  lastUsedAt: 'when a key or session was last used',
  leaseUntil: 'when the lease of an agent ends',
  nextAttemptAt: 'when a delivery is attempted next',
  notAfter: 'the latest start of a run',
  notifiedAt: 'when channels were notified of a problem',
  publicIncidentUpdateDate: 'the time that an update of an incident shows',
  receivedAt: 'when the service received a report',
  repeatEndsAt: 'when a window repeats no more',
  revokedAt: 'when a key was revoked',
  seenAt: 'when a run last saw a certificate',
  silentSince: 'when the last lease of a location ended',
  since: 'since when a check is in its state',
  slot: 'when a run is due, which identifies it',
  start: 'the beginning of an interval of a series',
  startBy: 'when an unsaved check that was tried expires unless it has begun',
  startedAt: 'when a run, an outage or a session of tests began',
  startsAt: 'when a planned window begins',
  stoppedAt: 'when a run, an outage or a session of tests ended',
  suspendedUntil: 'when a subscriber gets messages again',
  time: 'the instant of a value of a series',
  timestamp: 'when a heartbeat changed its state',
  to: 'the end of a queried window, exclusive',
  updated_at: 'when the resource was last changed',
};
/** The only names of the API with an underscore. */
const SNAKE_CASE = ['created_at', 'updated_at'];
/** Names of DNS responses. Other fields may have the same names in lower case. */
const OF_DNS = ['Answer', 'Status', 'TTL'];

interface Field {
  readonly name: string;
  readonly isTime: boolean;
  readonly isDeprecated: boolean;
}

const fields = fieldsIn(await serviceDocument());

/** Every field of every schema in the document. */
function fieldsIn(value: unknown): readonly Field[] {
  if (typeof value !== 'object' || value === null) return [];
  const { properties } = value as { readonly properties?: Readonly<Record<string, object>> };
  const own = Object.entries(properties ?? {}).map(([name, field]) => ({
    name,
    isTime: isTime(field),
    isDeprecated: 'deprecated' in field && field.deprecated === true,
  }));
  return [...own, ...Object.values(value).flatMap(fieldsIn)];
}

/** Whether the value itself, not a part of it, is a day or an instant. */
function isTime(field: object): boolean {
  const { format, anyOf, oneOf, allOf } = field as {
    readonly format?: string;
    readonly anyOf?: readonly object[];
    readonly oneOf?: readonly object[];
    readonly allOf?: readonly object[];
  };
  if (format === 'date' || format === 'date-time') return true;
  return [anyOf, oneOf, allOf].some((variants) => variants?.some(isTime) === true);
}

describe('the fields of the API', () => {
  it('have one spelling for each name', () => {
    const spellings = new Map<string, Set<string>>();
    for (const { name } of fields) {
      if (OF_DNS.includes(name) || name in NEW_NAMES) continue;
      const key = name.toLowerCase().replaceAll('_', '');
      spellings.set(key, (spellings.get(key) ?? new Set()).add(name));
    }
    expect([...spellings.values()].filter(({ size }) => size > 1)).toEqual([]);
  });

  it('are in camelCase, but for created_at and updated_at', () => {
    const snake = fields
      .map(({ name }) => name)
      .filter((name) => name.includes('_') && !(name in NEW_NAMES));
    expect(new Set(snake)).toEqual(new Set(SNAKE_CASE));
  });

  it('name each kind of time as the table does', () => {
    const names = fields.filter((field) => field.isTime).map(({ name }) => name);
    const unknown = names.filter((name) => !(name in TIMES) && !(name in NEW_NAMES));
    expect([...new Set(unknown)]).toEqual([]);
    const unused = Object.keys(TIMES).filter((name) => !names.includes(name));
    expect(unused).toEqual([]);
  });

  it('are marked as deprecated where they have an old name, and stand beside the new one', () => {
    for (const [old, name] of Object.entries(NEW_NAMES)) {
      const found = fields.filter((field) => field.name === old);
      expect(found.length, old).toBeGreaterThan(0);
      expect(
        found.every(({ isDeprecated }) => isDeprecated),
        old,
      ).toBe(true);
      expect(
        fields.some((field) => field.name === name),
        name,
      ).toBe(true);
    }
  });
});
