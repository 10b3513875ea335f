import fc from 'fast-check';
import { resultIdOf, sequenceIdOf } from '../../../../../src/model/ids.ts';
import {
  type AssignmentMessage,
  assignmentMessageOf,
} from '../../../../../src/wire/v1/assignment.ts';
import { checkOf } from '../../../../support/samples/checks.ts';
import { httpDetail, wireResult } from '../../../../support/samples/wire-results.ts';
import { corpusTexts } from '../campaign.ts';

/** Honest messages of every kind, by the prefix of their corpus files. */

export const NOW = Date.UTC(2026, 0, 1);
const SLOTS = { periodMs: 60_000, phaseMs: 6_000, stride: 2, index: 1 };

export function assignment(id: string): AssignmentMessage {
  const fields = {
    id,
    request: { assertions: [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }] },
  };
  const check = checkOf('API', fields);
  return assignmentMessageOf({ check, slots: SLOTS, answeredUntil: NOW, groupTags: ['a'] });
}

const ONE_OFF = {
  runId: 'run-1',
  checkId: 'asked',
  check: { checkType: 'TCP', name: 'Asked', request: { hostname: 'h', port: 1 } },
  reason: 'requested',
  slot: NOW,
  sequenceId: 'sequence-1',
  notBefore: null,
  notAfter: NOW + 600_000,
  retriesMade: 0,
  firstStartedAt: null,
};

export const POLL_ANSWER = {
  revision: 7,
  epoch: 3,
  leaseMs: 15_000,
  serverTime: NOW,
  location: { slug: 'office', proxyUrl: null, variables: [], settings: null },
  full: true,
  upsert: [assignment('one'), assignment('two')],
  remove: [],
  runs: [],
  nextPage: null,
};

const POLL_ANSWERS: readonly object[] = [
  POLL_ANSWER,
  {
    ...POLL_ANSWER,
    full: false,
    upsert: [assignment('three')],
    remove: ['one', 'never-was'],
    runs: [ONE_OFF, { ...ONE_OFF, runId: 'run-2', notBefore: NOW, retriesMade: 2 }],
    location: {
      slug: 'office',
      proxyUrl: 'http://proxy.test:3128',
      variables: [{ key: 'A', value: 'b', secret: true }],
      settings: {
        clientCertificates: [{ host: '*.test', cert: 'c', key: 'k', ca: null, passphrase: 'p' }],
        pauses: [],
      },
    },
  },
  { ...POLL_ANSWER, upsert: [assignment('four')], nextPage: 'page-2' },
];

export const ERROR_ANSWER = {
  statusCode: 400,
  error: 'Bad Request',
  message: 'it is not as it should be',
  attributes: { problems: [{ path: 'body', message: 'no' }] },
};
const MISMATCH = {
  statusCode: 426,
  error: 'Upgrade Required',
  message: 'upgrade',
  attributes: { supported: [2], received: '1', upgrade: 'agent' },
};

/** Accepts the first record, and refuses the others. */
export const resultsAnswer = (ids: readonly string[]) => ({
  accepted: ids.slice(0, 1),
  rejected: ids.slice(1).map((id, index) => ({
    id,
    list: 'results',
    index: index + 1,
    code: 'too_old',
    message: 'it is',
  })),
});

const HASH = 'a'.repeat(64);

export const ARTIFACT_UPLOAD = {
  uploadId: 'upload-1',
  partBytes: 1000,
  parts: [
    { n: 1, url: '/agent/v1/artifacts/upload-1/parts/1', method: 'PUT', headers: {} },
    { n: 2, url: 'http://127.0.0.1:9/2', method: 'PUT', headers: { 'x-signed': 'yes' } },
  ],
};

export const POLL_REQUEST = {
  agentId: 'fuzz',
  instanceId: 'fuzz-1',
  version: '1.2.3',
  capabilities: { types: ['URL', 'API', 'TCP'], ipv6: true, icmp: true, capture: false },
  concurrency: 10,
  load: { running: 1, queued: 2 },
  revision: 0,
  epoch: 0,
  page: null,
  done: ['run-1'],
  refused: [{ checkId: 'shop', problem: 'it is not known' }],
  clockAheadMs: -1500,
  health: { maxLatenessMs: 4, missedSlots: 1, spoolRecords: 2, spoolBytes: 900, spoolOldestMs: 5 },
};

