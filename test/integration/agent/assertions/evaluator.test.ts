import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  createEvaluator,
  type Evaluator,
  type SourceValues,
} from '../../../../src/agent/assertions/evaluator.ts';
import type {
  Assertion,
  AssertionResult,
} from '../../../../src/model/check/assertions/assertion.ts';
import { type Clock, systemClock } from '../../../../src/runtime/clock.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { makeTestFolder } from '../../../support/process/test-folder.ts';

const DIST = new URL('../../../../dist/agent/assertions/', import.meta.url);
const WORKER = new URL('evaluation-worker.js', DIST);
const NEVER = new AbortController().signal;

const BOMB_TEXT = `${'a'.repeat(60)}!`;
/** Cheap, but not provably so: it goes to a worker. */
const POOLED = { source: 'TEXT_BODY', property: '(?:a|b)+!', comparison: 'NOT_NULL' } as const;

const open: Evaluator[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((evaluator) => evaluator.close()));
});

interface Options {
  readonly clock?: Clock;
  readonly workerUrl?: URL;
  readonly limitMs?: number;
  readonly schedstat?: string;
}

function evaluator(options: Options = {}): Evaluator {
  const made = createEvaluator({ clock: systemClock, workerUrl: WORKER, ...options });
  open.push(made);
  return made;
}

function assertions(...given: (Partial<Assertion> & Pick<Assertion, 'source'>)[]): Assertion[] {
  return given.map((one) => {
    return { property: '', comparison: 'NOT_NULL', target: '', regex: null, ...one };
  });
}

function body(text: string): SourceValues {
  return { TEXT_BODY: { kind: 'text', text }, JSON_BODY: { kind: 'json-text', text } };
}

function errors(results: readonly AssertionResult[]): (string | null)[] {
  return results.map(({ error }) => error);
}

/** Whether each expression that exceeded its time had it. */
async function outOfTime(
  subject: Evaluator,
  given: readonly Assertion[],
  during: () => Promise<void> = async () => {},
): Promise<readonly (boolean | null)[]> {
  const seen: (boolean | null)[] = [];
  const onOutOfTime = (hadItsTime: boolean | null): void => void seen.push(hadItsTime);
  const evaluating = subject.evaluate(given, body(BOMB_TEXT), NEVER, { onOutOfTime });
  await during();
  await evaluating;
  return seen;
}

/** This number of iterations shows that nothing blocks the event loop. More only use the CPU. */
const MANY_TURNS = 51;

/** The iterations of the event loop until the promise is settled, MANY_TURNS at most. */
async function turnsDuring(promise: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = promise.finally(() => {
    isOver = true;
  });
  let turns = 0;
  while (!isOver && turns < MANY_TURNS) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    turns += 1;
  }
  await over;
  return turns;
}

