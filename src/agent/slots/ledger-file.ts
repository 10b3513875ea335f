import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { messageOf, systemCodeOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { id, instant } from '../../wire/v1/fields.ts';

const FORMAT = 1;

export type UnfinishedSlot = readonly [checkId: string, slotMs: number];

/** Which slots are answered. */
export interface LedgerState {
  /** Epoch milliseconds: all slots up to here are answered, except the unfinished ones. */
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

/** null if the file is missing or, with a warning in the log, invalid. */
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
