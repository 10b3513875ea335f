import { expect } from 'vitest';
import type { z } from 'zod';
import { settleBatch } from '../../../../../src/agent/upload/batch.ts';
import {
  artifactCompletedSchema,
  artifactUploadSchema,
} from '../../../../../src/wire/v1/artifacts.ts';
import { type Read, readAssignment, readOneOff } from '../../../../../src/wire/v1/assignment.ts';
import { errorsResponseSchema } from '../../../../../src/wire/v1/error-report.ts';
import { errorResponseIn, mismatchIn } from '../../../../../src/wire/v1/error-response.ts';
import { handoverResponseSchema } from '../../../../../src/wire/v1/handover.ts';
import { pollResponseSchema } from '../../../../../src/wire/v1/poll.ts';
import { releaseResponseSchema } from '../../../../../src/wire/v1/release.ts';
import { resultsResponseSchema } from '../../../../../src/wire/v1/results.ts';
import { problemOf } from '../../../../../src/wire/v1/tolerant-parse.ts';
import type { AnswerKind } from './messages.ts';

const SCHEMAS: Readonly<Record<Exclude<AnswerKind, 'error-answer'>, z.ZodType>> = {
  'poll-answer': pollResponseSchema,
  'results-answer': resultsResponseSchema,
  'artifact-answer': artifactUploadSchema,
  'completed-answer': artifactCompletedSchema,
  'release-answer': releaseResponseSchema,
  'handover-answer': handoverResponseSchema,
  'errors-answer': errorsResponseSchema,
};

const MAX_PROBLEM_CHARS = 600;
const PROTOTYPES = [Object.prototype, Array.prototype, Function.prototype];
const prototypeKeys = (): readonly number[] =>
  PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype).length);
const KEYS = prototypeKeys();

/** Reads a message like an agent, and checks the invariants of the outcome. */
export function readMessage(kind: AnswerKind, json: Buffer): 'no JSON' | 'refused' | 'taken' {
  let value: unknown;
  try {
    value = JSON.parse(json.toString());
  } catch {
    return 'no JSON';
  }
  const taken = kind === 'error-answer' ? readError(value) : readAnswer(kind, value);
  expect(prototypeKeys(), 'keys of the prototypes').toEqual(KEYS);
  return taken ? 'taken' : 'refused';
}

function readError(value: unknown): boolean {
  const given: unknown = Object(value).statusCode;
  const status = typeof given === 'number' ? given : 0;
  const answer = errorResponseIn(status, value);
  if (answer === null) return false;
  expect(answer.statusCode).toBe(status);
  expect(Object.getPrototypeOf(answer.attributes)).toBe(Object.prototype);
  mismatchIn(answer);
  return true;
}

function readAnswer(kind: Exclude<AnswerKind, 'error-answer'>, value: unknown): boolean {
  const schema = SCHEMAS[kind];
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    expectProblem(problemOf(parsed.error));
    return false;
  }
  // An accepted message conforms to the schema: reading it again does not change it.
  expect(schema.parse(parsed.data)).toEqual(parsed.data);
  if (kind === 'poll-answer') readChecks(pollResponseSchema.parse(parsed.data));
  if (kind === 'results-answer') {
    const answer = resultsResponseSchema.parse(parsed.data);
    const body = Buffer.from('{}');
    const records = ['result-1', 'result-2', 'result-3'].map((id, key) => {
      return { kind: 'result' as const, id, atMs: 0, body, key };
    });
    const { accepted, rejected, deferred, open } = settleBatch(records, answer);
    const answered = [...accepted, ...[...rejected, ...deferred].map(({ record }) => record)];
    expect(new Set([...answered, ...open])).toEqual(new Set(records));
    expect(answered.length + open.length).toBe(records.length);
    for (const { id } of accepted) expect(answer.accepted).toContain(id);
  }
  return true;
}

function readChecks({ upsert, runs }: z.output<typeof pollResponseSchema>): void {
  for (const message of upsert) {
    const before = Object.keys(message.check).length;
    const read = readAssignment(message);
    expect(Object.keys(message.check).length, 'fields of the message').toBe(before);
    if (read.ok) expect(read.value.check.id).toBe(message.checkId);
    expectRead(read);
  }
  for (const run of runs) {
    const read = readOneOff(run);
    if (read.ok) expect(read.value.check.id).toBe(run.checkId);
    expectRead(read);
  }
}

function expectRead(read: Read<unknown>): void {
  if (!read.ok) expectProblem(read.refusal.problem);
  else expect(read.ignored.length).toBeLessThanOrEqual(20);
}

function expectProblem(problem: string): void {
  expect(problem.length).toBeGreaterThan(0);
  expect(problem.length).toBeLessThan(MAX_PROBLEM_CHARS);
}
