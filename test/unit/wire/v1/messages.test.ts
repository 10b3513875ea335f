import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import {
  artifactBeginSchema,
  artifactCompletedSchema,
  artifactUploadSchema,
  isOverArtifactLimit,
} from '../../../../src/wire/v1/artifacts.ts';
import { assignmentEnvelope, oneOffEnvelope } from '../../../../src/wire/v1/assignment.ts';
import { errorsRequestSchema } from '../../../../src/wire/v1/error-report.ts';
import {
  errorResponseSchema,
  mismatchIn,
  protocolMismatchOf,
} from '../../../../src/wire/v1/error-response.ts';
import { handoverRequestSchema, handoverResponseSchema } from '../../../../src/wire/v1/handover.ts';
import { MAX_ARTIFACT_BYTES } from '../../../../src/wire/v1/limits.ts';
import { pollRequestSchema, pollResponseSchema } from '../../../../src/wire/v1/poll.ts';
import {
  DEFAULT_LEASE_MS,
  LONG_POLL_MS,
  pollHoldMs,
  pollTimeoutMs,
} from '../../../../src/wire/v1/poll-timing.ts';
import { releaseRequestSchema, releaseResponseSchema } from '../../../../src/wire/v1/release.ts';
import { resultsEnvelope, resultsResponseSchema } from '../../../../src/wire/v1/results.ts';
import { trialReportSchema } from '../../../../src/wire/v1/trials.ts';
import { overTheWire } from './arbitraries.ts';

const SLOTS = { periodMs: 60_000, phaseMs: 6_000, stride: 3, index: 2 };
const CHECK = { checkType: 'URL', name: 'Shop', request: { url: 'https://example.com/' } };
const ONE_OFF = {
  runId: 'run-1',
  checkId: 'shop',
  check: CHECK,
  scripts: null,
  reason: 'retry',
  slot: 1,
  sequenceId: 'sequence-1',
  notBefore: null,
  notAfter: 60_000,
  retriesMade: 1,
  firstStartedAt: 1,
};
const POLL = {
  agentId: 'agent-1',
  instanceId: 'process-1',
  version: '0.2.0',
  capabilities: { types: ['URL', 'DNS'], ipv6: false, icmp: true, capture: false },
  concurrency: 100,
  load: { running: 3, queued: 0 },
  revision: 17,
  epoch: 2,
  page: null,
  done: ['run-0'],
  refused: [{ checkId: 'odd', problem: 'request.url: must be an http or https URL' }],
  clockAheadMs: null,
  health: null,
};
const ANSWER = {
  revision: 18,
  epoch: 2,
  leaseMs: 15_000,
  serverTime: 1_800_000_000_000,
  location: {
    slug: 'berlin',
    proxyUrl: null,
    variables: [{ key: 'TOKEN', value: 'x', secret: true }],
    unreadableVariables: ['SEALED'],
    settings: {
      clientCertificates: [
        { host: '*.shop.example', cert: 'PEM', key: 'PEM', ca: null, passphrase: null },
      ],
      pauses: [
        {
          startsAtMs: 1_800_000_000_000,
          endsAtMs: 1_800_000_600_000,
          repeatUnit: 'MONTH',
          repeatInterval: 2,
          repeatEndsAtMs: null,
          tags: ['shop'],
        },
      ],
    },
  },
  full: false,
  upsert: [
    {
      checkId: 'shop',
      slots: SLOTS,
      check: CHECK,
      scripts: null,
      answeredUntil: null,
      groupTags: [],
    },
  ],
  remove: ['gone'],
  runs: [ONE_OFF],
  trials: [
    { trialId: 'trial-1', check: CHECK, scripts: null, slot: 1, notAfter: 1_800_000_000_000 },
  ],
  cancelledRuns: ['run-2'],
  nextPage: 'marker',
};
const BEGIN = {
  resultId: 'result-1',
  checkId: 'shop',
  name: 'capture.pcap',
  contentType: 'application/vnd.tcpdump.pcap',
  bytes: MAX_ARTIFACT_BYTES,
  sha256: 'a'.repeat(64),
};
const PART = { n: 1, url: '/agent/v1/artifacts/upload-1/parts/1', method: 'PUT', headers: {} };
const UPLOAD = { uploadId: 'upload-1', partBytes: 5_242_880, parts: [PART] };
const REPORT = {
  agentId: 'agent-1',
  version: '0.2.0',
  node: 'v20.19.0',
  platform: 'linux',
  arch: 'x64',
  reports: [
    {
      class: 'TypeError',
      code: 'ERR_INVALID_ARG_TYPE',
      stack: [{ function: 'Socket.connect', file: 'dist/agent/main.js', line: 12, column: 3 }],
      count: 4,
      firstAt: 1,
      lastAt: 2,
    },
  ],
};

