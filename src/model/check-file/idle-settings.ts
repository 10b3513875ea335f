import { decidesStatus } from '../check/assertions/assertion.ts';
import type { Section } from './sections.ts';

/** A setting in a check file that has no effect. */
export interface IdleSetting {
  /** Inside the entry. */
  readonly path: readonly string[];
  /** Follows `has no effect: `. */
  readonly why: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** An entry of a check file. */
export interface EntrySettings {
  /** As it is written; for a check, with the `defaults` of the file. */
  readonly given: Fields;
  /** With every default of the schema filled in. */
  readonly inForce: Fields;
}

interface Rule {
  readonly path: readonly string[];
  readonly isIdle: (entry: EntrySettings) => boolean;
  readonly why: string;
  /** Whether the rule also applies to values that switch the setting off. Default: false. */
  readonly anyValue?: boolean;
}

const inForceAt = ({ inForce }: EntrySettings, ...path: readonly string[]): unknown =>
  valueAt(inForce, path);

/** All but the type. */
const RETRY_FIELDS = [
  'baseBackoffSeconds',
  'maxRetries',
  'maxDurationSeconds',
  'sameRegion',
  'onlyOn',
];

const RETRIES: readonly Rule[] = [
  {
    path: ['doubleCheck'],
    isIdle: ({ inForce }) => inForce.retryStrategy !== undefined,
    why: 'retryStrategy decides about retries',
    anyValue: true,
  },
  ...RETRY_FIELDS.map((field) => ({
    path: ['retryStrategy', field],
    isIdle: (entry: EntrySettings) => inForceAt(entry, 'retryStrategy', 'type') === 'NO_RETRIES',
    why: 'the type NO_RETRIES makes no retries',
  })),
  {
    path: ['retryStrategy', 'maxRetries'],
    isIdle: (entry) => inForceAt(entry, 'retryStrategy', 'type') === 'SINGLE_RETRY',
    why: 'the type SINGLE_RETRY makes one retry',
  },
];

const WITHIN_ALERT_SETTINGS: readonly Rule[] = [
  {
    path: ['alertSettings', 'runBasedEscalation'],
    isIdle: (entry) => inForceAt(entry, 'alertSettings', 'escalationType') === 'TIME_BASED',
    why: 'the escalationType is TIME_BASED',
  },
  {
    path: ['alertSettings', 'timeBasedEscalation'],
    isIdle: (entry) => inForceAt(entry, 'alertSettings', 'escalationType') === 'RUN_BASED',
    why: 'the escalationType is RUN_BASED, its default',
  },
  {
    path: ['alertSettings', 'reminders', 'interval'],
    isIdle: (entry) => inForceAt(entry, 'alertSettings', 'reminders', 'amount') === 0,
    why: 'the amount of reminders is 0, its default',
  },
  {
    path: ['alertSettings', 'parallelRunFailureThreshold', 'percentage'],
    isIdle: (entry) =>
      inForceAt(entry, 'alertSettings', 'parallelRunFailureThreshold', 'enabled') === false,
    why: 'enabled is false, its default',
  },
];

/** The rules for checks and heartbeats. */
const ALERT_SETTINGS: readonly Rule[] = [
  {
    path: ['alertSettings'],
    isIdle: ({ inForce }) => inForce.useGlobalAlertSettings === true,
    why: 'useGlobalAlertSettings is true, its default, so those of the account apply; set it to false',
  },
  ...WITHIN_ALERT_SETTINGS,
];

const unlessDns = (protocols: readonly string[]) => (entry: EntrySettings) =>
  inForceAt(entry, 'checkType') === 'DNS' &&
  !protocols.includes(String(inForceAt(entry, 'request', 'protocol')));
const withoutTls = (entry: EntrySettings): boolean =>
  inForceAt(entry, 'checkType') === 'TCP' && inForceAt(entry, 'request', 'tls') === 'OFF';

const REQUESTS: readonly Rule[] = [
  ...['dohPath', 'dohMethod'].map((field) => ({
    path: ['request', field],
    isIdle: unlessDns(['DOH']),
    why: 'the protocol is not DOH',
  })),
  ...['serverName', 'skipSSL'].map((field) => ({
    path: ['request', field],
    isIdle: unlessDns(['DOT', 'DOH']),
    why: 'the protocol is neither DOT nor DOH, so there is no TLS',
  })),
  {
    path: ['request', 'compareServers'],
    isIdle: (entry) =>
      inForceAt(entry, 'checkType') === 'DNS' &&
      inForceAt(entry, 'request', 'compareSerials') === false,
    why: 'compareSerials is false, its default',
  },
  ...['serverName', 'alpnProtocols', 'skipSSL'].map((field) => ({
    path: ['request', field],
    isIdle: withoutTls,
    why: 'tls is OFF, its default',
  })),
  {
    path: ['request', 'body'],
    isIdle: (entry) =>
      inForceAt(entry, 'checkType') === 'API' && inForceAt(entry, 'request', 'bodyType') === 'NONE',
    why: 'bodyType is NONE, its default, so no body is sent; set it to RAW or JSON, for example',
  },
];

const UNUSED_RUNTIME: Rule = {
  path: ['runtimeId'],
  isIdle: () => true,
  why: 'scripts run in one runtime, whichever is named',
};

const CHECKS: readonly Rule[] = [
  ...RETRIES,
  ...ALERT_SETTINGS,
  ...REQUESTS,
  UNUSED_RUNTIME,
  {
    path: ['shouldFail'],
    isIdle: (entry) => assertionsOf(entry).some(decidesStatus),
    why: 'an assertion STATUS_CODE ONE_OF decides which statuses pass',
  },
  {
    path: ['groupOrder'],
    isIdle: ({ given }) => !isSet(given.groupId),
    why: 'the check has no group',
  },
  {
    path: ['runParallel'],
    // A group may have more locations.
    isIdle: ({ given, inForce }) =>
      !isSet(given.groupId) &&
      lengthOf(inForce.privateLocations) + lengthOf(inForce.locations) <= 1,
    why: 'the check has no second location',
  },
];

const OF_SECTIONS: Readonly<Record<Section, readonly Rule[]>> = {
  alertChannels: [
    {
      path: ['sslExpiryThreshold'],
      isIdle: ({ inForce }) => inForce.sslExpiry === false,
      why: 'sslExpiry is false, its default',
    },
  ],
  groups: [
    ...WITHIN_ALERT_SETTINGS,
    UNUSED_RUNTIME,
    {
      path: ['locations'],
      isIdle: () => true,
      why: 'checks run in their private locations',
    },
  ],
  heartbeats: ALERT_SETTINGS,
  statusServices: [
    {
      path: ['failureLocations'],
      isIdle: ({ inForce }) => inForce.failureRule !== 'LOCATIONS',
      why: 'the failureRule is not LOCATIONS',
    },
  ],
  statusPages: [],
  maintenanceWindows: [
    {
      path: ['repeatEndsAt'],
      isIdle: ({ inForce }) => inForce.repeatInterval === null,
      why: 'without repeatInterval the window does not repeat',
    },
    {
      path: ['tags'],
      isIdle: ({ inForce }) => inForce.pauseAllChecks === true,
      why: 'pauseAllChecks is true',
    },
    {
      path: ['silenceAlertsTags'],
      isIdle: ({ inForce }) => inForce.silenceAllAlerts === true,
      why: 'silenceAllAlerts is true',
    },
  ],
};

/** The settings of a valid entry that have no effect, in the order of the rules. */
export function idleSettings(
  kind: Section | 'checks',
  entry: EntrySettings,
): readonly IdleSetting[] {
  const rules = kind === 'checks' ? CHECKS : OF_SECTIONS[kind];
  const idle = rules.flatMap(({ path, isIdle, why, anyValue = false }) => {
    const value = valueAt(entry.given, path);
    const isGiven = anyValue ? value !== undefined : isSet(value);
    return isGiven && isIdle(entry) ? [{ path, why }] : [];
  });
  // A setting inside one without effect would be reported twice.
  return idle.filter(({ path }) => !idle.some((other) => isInside(path, other.path)));
}

function isInside(path: readonly string[], other: readonly string[]): boolean {
  return path.length > other.length && other.every((step, index) => path[index] === step);
}

/** The assertions of a valid check. */
function assertionsOf(
  entry: EntrySettings,
): readonly { readonly source: string; readonly comparison: string }[] {
  const assertions = inForceAt(entry, 'request', 'assertions');
  return Array.isArray(assertions) ? assertions : [];
}

/** Whether a value does more than switch its setting off. */
function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== undefined && value !== null && value !== false && value !== '';
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

function valueAt(fields: Fields, path: readonly string[]): unknown {
  let at: unknown = fields;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = Reflect.get(at, step);
  }
  return at;
}