describe('ordinary assertions', () => {
  test('are returned in order, complete and with their outcomes', async () => {
    const given = assertions(
      { source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' },
      { source: 'JSON_BODY', property: '$.items[*].id', comparison: 'GREATER_THAN', target: '0' },
      { source: 'JSON_BODY', property: '$..name', comparison: 'EQUALS', target: 'x' },
      { source: 'TEXT_BODY', property: '"name":"(.*?)"', comparison: 'EQUALS', target: 'y' },
      { source: 'RESPONSE_TIME', comparison: 'LESS_THAN', target: '5' },
    );
    const text = JSON.stringify({ items: [{ id: 1, name: 'x' }, { id: 2 }] });
    const sources: SourceValues = {
      ...body(text),
      STATUS_CODE: { kind: 'number', value: 200 },
    };
    const results = await evaluator().evaluate(given, sources, NEVER);
    expect(results).toEqual([
      { ...given[0], actual: '200', error: null },
      { ...given[1], actual: '[1,2]', error: null },
      { ...given[2], actual: 'x', error: null },
      { ...given[3], actual: 'x', error: expect.stringContaining('but it was "x"') },
      { ...given[4], actual: null, error: expect.stringContaining('there was no response') },
    ]);
  });

  test('have the same outcome in a worker as in the main thread', async () => {
    const text = JSON.stringify({ list: [{ v: 1 }, { v: null }, { v: 'x' }], n: 12 });
    const large = JSON.stringify({ ...JSON.parse(text), filler: 'f'.repeat(300_000) });
    const given = assertions(
      { source: 'JSON_BODY', property: '$.n', comparison: 'GREATER_THAN', target: '11' },
      { source: 'JSON_BODY', property: '$.list[*].v', comparison: 'EQUALS', target: '1' },
      { source: 'JSON_BODY', property: '$.none', comparison: 'IS_NULL' },
      { source: 'JSON_BODY', property: '$.list', comparison: 'HAS_VALUE', target: '{"v":"x"}' },
      { source: 'TEXT_BODY', property: '"n":(\\d+)', comparison: 'EQUALS', target: '12' },
      { source: 'TEXT_BODY', comparison: 'NOT_CONTAINS', target: '"n"' },
    );
    const subject = evaluator({ limitMs: 5000 });
    const small = await subject.evaluate(given, body(text), NEVER);
    const pooled = await subject.evaluate(given, body(large), NEVER);
    expect(errors(pooled).map((error) => error?.slice(0, 80))).toEqual(
      errors(small).map((error) => error?.slice(0, 80)),
    );
    expect(pooled.slice(0, 5)).toEqual(small.slice(0, 5));
  });

  test('can search a text in which the whole match counts, in the main thread and in a worker', async () => {
    const given = assertions(
      { source: 'TEXT_BODY', property: '(?:^)|(b)', comparison: 'NOT_NULL' },
      { source: 'TEXT_BODY', property: '(?:a|b)+!|(c)', comparison: 'NOT_NULL' },
    );
    const subject = evaluator({ limitMs: 5000 });
    const sources = { TEXT_BODY: { kind: 'matched-text', text: 'ab!' } } as const;
    expect(errors(await subject.evaluate(given, sources, NEVER))).toEqual([null, null]);
    const groups = await subject.evaluate(given, body('ab!'), NEVER);
    expect(groups.map(({ actual }) => actual)).toEqual([null, null]);
  });

  test('can read a body of 20 MB, which is parsed once', async () => {
    const record = '{"id":1,"name":"some name or other","tags":["a","b"]},';
    const text = `[${record.repeat(Math.round(20e6 / record.length))}{"id":2}]`;
    const given = assertions(
      { source: 'JSON_BODY', property: '$[0].name', comparison: 'CONTAINS', target: 'other' },
      { source: 'JSON_BODY', property: '$[-1].id', comparison: 'EQUALS', target: '2' },
      { source: 'TEXT_BODY', comparison: 'CONTAINS', target: '{"id":2}' },
      { source: 'TEXT_BODY', property: '\\{"id":(2)\\}', comparison: 'EQUALS', target: '2' },
    );
    const results = await evaluator({ limitMs: 5000 }).evaluate(given, body(text), NEVER);
    expect(errors(results)).toEqual([null, null, null, null]);
  });

  test('cannot read a body that would fill the memory when it is parsed', async () => {
    const text = `[${'[],'.repeat(8_000_000)}0]`;
    const given = assertions({ source: 'JSON_BODY', property: '$[0]' });
    const results = await evaluator().evaluate(given, body(text), NEVER);
    expect(errors(results)[0]).toContain('too many values');
  });

  test('can read an answer that is already an object in a worker', async () => {
    const sources: SourceValues = {
      JSON_ANSWER: { kind: 'json', value: { Answer: [{ type: 'A', data: '192.0.2.1' }] } },
    };
    const given = assertions({
      source: 'JSON_ANSWER',
      property: '$.Answer[?@.type=="A"].data',
      comparison: 'EQUALS',
      target: '192.0.2.1',
    });
    const results = await evaluator().evaluate(given, sources, NEVER);
    expect(results[0]).toMatchObject({ actual: '192.0.2.1', error: null });
  });
});

describe('a long search in an answer that is already an object', () => {
  test('leaves the main thread free', async () => {
    const data = 'a'.repeat(60_000);
    const sources: SourceValues = {
      JSON_ANSWER: { kind: 'json', value: { Answer: [{ type: 'TXT', data }] } },
    };
    const target = `${'a'.repeat(5000)}b${'a'.repeat(4999)}`;
    const given = assertions({ source: 'JSON_ANSWER', comparison: 'CONTAINS', target });
    const evaluating = evaluator({ limitMs: 10_000 }).evaluate(given, sources, NEVER);
    expect(await turnsDuring(evaluating)).toBe(MANY_TURNS);
    expect(errors(await evaluating)[0]).toContain('expected the answer to contain');
  });
});

describe('expressions that never end', () => {
  let shared: Evaluator;
  beforeAll(() => {
    shared = createEvaluator({ clock: systemClock, workerUrl: WORKER, limitMs: 50 });
  });
  afterAll(() => shared.close());

  const nested = JSON.stringify({
    texts: Array.from({ length: 50 }, () => ({ t: BOMB_TEXT, p: '(a+)+b' })),
    grid: Array.from({ length: 60 }, () => Array.from({ length: 60 }, () => ({ x: [1, 2] }))),
  });

  test.each<[string, Partial<Assertion> & Pick<Assertion, 'source'>, string]>([
    ['nested repetition', { source: 'TEXT_BODY', property: '^(a+)+$' }, BOMB_TEXT],
    ['many wild parts', { source: 'TEXT_BODY', property: '(.*a){25}' }, BOMB_TEXT],
    ['in `regex`', { source: 'TEXT_BODY', regex: '(x|a|aa)+$' }, BOMB_TEXT],
    ['quadratic on a large body', { source: 'TEXT_BODY', property: 'a*b' }, 'a'.repeat(5_000_000)],
    ['matches that multiply', { source: 'JSON_BODY', property: '$..*..*..*..*..*' }, nested],
    [
      'the same by lists of selectors',
      { source: 'JSON_BODY', property: `$${'[*,*,*]'.repeat(4)}${'..*'.repeat(4)}` },
      nested,
    ],
    ['filters in filters', { source: 'JSON_BODY', property: '$..[?$..[?$..x]]' }, nested],
    ['search()', { source: 'JSON_BODY', property: '$.texts[?search(@.t, "(a+)+b")]' }, nested],
    [
      'match() by the body itself',
      { source: 'JSON_BODY', property: '$.texts[?match(@.t, @.p)]' },
      nested,
    ],
  ])('%s is stopped, and the main thread stays free', async (_name, one, text) => {
    const evaluating = shared.evaluate(assertions(one), body(text), NEVER);
    expect(await turnsDuring(evaluating)).toBe(MANY_TURNS);
    const [result] = await evaluating;
    expect(result?.error).toContain('longer than the 50 ms that are allowed');
    expect(result?.actual).toBeNull();
    expect(errors(await shared.evaluate(assertions(POOLED), body('ab!'), NEVER))).toEqual([null]);
  });

  test('have the same limit on the value of a header', async () => {
    const sources: SourceValues = { HEADERS: { kind: 'headers', headers: { 'x-a': BOMB_TEXT } } };
    const given = assertions({ source: 'HEADERS', property: 'X-A', regex: '^(a+)+$' });
    const [result] = await shared.evaluate(given, sources, NEVER);
    expect(result?.error).toContain('longer than');
  });

  /** `schedstat` of a thread that gets no CPU. */
  const noTime = (): string => {
    const file = `${makeTestFolder()}/schedstat`;
    writeFileSync(file, '12000000 0 1\n');
    return file;
  };

  test.runIf(process.platform === 'linux').each<[string, object, boolean | null]>([
    ['had its time if it used the limit of CPU, however long that took', {}, true],
    ['did not have its time if it was stopped without any CPU', { schedstat: noTime }, false],
    ['may have had its time if the kernel reports none', { schedstat: () => '/none' }, null],
  ])('are reported: one %s', async (_what, given: { schedstat?: () => string }, expected) => {
    const schedstat = given.schedstat?.();
    const subject = evaluator({ limitMs: 50, ...(schedstat === undefined ? {} : { schedstat }) });
    const bomb = assertions({ source: 'TEXT_BODY', property: '^(a+)+$' });
    expect(await outOfTime(subject, bomb)).toEqual([expected]);
  });

  test('do not delay others, in the main thread or in a worker', async () => {
    const subject = evaluator({ limitMs: 50 });
    const order: string[] = [];
    const note = (name: string) => () => order.push(name);
    const bombs = Array.from({ length: 4 }, (_, at) => {
      return { source: 'TEXT_BODY', property: `^(a+)+${at}$` } as const;
    });
    const slow = subject.evaluate(assertions(...bombs), body(BOMB_TEXT), NEVER).then(note('slow'));
    const plain = { source: 'TEXT_BODY', property: 'a(a)' } as const;
    await subject.evaluate(assertions(plain), body(BOMB_TEXT), NEVER).then(note('plain'));
    for (let round = 0; round < 3; round += 1) {
      const pooled = subject.evaluate(assertions(POOLED), body(BOMB_TEXT), NEVER);
      expect(errors(await pooled)).toEqual([null]);
      order.push('pooled');
    }
    await slow;
    expect(order).toEqual(['plain', 'pooled', 'pooled', 'pooled', 'slow']);
  });

  test('delay another expression only in the queue, even if there are hundreds of them', async () => {
    // A slow clock: on a busy machine the workers may need the 10 s after which waiting ones are refused.
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() / 100 };
    const subject = evaluator({ limitMs: 10, clock });
    let responsesDone = 0;
    for (let response = 0; response < 30; response += 1) {
      const bombs = Array.from({ length: 10 }, (_, at) => {
        return { source: 'TEXT_BODY', property: `^(a+)+${response}_${at}$` } as const;
      });
      const { signal } = new AbortController();
      void subject.evaluate(assertions(...bombs), body(BOMB_TEXT), signal).then(() => {
        responsesDone += 1;
      });
    }
    await subject.evaluate(assertions(POOLED), body('ab!'), NEVER);
    expect(responsesDone).toBe(0);
  });

  test('are rejected after a very long wait, so that their runs end', async () => {
    const clock = new FakeClock();
    const bombs = Array.from({ length: 3 }, (_, at) => {
      return { source: 'TEXT_BODY', property: `^(a+)+${at}$` } as const;
    });
    const evaluating = evaluator({ clock }).evaluate(assertions(...bombs), body(BOMB_TEXT), NEVER);
    await clock.stall(11_000);
    for (const error of errors(await evaluating)) {
      expect(error).toContain('too many expressions that take long are waiting');
    }
  });

  test.runIf(process.platform === 'linux').each<[string, () => string, boolean | null]>([
    ['did not have their time if their worker got no CPU', noTime, false],
    ['may have had their time if the kernel reports none', () => '/none', null],
  ])('are reported after a very long wait: they %s', async (_what, schedstat, expected) => {
    const clock = new FakeClock();
    const subject = evaluator({ clock, limitMs: 10, schedstat: schedstat() });
    const bombs = Array.from({ length: 3 }, (_, at) => {
      return { source: 'TEXT_BODY', property: `^(a+)+${at}$` } as const;
    });
    const seen = await outOfTime(subject, assertions(...bombs), () => clock.stall(11_000));
    expect(seen).toEqual([expected, expected, expected]);
  });

  test('are evaluated on another body if they were slow on one', async () => {
    const bomb = assertions({ source: 'TEXT_BODY', property: '^(a+)+$' });
    expect(errors(await shared.evaluate(bomb, body(BOMB_TEXT), NEVER))[0]).toContain('longer');
    expect(errors(await shared.evaluate(bomb, body('aaaa'), NEVER))).toEqual([null]);
    expect(errors(await shared.evaluate(bomb, body('aaaa'), NEVER))).toEqual([null]);
  });

  test('a JSON Schema has the same limit as a pattern, also behind a JSONPath', async () => {
    const sources: SourceValues = {
      JSON_SCHEMA: { kind: 'json-text', text: JSON.stringify({ a: [BOMB_TEXT, 'x'] }) },
    };
    const schema = { source: 'JSON_SCHEMA', comparison: 'EQUALS' } as const;
    const bomb = { ...schema, property: '$.a[0]', target: '{"pattern":"^(a+)+$"}' };
    const plain = { ...schema, property: '$.a[*]', target: '{"type":"string"}' };
    const failing = { ...schema, target: '{"required":["b"]}' };
    const given = assertions(bomb, plain, failing);
    const [slow, passed, failed] = errors(await evaluator().evaluate(given, sources, NEVER));
    expect(slow).toContain('could not be evaluated: it took longer than the 100 ms');
    expect(passed).toBeNull();
    expect(failed).toContain('does not have required property "b"');
  });

  test('a document nested a million deep ends no worker', async () => {
    const deep = `${'{"a":'.repeat(1_000_000)}1${'}'.repeat(1_000_000)}`;
    const given = assertions(
      { source: 'JSON_BODY', comparison: 'CONTAINS', target: 'no' },
      { source: 'JSON_BODY', property: '$[?@ == $]' },
      { source: 'JSON_BODY', property: '$.a.a', comparison: 'NOT_EMPTY' },
    );
    const [whole, filtered, plain] = errors(await evaluator().evaluate(given, body(deep), NEVER));
    expect(whole).toContain('could not be evaluated');
    expect(filtered).toContain('could not be evaluated');
    expect(plain).toBeNull();
  });

  test('are rejected if they are known to be slow and too many of them wait', async () => {
    const clock = new FakeClock();
    const subject = evaluator({ clock });
    const bomb = assertions({ source: 'TEXT_BODY', property: '^(a+)+$' });
    await subject.evaluate(bomb, body(BOMB_TEXT), NEVER);
    const first = subject.evaluate(bomb, body(BOMB_TEXT), NEVER);
    const second = subject.evaluate(bomb, body(BOMB_TEXT), NEVER);
    await clock.stall(3000);
    expect(errors(await first)[0]).toContain('longer than');
    expect(errors(await second)[0]).toContain('too many expressions that take long are waiting');
    expect(clock.pendingTimers).toBe(0);
  });

  test('a worker that cannot be interrupted is replaced', async () => {
    // Writing a large document as one text is a single native call.
    const text = JSON.stringify(
      Array.from({ length: 200_000 }, (_, id) => ({ id, k: 'vvvvvvvv' })),
    );
    const object = `{"a":${text}}`;
    const subject = evaluator({ limitMs: 5 });
    const given = assertions({ source: 'JSON_BODY', comparison: 'CONTAINS', target: 'no' });
    expect(errors(await subject.evaluate(given, body(object), NEVER))[0]).toContain('longer than');
    const patient = evaluator({ limitMs: 10_000 });
    expect(errors(await patient.evaluate(given, body(object), NEVER))[0]).toContain('to contain');
    const after = await subject.evaluate(
      assertions({ ...POOLED, property: '(a|b)' }),
      body('b'),
      NEVER,
    );
    expect(errors(after)).toEqual([null]);
  });
});

