import {
  absentOr,
  all,
  anyObject,
  array,
  boolean,
  date,
  dateTime,
  map,
  notShown,
  number,
  object,
  oneOf,
  orNull,
  type Rule,
  required,
  string,
  type Table,
} from './field-rules.ts';
import { ALERT_TYPES, CHECK_TYPES } from './vocabulary.ts';

const HTTP_RESPONSE: Rule = object({
  status: number,
  statusText: string,
  body: string,
  headers: anyObject,
  timings: notShown,
  timingPhases: notShown,
});

/** The fields of `apiCheckResult`; without a response it has the times only. */
const API_CHECK_RESULT: Rule = object({
  assertions: array(object({ source: string, target: string })),
  request: object({
    method: string,
    url: string,
    data: string,
    headers: anyObject,
    params: anyObject,
  }),
  response: orNull(HTTP_RESPONSE),
  // Null on success, as in the semantics.
  requestError: orNull(string),
  jobLog: notShown,
  jobAssets: notShown,
  pcapDataUrl: absentOr(string),
});

const AGENTIC_CHECK_RESULT: Rule = object({
  ...all(['summary', 'prompt'], string),
  assertions: array(
    object({ condition: string, passed: boolean, ...all(['actual', 'expected'], string) }),
  ),
  suggestions: array(
    object({
      ...all(['summary', 'prompt'], string),
      secrets: array(string),
      category: string,
    }),
  ),
  steps: array(
    object({
      ...all(['type', 'name'], string),
      input: anyObject,
      output: string,
      timestamp: dateTime,
      sequenceNumber: number,
    }),
  ),
  errors: array(anyObject),
  artifactManifest: anyObject,
});

export const CHECK_RESULT: Table = {
  section: '2.4',
  resource: 'check result',
  fields: {
    resultType: required(oneOf('FINAL', 'ATTEMPT')),
    ...all(['id', 'name', 'checkId'], string),
    ...all(['hasFailures', 'hasErrors'], boolean),
    isDegraded: orNull(boolean),
    isCancelled: boolean,
    overMaxResponseTime: orNull(boolean),
    runLocation: string,
    ...all(['startedAt', 'stoppedAt'], orNull(dateTime)),
    created_at: dateTime,
    responseTime: number,
    // Not `or null`: other types of checks omit the field.
    apiCheckResult: absentOr(API_CHECK_RESULT),
    browserCheckResult: orNull(anyObject),
    multiStepCheckResult: orNull(anyObject),
    agenticCheckResult: absentOr(AGENTIC_CHECK_RESULT),
    checkRunId: number,
    attempts: number,
    sequenceId: orNull(string),
    // Its type allows null, but it is "always an array".
    errorGroupIds: array(string),
  },
};

/** The result of a URL or an API check with a response. */
export const HTTP_CHECK_RESULT: Table = {
  ...CHECK_RESULT,
  fields: { ...CHECK_RESULT.fields, apiCheckResult: API_CHECK_RESULT },
};

export const CHECK_STATUS: Table = {
  section: '2.5',
  resource: 'check status',
  fields: {
    name: required(string),
    checkId: string,
    ...all(['hasFailures', 'hasErrors', 'isDegraded'], boolean),
    ...all(['longestRun', 'shortestRun'], orNull(number)),
    ...all(['lastRunLocation', 'lastCheckRunId'], orNull(string)),
    sslDaysRemaining: orNull(number),
    created_at: date,
    updated_at: orNull(dateTime),
  },
};

export const CHECK_ALERT: Table = {
  section: '2.6',
  resource: 'check alert',
  fields: {
    name: required(string),
    ...all(['id', 'checkId'], string),
    alertType: oneOf(...ALERT_TYPES),
    checkType: oneOf(...CHECK_TYPES),
    runLocation: string,
    responseTime: number,
    error: orNull(string),
    statusCode: orNull(string),
    created_at: date,
    startedAt: date,
  },
};

export const ANALYTICS_REPORT: Table = {
  section: '2.7',
  resource: 'analytics report',
  fields: {
    ...all(['checkId', 'name'], string),
    checkType: oneOf(...CHECK_TYPES),
    ...all(['activated', 'muted'], boolean),
    frequency: number,
    ...all(['from', 'to'], date),
    tags: array(string),
    series: array(string),
    pagination: object({ page: number, limit: number }),
    metadata: map(
      object({
        unit: oneOf('milliseconds', 'percentage', 'count'),
        label: string,
        aggregation: string,
      }),
    ),
  },
};