const MESSAGES: Readonly<Record<string, readonly [z.ZodType, object]>> = {
  'poll request': [pollRequestSchema, POLL],
  'poll answer': [pollResponseSchema, ANSWER],
  'trial report': [
    trialReportSchema,
    { agentId: 'agent-1', epoch: 2, trialId: 't', result: null, missed: 'refused', problem: 'x' },
  ],
  assignment: [
    assignmentEnvelope,
    {
      checkId: 'shop',
      slots: SLOTS,
      check: CHECK,
      scripts: null,
      answeredUntil: null,
      groupTags: [],
    },
  ],
  'one-off': [oneOffEnvelope, ONE_OFF],
  results: [resultsEnvelope, { agentId: 'agent-1', epoch: 2, results: [{}], missed: [null] }],
  'results answer': [
    resultsResponseSchema,
    {
      accepted: ['a'],
      rejected: [{ id: null, list: 'missed', index: 0, code: 'invalid', message: 'it is null' }],
      deferred: [{ id: 'b', list: 'results', index: 1, aheadMs: 60_001 }],
    },
  ],
  handover: [
    handoverRequestSchema,
    {
      agentId: 'agent-1',
      epoch: 2,
      checkId: 'shop',
      slot: 1,
      sequenceId: 'sequence-1',
      retriesMade: 1,
      firstStartedAt: 1,
      notBefore: 2,
    },
  ],
  'handover answer': [handoverResponseSchema, { runId: null, location: null }],
  'artifact begin': [artifactBeginSchema, BEGIN],
  'artifact upload': [artifactUploadSchema, UPLOAD],
  'artifact completion': [artifactCompletedSchema, { complete: false, missing: [2] }],
  release: [releaseRequestSchema, { agentId: 'agent-1', epoch: 2, done: [] }],
  'release answer': [releaseResponseSchema, { released: true }],
  'error report': [errorsRequestSchema, REPORT],
  'error answer': [
    errorResponseSchema,
    { statusCode: 404, error: 'Not Found', message: 'there is no such check', attributes: {} },
  ],
};

describe.each(Object.entries(MESSAGES))('a message: %s', (_name, [schema, message]) => {
  const taken = (value: unknown): boolean => schema.safeParse(value).success;

  it('arrives as it was sent', () => {
    expect(schema.parse(overTheWire(message))).toEqual(message);
  });

  it('of a newer peer loses only its unknown fields', () => {
    expect(schema.parse({ ...message, addedLater: { deep: [1] } })).toEqual(message);
  });

  it('of any form never makes the reader throw', () => {
    const fields = Object.fromEntries(Object.keys(message).map((key) => [key, fc.jsonValue()]));
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.record(fields, { requiredKeys: [] })), (value) => {
        expect(typeof taken(value)).toBe('boolean');
      }),
    );
  });

  it('is refused with an endless list or text', () => {
    for (const [key, value] of Object.entries(message)) {
      if (Array.isArray(value)) {
        const endless = Array.from({ length: 50_001 }, () => value[0] ?? 'x');
        expect(taken({ ...message, [key]: endless }), key).toBe(false);
      } else if (typeof value === 'string') {
        expect(taken({ ...message, [key]: 'x'.repeat(100_000) }), key).toBe(false);
      } else if (typeof value === 'number') {
        expect(taken({ ...message, [key]: Number.POSITIVE_INFINITY }), key).toBe(false);
        expect(taken({ ...message, [key]: -1 }), key).toBe(false);
      }
    }
  });
});

describe('a poll', () => {
  it('has timeouts that keep the lease if one poll is lost', () => {
    for (const leaseMs of [1000, DEFAULT_LEASE_MS, 60_000, 3_600_000]) {
      expect(pollHoldMs(leaseMs)).toBeLessThanOrEqual(LONG_POLL_MS);
      expect(pollTimeoutMs(leaseMs)).toBeGreaterThan(pollHoldMs(leaseMs));
      // A lost poll and a held one after it end within the lease.
      expect(pollTimeoutMs(leaseMs)).toBeLessThan(leaseMs);
    }
  });

  it('may name check types that this service does not know', () => {
    const capabilities = { ...POLL.capabilities, types: ['GRPC', 'URL'] };
    expect(pollRequestSchema.parse({ ...POLL, capabilities }).capabilities.types).toEqual(['URL']);
  });

  it('may leave out page, refused checks, clock and health', () => {
    const {
      page: _page,
      refused: _refused,
      clockAheadMs: _clock,
      health: _health,
      ...least
    } = POLL;
    const read = { page: null, refused: [], clockAheadMs: null, health: null };
    expect(pollRequestSchema.parse(least)).toMatchObject(read);
  });

  it.each([-1_767_225_600_000, -1, 0, 60_001])('reports a clock that is %i ms ahead', (ms) => {
    expect(pollRequestSchema.parse({ ...POLL, clockAheadMs: ms }).clockAheadMs).toBe(ms);
  });

  it.each([-1, 0.5, 2 ** 53, '1'])('may not report %j waiting records', (spoolRecords) => {
    const health = {
      maxLatenessMs: null,
      missedSlots: 0,
      spoolRecords: 3,
      spoolBytes: 4096,
      spoolOldestMs: null,
    };
    expect(pollRequestSchema.parse({ ...POLL, health }).health).toEqual(health);
    const wrong = { ...POLL, health: { ...health, spoolRecords } };
    expect(pollRequestSchema.safeParse(wrong).success).toBe(false);
  });

  it.each([0.5, Number.POSITIVE_INFINITY, -(2 ** 53), '1'])('has no clock difference %j', (ms) => {
    expect(pollRequestSchema.safeParse({ ...POLL, clockAheadMs: ms }).success).toBe(false);
  });

  it.each([
    { ...SLOTS, index: 3 },
    { ...SLOTS, phaseMs: 60_000 },
    { ...SLOTS, stride: 0, index: 0 },
    { ...SLOTS, periodMs: 0, phaseMs: 0 },
  ])('is answered with no slot rule like %j', (slots) => {
    expect(assignmentEnvelope.safeParse({ checkId: 'shop', slots, check: CHECK }).success).toBe(
      false,
    );
  });
});