describe('an evaluator', () => {
  const bombs = assertions(
    ...Array.from({ length: 50 }, () => ({ source: 'TEXT_BODY', property: '^(a+)+$' }) as const),
  );

  test('cancels a waiting evaluation at once when its signal aborts', async () => {
    const subject = evaluator();
    const controller = new AbortController();
    const evaluating = subject.evaluate(bombs, body(BOMB_TEXT), controller.signal);
    let isOver = false;
    const over = evaluating.then(() => {
      isOver = true;
    });
    await settle();
    expect(isOver).toBe(false);
    controller.abort();
    await settle();
    expect(isOver).toBe(true);
    await over;
    for (const error of errors(await evaluating)) expect(error).toContain('the run was cut short');
    const again = await subject.evaluate(bombs.slice(0, 1), body(BOMB_TEXT), controller.signal);
    expect(errors(again)[0]).toContain('the run was cut short');
    expect(errors(await subject.evaluate(assertions(POOLED), body('ab!'), NEVER))).toEqual([null]);
  });

  test('ends its workers and all waiting evaluations when it is closed', async () => {
    const subject = evaluator();
    await subject.evaluate(assertions(POOLED), body('ab!'), NEVER);
    const evaluating = subject.evaluate(bombs, body(BOMB_TEXT), NEVER);
    await subject.close();
    for (const error of errors(await evaluating)) expect(error).toContain('the run was cut short');
    const late = await subject.evaluate(assertions(POOLED), body('ab!'), NEVER);
    expect(errors(late)[0]).toContain('the run was cut short');
    await subject.close();
  });

  test('keeps the process alive only while its workers work', async () => {
    const script = `
      import { createEvaluator } from ${JSON.stringify(new URL('evaluator.js', DIST).href)};
      import { systemClock } from ${JSON.stringify(new URL('../../runtime/clock.js', DIST).href)};
      const workerUrl = new URL(${JSON.stringify(WORKER.href)});
      const evaluator = createEvaluator({ clock: systemClock, workerUrl });
      const assertion = { source: 'TEXT_BODY', property: '^(a+)+$', comparison: 'NOT_NULL', target: '', regex: null };
      const sources = { TEXT_BODY: { kind: 'text', text: 'a'.repeat(60) + '!' } };
      const [result] = await evaluator.evaluate([assertion], sources, new AbortController().signal);
      console.log(result.error);`;
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
    expect(stdout).toContain('longer than the 100 ms');
  });
});

