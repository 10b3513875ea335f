import { z } from 'zod';
import { RUN_RESULTS } from '../../../model/result/run-result.ts';
import { idOf, runLocation } from '../../http/resources/shown-fields.ts';
import type { Explanation } from './runs.ts';

const resultId = idOf('the result');
const result = z
  .enum(RUN_RESULTS)
  .describe('How it ended; `error` and `cancelled` say nothing about the target.');
const errorCode = z.string().nullable().describe('One of the error codes; null if there is none.');

export const attempt = z
  .strictObject({
    resultId,
    number: z.number().describe('From 1.'),
    location: runLocation,
    result,
    startedAt: z.iso.datetime().describe('When the attempt began.'),
    responseTime: z.number().describe('Milliseconds.'),
    errorCode,
    response: z
      .string()
      .nullable()
      .describe('The response of the target in a few words; null if there was none.'),
    reason: z.string().nullable().describe('The first reason for which it did not pass.'),
  })
  .meta({ title: 'AttemptSummary' });

export const slot = z.iso.datetime().describe('When it was due.');

/** Why a result is as it is, and what to do. */
export const explanation = z
  .strictObject({
    resultId,
    result,
    reasons: z.array(z.string()).describe('Why it did not pass, the first one first.'),
    errorCode,
    meaning: z.string().nullable().describe('What the error code means.'),
    phase: z.string().nullable().describe('Where it failed or was slow, such as `dns`.'),
    advice: z.string().nullable().describe('What to try first.'),
    attempts: z
      .array(attempt)
      .describe('All stored attempts of its run in order, itself included.'),
    lastPassing: z
      .strictObject({ ...attempt.shape, slot })
      .nullable()
      .describe('The last run before it that passed and was not degraded.'),
  })
  .meta({ title: 'ResultExplanation' });

export function presentExplanation(found: Explanation): z.output<typeof explanation> {
  const { advice, lastPassing, reasons, attempts, ...rest } = found;
  return {
    ...rest,
    reasons: [...reasons],
    attempts: [...attempts],
    phase: advice?.phase ?? null,
    advice: advice?.advice ?? null,
    lastPassing: lastPassing === null ? null : withSlot(lastPassing),
  };
}

function withSlot({ slotMs, ...summary }: NonNullable<Explanation['lastPassing']>) {
  return { ...summary, slot: new Date(slotMs).toISOString() };
}
