import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Check } from '../../../../src/model/check/check.ts';
import { RUNNABLE_CHECK_TYPES } from '../../../../src/model/enums.ts';
import {
  type Assignment,
  assignmentEnvelope,
  assignmentMessageOf,
  type OneOff,
  oneOffEnvelope,
  oneOffMessageOf,
  readAssignment,
  readOneOff,
} from '../../../../src/wire/v1/assignment.ts';
import { oneOffOfTrial, trialEnvelope } from '../../../../src/wire/v1/trials.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { overTheWire } from './arbitraries.ts';

const SLOTS = { periodMs: 60_000, phaseMs: 6_000, stride: 3, index: 2 };

/** Checks with defaults only, and checks with many fields. */
const CHECKS: readonly Check[] = [
  ...RUNNABLE_CHECK_TYPES.map((type) => checkOf(type, { id: `plain-${type}` })),
  checkOf('API', {
    id: 'full',
    tags: ['a'],
    frequency: 0,
    frequencyOffset: 20,
    retryStrategy: { type: 'LINEAR', onlyOn: ['NETWORK_ERROR'] },
    alertSettings: { escalationType: 'TIME_BASED', timeBasedEscalation: {} },
    request: {
      method: 'POST',
      bodyType: 'JSON',
      body: '{"a": 1}',
      headers: [{ key: 'accept', value: '*/*' }],
      basicAuth: { username: 'a', password: 'b' },
      assertions: [{ source: 'JSON_BODY', property: '$.a', comparison: 'EQUALS', target: '1' }],
    },
  }),
  checkOf('URL', { id: 'no-retries', retryStrategy: null }),
  {
    ...checkOf('API', { id: 'scripted' }),
    scripts: { setup: [{ owner: 'group', source: 'login()' }], teardown: [] },
  },
];

const SCRIPT = { owner: 'check', source: 'sign()' };
/** Assignments that a newer service may send, with the field that the refusal names. */
const NEWER_SCRIPTS: readonly (readonly [string, unknown])[] = [
  ['scripts.setup.0.owner', { setup: [{ ...SCRIPT, owner: 'location' }], teardown: [] }],
  ['scripts.teardown', { setup: [], teardown: [SCRIPT, SCRIPT, SCRIPT] }],
  ['scripts', 'sign()'],
];

function sent(assignment: Assignment) {
  return assignmentEnvelope.parse(overTheWire(assignmentMessageOf(assignment)));
}

function assignmentOf(id: string): Assignment {
  return { check: checkOf('URL', { id }), slots: SLOTS, answeredUntil: null, groupTags: [] };
}

describe('an assignment', () => {
  it.each(CHECKS.map((check) => [check.id, check] as const))(
    'of %s arrives whole',
    (_id, check) => {
      const assignment = { check, slots: SLOTS, answeredUntil: 60_000, groupTags: [] };
      expect(readAssignment(sent(assignment))).toEqual({
        ok: true,
        value: assignment,
        ignored: [],
      });
    },
  );

  it('of a newer service loses its unknown fields, which are listed', () => {
    const check = checkOf('API', {
      request: { assertions: [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }] },
    });
    const message = sent({ check, slots: SLOTS, answeredUntil: null, groupTags: [] });
    const request = message.check.request as { assertions: object[] };
    const newer = {
      ...message,
      check: {
        ...message.check,
        priority: 'high',
        request: {
          ...request,
          http3: true,
          assertions: request.assertions.map((one) => ({ ...one, weight: 2 })),
        },
      },
    };
    const before = structuredClone(newer);
    expect(readAssignment(newer)).toEqual({
      ok: true,
      value: { check, slots: SLOTS, answeredUntil: null, groupTags: [] },
      ignored: expect.arrayContaining(['priority', 'request.http3', 'request.assertions.0.weight']),
    });
    expect(newer).toEqual(before);
  });

  it.each<[string, object]>([
    ['checkType', { checkType: 'GRPC' }],
    ['request.url', { request: { url: 'gopher://x' } }],
    ['frequency', { frequency: 7 }],
    ['request.url', { request: { url: 'gopher://x', http3: true } }],
  ])('that this build cannot run is refused alone, for its %s', (place, fields) => {
    const message = sent({
      check: checkOf('URL', { id: 'odd' }),
      slots: SLOTS,
      answeredUntil: null,
      groupTags: [],
    });
    const read = readAssignment({ ...message, check: { ...message.check, ...fields } });
    expect(read).toEqual({
      ok: false,
      refusal: { checkId: 'odd', problem: expect.stringContaining(place) },
    });
  });

  it.each(NEWER_SCRIPTS)('is refused alone for its %s', (place, scripts) => {
    const message = assignmentEnvelope.parse({ ...sent(assignmentOf('odd')), scripts });
    expect(readAssignment(message)).toEqual({
      ok: false,
      refusal: { checkId: 'odd', problem: expect.stringMatching(`^${place}: `) },
    });
  });

  it.each(['future', 'request', 'tags'])(
    'does not exhaust the stack, however deep its %s is nested',
    (field) => {
      const check = { ...sent(assignmentOf('deep')).check, other: 1 };
      const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
      const message = { ...sent(assignmentOf('deep')), check: { ...check, [field]: deep } };
      const read = readAssignment(message);
      expect(read.ok).toBe(field === 'future');
    },
  );

  it('of any form never makes the reader throw', () => {
    const fields = Object.fromEntries(
      Object.keys(checkOf('API')).map((key) => [key, fc.jsonValue()]),
    );
    const body = fc.oneof(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc
        .tuple(fc.record(fields, { requiredKeys: [] }), fc.constantFrom(...RUNNABLE_CHECK_TYPES))
        .map(([own, checkType]) => ({ ...checkOf(checkType), ...own, checkType })),
    );
    fc.assert(
      fc.property(body, (check) => {
        const read = readAssignment({
          checkId: 'any',
          slots: SLOTS,
          check,
          answeredUntil: null,
          scripts: null,
          groupTags: [],
        });
        expect(typeof read.ok).toBe('boolean');
      }),
    );
  });
});

describe('a one-off', () => {
  const oneOff: OneOff = {
    check: checkOf('TCP', { id: 'port' }),
    runId: 'run-1',
    reason: 'requested',
    slot: 1_800_000_000_000,
    sequenceId: 'sequence-1',
    notBefore: null,
    notAfter: 1_800_000_060_000,
    retriesMade: 0,
    firstStartedAt: null,
  };

  it('is read with all its fields', () => {
    const message = oneOffEnvelope.parse(overTheWire(oneOffMessageOf(oneOff)));
    expect(readOneOff(message)).toEqual({ ok: true, value: oneOff, ignored: [] });
  });

  it('of a check that this build cannot run is refused', () => {
    const message = { ...oneOffMessageOf(oneOff), check: { checkType: 'GRPC' } };
    expect(readOneOff(message)).toMatchObject({ ok: false, refusal: { checkId: 'port' } });
  });

  it.each(NEWER_SCRIPTS)('is refused alone for its %s, also as a trial', (_, scripts) => {
    const run = oneOffEnvelope.parse({ ...oneOffMessageOf(oneOff), scripts });
    expect(readOneOff(run)).toMatchObject({ ok: false, refusal: { checkId: 'port' } });
    const { check, slot, notAfter } = run;
    const trial = trialEnvelope.parse({ trialId: 'trial', check, scripts, slot, notAfter });
    const read = readOneOff(oneOffOfTrial(trial));
    expect(read).toMatchObject({ ok: false, refusal: { checkId: 'trial' } });
  });
});