describe('a worker that does not run', () => {
  test.each([
    ['is not there', new URL('no-such-worker.js', DIST)],
    ['ends by itself', new URL('data:text/javascript,process.exit(3)')],
    ['throws', new URL('data:text/javascript,throw new Error("no")')],
    ['has no such address', new URL('https://127.0.0.1/worker.js')],
  ])('is a fault of the agent each time: %s', async (_name, workerUrl) => {
    const subject = evaluator({ workerUrl });
    for (let round = 0; round < 2; round += 1) {
      await expect(subject.evaluate(assertions(POOLED), body('ab!'), NEVER)).rejects.toMatchObject({
        kind: 'internal',
        code: 'EVALUATION_WORKER_BROKEN',
      });
    }
    const plain = assertions({ source: 'TEXT_BODY', comparison: 'CONTAINS', target: 'ab' });
    expect(errors(await subject.evaluate(plain, body('ab!'), NEVER))).toEqual([null]);
  });
});

test('masks a text once, however many assertions show it', async () => {
  const masked: string[] = [];
  const mask = (said: string): string => {
    masked.push(said);
    return said.replaceAll('secret', '******');
  };
  const some = Array.from({ length: 20 }, (_, at) => ({
    source: 'TEXT_BODY' as const,
    comparison: 'CONTAINS' as const,
    target: `${at}`,
  }));
  const given = assertions(...some, { source: 'TEXT_BODY', property: 'secret .', regex: null });
  const long = `a secret ${'x'.repeat(20_000)}`;
  const results = await evaluator().evaluate(given, body(long), NEVER, { mask });
  expect(masked).toHaveLength(2);
  expect(results.map(({ actual }) => actual?.slice(0, 10))).toEqual([
    ...some.map(() => 'a ****** x'),
    '****** x',
  ]);
});
