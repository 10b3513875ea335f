import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { problemsOf } from '../../../../src/service/http/problems.ts';

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
