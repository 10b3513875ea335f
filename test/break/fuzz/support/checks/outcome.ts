import { expect } from 'vitest';
import { FileProblemsError } from '../../../../../src/agent/source/common/file-problem.ts';
import {
  type CheckFile,
  parseCheckFile,
} from '../../../../../src/agent/source/file/parse-check-file.ts';
import { checkBodySchema } from '../../../../../src/model/check/check.ts';
import { CHECK_ID } from '../../../../../src/model/ids.ts';
import { showsMark } from './seeds.ts';
import type { CheckText } from './texts.ts';

/** The longest useful message contains a long list of allowed values. */
const MAX_LINE_CHARS = 1500;
const PROTOTYPES = [Object.prototype, Array.prototype, Function.prototype, String.prototype];
const prototypeKeys = (): readonly number[] =>
  PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype).length);
const KEYS = prototypeKeys();

/** Reads it, and checks the invariants of the outcome. */
export async function outcomeOf(input: CheckText): Promise<'valid' | 'refused'> {
  const file = `f.${input.extension}`;
  const outcome = await parseCheckFile(input.text, file).catch((thrown: unknown) => thrown);
  expect(prototypeKeys(), 'keys of the prototypes').toEqual(KEYS);
  if (outcome instanceof FileProblemsError) {
    expectProblems(outcome, input);
    return 'refused';
  }
  if (outcome instanceof Error) throw outcome;
  expectChecks(outcome as CheckFile);
  return 'valid';
}

export function expectProblems(error: FileProblemsError, { text, isMarked }: CheckText): void {
  const { problems, file } = error;
  if (problems.length === 0) throw new Error('it is refused without a reason');
  // Without expect, which is slow: there may be fifty of them.
  const texts = text.split('\n');
  for (const { line, column, path, message } of problems) {
    const own = texts[line - 1];
    const isInside = own !== undefined && column >= 1 && column <= own.length + 1;
    if (!isInside) throw new Error(`${line}:${column} is outside of the file: ${message}`);
    if (message.trim().length < 5) throw new Error(`${line}:${column} has no message`);
    if (/[\r\n]/.test(path + message)) throw new Error(`more than one line: ${message}`);
  }
  for (const shown of [...error.lines(), error.message]) {
    if (!shown.startsWith(`${file}:`)) throw new Error(`it does not say where: ${shown}`);
    if (/undefined|\[object|NaN/.test(shown) && !/undefined|\[object|NaN/.test(text)) {
      throw new Error(`it is not for people: ${shown}`);
    }
    if (shown.length > MAX_LINE_CHARS) throw new Error(`it is ${shown.length} long: ${shown}`);
    if (isMarked && showsMark(shown)) throw new Error(`it shows a secret: ${shown}`);
  }
}

function expectChecks({ checks, variables }: CheckFile): void {
  const ids = new Set<string>();
  for (const { id, ...body } of checks) {
    if (!CHECK_ID.test(id) || ids.has(id)) throw new Error(`the id ${id} is taken or none`);
    ids.add(id);
    // The model accepts it unchanged, with all defaults.
    expect(body).toEqual(checkBodySchema.parse(body));
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
  }
  expect(checks.length).toBeGreaterThan(0);
  for (const { key, value, secret } of variables) {
    expect([typeof key, typeof value, typeof secret]).toEqual(['string', 'string', 'boolean']);
  }
}

/** Plain JSON uses another parser: the outcome must be the same. */
export async function expectSameAsYaml({ text }: CheckText): Promise<void> {
  const ways = [text, `#\n${text}`].map((each) => parseCheckFile(each, 'f.yaml'));
  const [plain, yaml] = await Promise.allSettled(ways);
  expect(plain?.status, 'as JSON and as YAML').toBe(yaml?.status);
  if (plain?.status !== 'fulfilled' || yaml?.status !== 'fulfilled') return;
  const { checks, variables, clientCertificates } = plain.value;
  expect({ checks, variables, clientCertificates }).toEqual({
    checks: yaml.value.checks,
    variables: yaml.value.variables,
    clientCertificates: yaml.value.clientCertificates,
  });
}
