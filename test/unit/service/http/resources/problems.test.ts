import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { repeatedField } from '../../../../../src/model/repeated-field.ts';
import { MAX_FOUND_PROBLEMS, MAX_PROBLEMS } from '../../../../../src/service/errors.ts';
import {
  parseBody,
  unstorableTexts,
} from '../../../../../src/service/http/resources/input-problems.ts';
import { problemsOf, validate } from '../../../../../src/service/http/resources/problems.ts';

const CHANNEL = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('EMAIL'), address: z.email() }),
  z.strictObject({ type: z.literal('SMS'), id: z.guid() }),
]);

const said = (body: unknown): string => {
  const { error } = z
    .object({ channel: CHANNEL })
    .safeParse({ channel: body }, { reportInput: true });
  return problemsOf(error ?? new z.ZodError([]), 'body')
    .map(({ path, message }) => `${path} ${message}`)
    .join('\n');
};

describe('a problem of a request', () => {
  it('says of a text that is too short how long it must be, in words that fit', () => {
    const problems = (least: number, text: string) => {
      const { error } = z
        .object({ key: z.string().min(least) })
        .safeParse({ key: text }, { reportInput: true });
      return problemsOf(error ?? new z.ZodError([]), 'body').map(({ message }) => message);
    };
    expect(problems(1, '')).toEqual(['must be at least 1 character long, not empty']);
    expect(problems(2, 'a')).toEqual([
      'must be at least 2 characters long, not text of 1 characters',
    ]);
  });

  it('says where to find the number of a channel or a group in place of its id in a check file', () => {
    const schema = z.strictObject({
      groupId: z.number().nullable(),
      alertChannelIds: z.array(z.int()),
      alertChannelSubscriptions: z.array(z.strictObject({ alertChannelId: z.number() })),
    });
    const body = {
      groupId: 'shop',
      alertChannelIds: [3, 'me'],
      alertChannelSubscriptions: [{ alertChannelId: 'me' }, { alertChannelId: null }],
    };
    const judged = validate(schema, body, 'body');
    const problems = judged.ok ? [] : judged.problems;
    expect(problems.map(({ path, message }) => `${path} ${message}`)).toEqual([
      'body.groupId must be the number of a group, not text of 4 characters: GET /v1/check-groups lists them',
      'body.alertChannelIds[1] must be the number of a channel, not text of 2 characters: GET /v1/alert-channels lists them',
      'body.alertChannelSubscriptions[0].alertChannelId must be the number of a channel, not text of 2 characters: GET /v1/alert-channels lists them',
      'body.alertChannelSubscriptions[1].alertChannelId must be a number, not null',
    ]);
  });

  it.each([
    [{ type: 'HOOK' }, 'body.channel.type must be one of EMAIL, SMS, not "HOOK"'],
    [{ type: 5 }, 'body.channel.type must be one of EMAIL, SMS, not 5'],
    [{}, 'body.channel.type is missing; it must be one of EMAIL, SMS'],
    [
      { type: 'EMAIL', address: 'x' },
      'body.channel.address must be an address such as ops@example.com, not text of 1 characters',
    ],
    [
      { type: 'SMS', id: '7' },
      'body.channel.id must be an id such as 5f0c8a8e-0000-4000-8000-000000000001, not text of 1 characters',
    ],
  ])('of %j says what is allowed', (body, sentence) => {
    expect(said(body)).toBe(sentence);
  });
});

describe('a missing field', () => {
  it.each([
    [z.enum(['DAY', 'WEEK']), 'is missing; it must be one of DAY, WEEK'],
    [z.literal(1), 'is missing; it must be 1'],
    [z.string(), 'is missing; it must be text'],
  ])('is said to be missing, with what it must be', (unit, message) => {
    expect(validate(z.strictObject({ unit }), {}, 'body')).toEqual({
      ok: false,
      problems: [{ path: 'body.unit', message }],
    });
  });
});

describe('a judgement', () => {
  const schema = z.strictObject({
    name: z.string().min(2).trim(),
    channels: z.array(CHANNEL).default([]),
  });

  it.each([
    { name: ' ab ' },
    { name: 'a', channels: [{ type: 'SMS', id: '7' }, { type: 'HOOK' }], more: 1 },
    { channels: {} },
    null,
    7,
  ])('of %j is that of the library, with its problems', (value) => {
    const parsed = schema.safeParse(value, { reportInput: true });
    expect(validate(schema, value, 'body')).toEqual(
      parsed.success
        ? { ok: true, value: parsed.data }
        : { ok: false, problems: problemsOf(parsed.error, 'body') },
    );
  });
});

