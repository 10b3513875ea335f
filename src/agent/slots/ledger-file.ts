import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { messageOf, systemCodeOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { id, instant } from '../../wire/v1/fields.ts';

const FORMAT = 1;

export type UnfinishedSlot = readonly [checkId: string, slotMs: number];

/** What is known of slots. */
export interface LedgerState {
  /** Epoch milliseconds: each slot up to here is answered for, but for the unfinished ones. */
  readonly upToMs: number;
  readonly unfinished: readonly UnfinishedSlot[];
}

const accountedSchema = z.object({
  format: z.literal(FORMAT),
  upToMs: instant,
  unfinished: z.array(z.tuple([id, instant])),
}) satisfies z.ZodType<LedgerState>;

export function ledgerText({ upToMs, unfinished }: LedgerState): string {
  return `${JSON.stringify({ format: FORMAT, upToMs, unfinished })}\n`;
}

/** Null where there is no such file, or, with a line in the log, where it makes no sense. */
export async function readLedger(file: string, log: Logger): Promise<LedgerState | null> {
  let reason: string;
  try {
    const json: unknown = JSON.parse(await readFile(file, 'utf8'));
    const parsed = accountedSchema.safeParse(json);
    if (parsed.success) return parsed.data;
    reason = 'it is not of the form that this release writes';
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return null;
    reason = messageOf(error);
  }
  const what = 'it is not known which slots were run before: none of them is reported as missed';
  log.warn({ file, reason }, what);
  return null;
}