describe('an artifact', () => {
  it.each([
    '../etc/passwd',
    '..',
    '.hidden',
    'a/b',
    'a\\b',
    'a\0.txt',
    'a..b',
    'a.',
    'c:x',
    '',
    'x'.repeat(129),
    'line\nbreak',
    'a.txt\n',
  ])('has no name like %j', (name) => {
    expect(artifactBeginSchema.safeParse({ ...BEGIN, name }).success).toBe(false);
  });

  it.each(['text/html\r\nx: y', 'text', 'text/html; charset="utf-8"', '/'])(
    'has no content type like %j',
    (contentType) => {
      expect(artifactBeginSchema.safeParse({ ...BEGIN, contentType }).success).toBe(false);
    },
  );

  it('of one byte over the limit is parsed, and recognized as too large', () => {
    const over = artifactBeginSchema.parse({ ...BEGIN, bytes: MAX_ARTIFACT_BYTES + 1 });
    expect(isOverArtifactLimit(over)).toBe(true);
    expect(isOverArtifactLimit(BEGIN)).toBe(false);
    expect(MAX_ARTIFACT_BYTES).toBe(150 * 1024 * 1024);
  });

  it.each([
    'file:///etc/passwd',
    '//evil.example/x',
    '/\\evil.example/x',
    '/agent/v1/\t/x',
    'javascript:x',
    '/v1/checks',
    '/agent/v1/../../v1/checks',
    '/agent/v1/./x',
    '/agent/v1/%2e%2E/x',
    '/agent/v1/.%2e?x',
    '/agent/v1/x/..',
    'https://',
  ])('has no part that goes to %j (trust model SN11)', (url) => {
    const upload = { ...UPLOAD, parts: [{ ...PART, url }] };
    expect(artifactUploadSchema.safeParse(upload).success).toBe(false);
  });

  it.each(['/agent/v1/artifacts/a..b.c%2e.1/parts/1', '/agent/v1/x?a=/..b'])(
    'may have a part that goes to %j',
    (url) => {
      const upload = { ...UPLOAD, parts: [{ ...PART, url }] };
      expect(artifactUploadSchema.safeParse(upload).success).toBe(true);
    },
  );
});

describe('an error report', () => {
  const [report] = REPORT.reports;
  const withReport = (fields: object) => ({ ...REPORT, reports: [{ ...report, ...fields }] });

  it.each<[string, object]>([
    ['a message', { class: 'connect ECONNREFUSED 10.0.0.1:443' }],
    ['a URL', { code: 'https://example.com/' }],
    [
      'a path of the machine',
      { stack: [{ function: null, file: '/home/me/a.js', line: 1, column: 1 }] },
    ],
    [
      'an address in a frame',
      { stack: [{ function: 'at 10.0.0.1:443', file: 'dist/a.js', line: 1, column: 1 }] },
    ],
  ])('has no room for %s', (_what, fields) => {
    expect(errorsRequestSchema.safeParse(withReport(fields)).success).toBe(false);
  });
});

describe('another protocol version', () => {
  it.each<[string | undefined, 'agent' | 'service' | null]>([
    ['1', null],
    ['2', 'service'],
    ['0', 'agent'],
    [undefined, 'agent'],
    ['one', 'agent'],
    ['1.0', 'agent'],
    ['9'.repeat(5000), 'agent'],
  ])('%j is answered with what to upgrade: %s', (received, upgrade) => {
    const answer = protocolMismatchOf(received);
    if (upgrade === null) {
      expect(answer).toBeNull();
      return;
    }
    const read = errorResponseSchema.parse(overTheWire(answer));
    expect(read.statusCode).toBe(426);
    expect(read.message).toContain(`upgrade the ${upgrade}`);
    expect(mismatchIn(read)).toMatchObject({ supported: [1], upgrade });
  });

  it('is distinguished from other errors', () => {
    const other = {
      statusCode: 503,
      error: 'Service Unavailable',
      message: 'later',
      attributes: {},
    };
    expect(mismatchIn(other)).toBeNull();
    expect(mismatchIn({ ...other, statusCode: 426 })).toBeNull();
  });
});