describe('an unknown field', () => {
  const schema = z.strictObject({
    name: z.string().optional(),
    channels: z.array(CHANNEL).optional(),
    settings: z.strictObject({ interval: z.int() }).nullable().default(null),
    created_at: repeatedField,
    label: z.string().optional().meta({ deprecated: true }),
  });
  const problems = (body: unknown) => {
    const parsed = validate(
      z.preprocess((given) => given, schema),
      body,
      'body',
    );
    return parsed.ok ? [] : parsed.problems.map(({ path, message }) => `${path} ${message}`);
  };

  it.each([
    [{ nmae: 'a' }, 'body.nmae is not a known field; did you mean name?'],
    [
      { channels: [{ type: 'EMAIL', address: 'a@b.test', adress: 'a' }] },
      'body.channels[0].adress is not a known field; did you mean address?',
    ],
    [
      { settings: { interval: 1, Intervall: 5 } },
      'body.settings.Intervall is not a known field; did you mean interval?',
    ],
    [{ colour: 'red' }, 'body.colour is not a known field'],
    // Fields without effect, and former names, are not suggested.
    [{ create_at: '2026-01-31' }, 'body.create_at is not a known field'],
    [{ lable: 'a' }, 'body.lable is not a known field'],
    [{ ['n'.repeat(5_000)]: 1 }, `body["${'n'.repeat(60)}"] is not a known field`],
  ])('of %j is said to be unknown, with the field that is nearest', (body, problem) => {
    expect(problems(body)).toEqual([problem]);
  });

  it('gets no suggestion beyond the problems that a response shows', () => {
    const found = problems(
      Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`name${n}`, 1])),
    );
    const hints = found.map((problem) => problem.endsWith('; did you mean name?'));
    expect(hints).toEqual(Array.from({ length: 40 }, (_, n) => n < MAX_PROBLEMS));
  });
});

describe('very many problems', () => {
  const manyKeys = Object.fromEntries(
    Array.from({ length: 3 * MAX_FOUND_PROBLEMS }, (_, n) => [`k${n}`, '\0']),
  );

  it('of unknown fields are looked for up to a bound, and the first ones are reported', () => {
    const parsed = parseBody(z.strictObject({ name: z.string() }), { name: 'x', ...manyKeys });
    const problems = parsed.ok ? [] : parsed.problems;
    expect(problems[0]).toEqual({ path: 'body.k0', message: 'is not a known field' });
    // The other half are texts that cannot be stored.
    expect(problems).toHaveLength(2 * MAX_FOUND_PROBLEMS);
  });

  it('of many fields, each with its own, are looked for up to the same bound', () => {
    const schema = z.record(z.string(), z.strictObject({ id: z.number() }));
    const body = Object.fromEntries(Object.keys(manyKeys).map((key) => [key, { a: 1, b: 2 }]));
    const parsed = parseBody(schema, body);
    expect(parsed.ok ? [] : parsed.problems).toHaveLength(MAX_FOUND_PROBLEMS);
  });

  it('get messages up to a bound, however many the schema finds', () => {
    let worded = 0;
    const error = (): string => {
      worded += 1;
      return 'is wrong';
    };
    const schema = z.array(z.string({ error }));
    const parsed = parseBody(
      schema,
      Array.from({ length: 10 * MAX_FOUND_PROBLEMS }, (_, n) => n),
    );
    expect(parsed.ok ? [] : parsed.problems).toHaveLength(MAX_FOUND_PROBLEMS);
    expect(worded).toBe(MAX_FOUND_PROBLEMS);
  });

  it('of texts say where each of the first is', () => {
    const problems = unstorableTexts({ a: [{ b: '\0' }, 'fine', '\ud800'], ...manyKeys });
    expect(problems.slice(0, 3).map(({ path }) => path)).toEqual([
      'body.a[0].b',
      'body.a[2]',
      'body.k0',
    ]);
    expect(problems).toHaveLength(MAX_FOUND_PROBLEMS);
  });
});
