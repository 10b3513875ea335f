import {
  absentOr,
  all,
  anyObject,
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
  string,
  type Table,
  withDefault,
} from './field-rules.ts';

const ADDON: Rule = object(all(['tier', 'tierDisplayName'], string));

export const ENTITLEMENTS: Table = {
  section: '2.9',
  resource: 'account entitlements',
  fields: {
    plan: required(string),
    planDisplayName: string,
    locations: required(
      object({
        all: array(object({ ...all(['id', 'name'], string), available: boolean })),
        maxPerCheck: number,
      }),
    ),
    entitlements: required(
      array(
        object({
          ...all(['key', 'name', 'description', 'type'], string),
          enabled: boolean,
          // Metered features have a quantity; features of another plan have the other fields.
          quantity: absentOr(number),
          ...all(['requiredPlan', 'requiredPlanDisplayName'], absentOr(string)),
          requiredAddon: absentOr(
            object(all(['name', 'displayName', 'tier', 'tierDisplayName'], string)),
          ),
        }),
      ),
    ),
    addons: object({ communicate: ADDON, resolve: ADDON }),
  },
};

export const ROOT_CAUSE_ANALYSIS: Table = {
  section: '2.10',
  resource: 'root cause analysis',
  fields: {
    ...all(['id', 'checkType', 'provider', 'model'], required(string)),
    durationMs: required(number),
    status: required(oneOf('COMPLETED')),
    ...all(['checkId', 'errorGroupId'], orNull(string)),
    created_at: date,
    analysis: object({
      ...all(['classification', 'userImpact', 'rootCause', 'codeFix'], string),
      evidence: array(
        object({ artifacts: array(object(all(['name', 'type'], string))), description: string }),
      ),
      referenceLinks: array(object(all(['url', 'title'], string))),
    }),
  },
};

export const MAINTENANCE_WINDOW: Table = {
  section: '2.11',
  resource: 'maintenance window',
  fields: {
    id: required(number),
    name: required({ ...string, maxLength: 200 }),
    ...all(['startsAt', 'endsAt'], required(date)),
    repeatUnit: required(oneOf('DAY', 'WEEK', 'MONTH')),
    created_at: required(date),
    updated_at: required(orNull(date)),
    tags: array(string),
    repeatInterval: orNull({ ...number, minimum: 1 }),
    repeatEndsAt: orNull(date),
    pauseAllChecks: withDefault(false, boolean),
    silenceAlertsTags: array(string),
    silenceAllAlerts: withDefault(false, boolean),
  },
};

const PERIOD: Rule = object({
  successRatio: object(all(['previousPeriod', 'currentPeriod'], number)),
  totalEntitiesCurrentPeriod: number,
});

export const HEARTBEAT_EVENT: Table = {
  section: '2.12',
  resource: 'heartbeat event',
  fields: {
    event: object({
      id: string,
      state: oneOf('EARLY', 'RECEIVED', 'GRACE', 'LATE', 'FAILING'),
      timestamp: dateTime,
      ...all(['source', 'userAgent'], string),
    }),
    stats: object({ last24Hours: PERIOD, last7Days: PERIOD }),
  },
};

export const CHECK_ERROR_GROUP: Table = {
  section: '2.13',
  resource: 'check error group',
  fields: {
    ...all(['id', 'checkId', 'errorHash'], required(string)),
    rawErrorMessage: required(orNull(string)),
    cleanedErrorMessage: required(string),
    ...all(['firstSeen', 'lastSeen'], required(date)),
    archivedUntilNextEvent: required(boolean),
    rootCauseAnalyses: array(anyObject),
  },
};

export const TEST_SESSION_ERROR_GROUP: Table = {
  section: '2.13',
  resource: 'test-session error group',
  fields: {
    id: required(string),
    environments: required(orNull(array(string))),
    errorHash: required(string),
    rawErrorMessage: required(orNull(string)),
    cleanedErrorMessage: required(string),
    ...all(['firstSeen', 'lastSeen'], required(date)),
    archivedUntilNextEvent: required(boolean),
    pwtMetadata: required(
      orNull(
        array(
          object({
            ...all(['projectName', 'testFile', 'testTitle'], string),
            suitePath: array(string),
          }),
        ),
      ),
    ),
    projectId: orNull(string),
    rootCauseAnalyses: array(anyObject),
  },
};

export const CLIENT_CERTIFICATE: Table = {
  section: '2.14',
  resource: 'client certificate',
  fields: {
    ...all(['host', 'cert', 'id'], required(string)),
    ca: orNull(string),
    created_at: dateTime,
  },
};

export const SNIPPET: Table = {
  section: '2.15',
  resource: 'snippet',
  fields: {
    id: number,
    ...all(['name', 'script'], string),
    created_at: dateTime,
    updated_at: orNull(dateTime),
  },
};

export const ERROR: Table = {
  section: '7',
  resource: 'error',
  fields: {
    statusCode: integer,
    ...all(['error', 'message'], string),
    attributes: absentOr(anyObject),
  },
};
