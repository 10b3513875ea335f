import {
  absentOr,
  array,
  boolean,
  date,
  dateTime,
  integer,
  number,
  object,
  oneOf,
  orNull,
  type Rule,
  required,
  responseOnly,
  string,
  type Table,
  withDefault,
} from './field-rules.ts';
import { CHECK_FREQUENCIES, LOCATIONS, RUNTIME_IDS } from './vocabulary.ts';

/** Part 2.3; the allowed values that it does not list come from the headings of the semantics. */
export const ALERT_SETTINGS: Rule = object({
  escalationType: oneOf('RUN_BASED', 'TIME_BASED'),
  runBasedEscalation: object({ failedRunThreshold: integer }),
  reminders: object({ amount: integer, interval: integer }),
  parallelRunFailureThreshold: object({ enabled: boolean, percentage: number }),
});

export const RETRY_STRATEGY: Rule = object({
  type: oneOf('FIXED', 'LINEAR', 'EXPONENTIAL', 'SINGLE_RETRY', 'NO_RETRIES'),
  baseBackoffSeconds: number,
  sameRegion: boolean,
  maxRetries: number,
  maxDurationSeconds: number,
  onlyOn: absentOr(array(oneOf('NETWORK_ERROR'))),
});

export const TRIGGER_INCIDENT: Rule = object({
  serviceId: string,
  severity: oneOf('CRITICAL', 'MAJOR', 'MEDIUM', 'MINOR'),
  name: string,
  description: string,
  notifySubscribers: boolean,
});

export const URL_REQUEST: Rule = object({
  url: string,
  method: oneOf('GET'),
  followRedirects: boolean,
  skipSSL: boolean,
  ipFamily: oneOf('IPv4', 'IPv6'),
  assertions: array(object({ source: oneOf('STATUS_CODE'), comparison: string, target: string })),
});

const PARAMETERS = array(object({ key: string, value: string, locked: boolean }));

export const ALERT_CHANNELS: Rule = object({
  email: array(object({ address: string })),
  webhook: array(
    object({
      url: string,
      name: string,
      method: string,
      headers: PARAMETERS,
      queryParameters: PARAMETERS,
    }),
  ),
  slack: array(object({ url: string })),
  sms: array(object({ number: string, name: string })),
});

export const URL_MONITOR: Table = {
  section: '2.2',
  resource: 'URL monitor',
  fields: {
    name: required(string),
    id: responseOnly(string),
    activated: withDefault(true, boolean),
    muted: withDefault(false, boolean),
    doubleCheck: withDefault(true, boolean),
    shouldFail: withDefault(false, boolean),
    locations: orNull(array(oneOf(...LOCATIONS))),
    tags: array(string),
    alertSettings: ALERT_SETTINGS,
    useGlobalAlertSettings: withDefault(true, boolean),
    groupId: orNull(number),
    groupOrder: orNull({ ...number, minimum: 0 }),
    runtimeId: orNull(oneOf(...RUNTIME_IDS)),
    alertChannelSubscriptions: array(object({ alertChannelId: number, activated: boolean })),
    // These three are not `or null`: a check without them omits the field.
    retryStrategy: absentOr(RETRY_STRATEGY),
    triggerIncident: absentOr(TRIGGER_INCIDENT),
    runParallel: withDefault(false, boolean),
    description: orNull({ ...string, maxLength: 500 }),
    request: URL_REQUEST,
    frequency: withDefault(10, oneOf(...CHECK_FREQUENCIES)),
    frequencyOffset: absentOr({ ...integer, minimum: 1 }),
    degradedResponseTime: withDefault(3000, orNull({ ...number, minimum: 0, maximum: 30_000 })),
    maxResponseTime: withDefault(5000, orNull({ ...number, minimum: 0, maximum: 30_000 })),
    privateLocations: orNull(array(string)),
    created_at: responseOnly(date),
    updated_at: responseOnly(orNull(dateTime)),
    alertChannels: responseOnly(ALERT_CHANNELS),
    checkType: responseOnly(oneOf('URL')),
  },
};