export const resultOf = (number: number) => {
  const slot = NOW - 60_000 - number * 1000;
  const sequenceId = sequenceIdOf('shop', 'berlin', slot);
  const at = new Date(slot + 5).toISOString();
  return wireResult(sequenceId, {
    id: resultIdOf(sequenceId, 1),
    checkId: 'shop',
    runLocation: 'berlin',
    checkRunId: slot,
    startedAt: at,
    stoppedAt: at,
    created_at: at,
    apiCheckResult: httpDetail(),
  });
};

const RESULTS_REQUEST = {
  agentId: 'fuzz',
  epoch: 1,
  results: [resultOf(0), { ...resultOf(1), hasFailures: true }],
  missed: [
    {
      id: 'missed-1',
      checkId: 'shop',
      slot: NOW - 120_000,
      lastSlot: NOW - 60_000,
      count: 2,
      reason: 'agent_busy',
    },
  ],
};

const ERRORS_REQUEST = {
  agentId: 'fuzz',
  version: '1.2.3',
  node: 'v24.1.0',
  platform: 'linux',
  arch: 'x64',
  reports: [
    {
      class: 'TypeError',
      code: null,
      stack: [{ function: 'run', file: 'dist/agent/main.js', line: 1, column: 2 }],
      count: 3,
      firstAt: NOW - 1000,
      lastAt: NOW,
    },
  ],
};

const ARTIFACT_REQUEST = {
  resultId: resultOf(0).id,
  checkId: 'shop',
  name: 'trace.txt',
  contentType: 'text/plain',
  bytes: 11,
  sha256: HASH,
};

const HANDOVER_REQUEST = {
  agentId: 'fuzz',
  epoch: 1,
  checkId: 'shop',
  slot: NOW - 60_000,
  sequenceId: 'sequence',
  retriesMade: 1,
  firstStartedAt: NOW - 60_000,
  notBefore: NOW,
};

/** Responses to agents. */
export const ANSWERS = {
  'poll-answer': POLL_ANSWERS,
  'results-answer': [
    resultsAnswer(['result-1', 'result-2']),
    {
      ...resultsAnswer(['result-1']),
      deferred: [{ id: 'result-2', list: 'results', index: 1, aheadMs: 60_001 }],
    },
  ],
  'artifact-answer': [ARTIFACT_UPLOAD],
  'completed-answer': [
    { complete: true, missing: [] },
    { complete: false, missing: [1, 2] },
  ],
  'release-answer': [{ released: true }],
  'handover-answer': [
    { runId: 'run-1', location: 'oslo' },
    { runId: null, location: null },
  ],
  'errors-answer': [{ stored: 1 }],
  'error-answer': [ERROR_ANSWER, MISMATCH],
} as const;
export type AnswerKind = keyof typeof ANSWERS;

/** Requests of agents. */
export const REQUESTS = {
  'poll-request': [
    POLL_REQUEST,
    { ...POLL_REQUEST, revision: 3, epoch: 1, page: 'page', done: [] },
  ],
  'results-request': [RESULTS_REQUEST],
  'release-request': [{ agentId: 'fuzz', epoch: 1, done: ['run-1'] }],
  'errors-request': [ERRORS_REQUEST],
  'artifact-request': [ARTIFACT_REQUEST],
  'handover-request': [HANDOVER_REQUEST],
} as const;
export type RequestKind = keyof typeof REQUESTS;

export const ANSWER_KINDS = Object.keys(ANSWERS) as AnswerKind[];
export const REQUEST_KINDS = Object.keys(REQUESTS) as RequestKind[];

/** The corpus messages of this kind; some are not JSON. */
export function corpusMessages(kind: AnswerKind | RequestKind): readonly Buffer[] {
  return corpusTexts('protocol', `${kind}--`).map(({ bytes }) => bytes);
}

/** Kinds as complex as the poll's answer are tried as often. */
export function kindOf<Kind extends string>(
  weights: Readonly<Record<Kind, number>>,
): fc.Arbitrary<Kind> {
  const entries = Object.entries(weights) as [Kind, number][];
  return fc.oneof(...entries.map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind) })));
}
