import { z } from 'zod';

/** The fields that messages are made of. All of them are bounded. */

/**
 * Text as PostgreSQL can store it, which takes neither U+0000 nor a lone surrogate, and which a
 * target may have sent either of: U+FFFD stands in for both. The length stays the same.
 */
export function storableText(text: string): string {
  // Hardly any text has one, and the two passes are what takes long in reading a result.
  if (!UNSTORABLE.test(text)) return text;
  return text.replaceAll('\0', '\ufffd').replaceAll(/\p{Surrogate}/gu, '\ufffd');
}

/** Halves of pairs too, which the passes then tell from lone ones. */
const UNSTORABLE = /[\0\ud800-\udfff]/;

/** Any text of at most so many UTF-16 units, made storable. */
export function text(maxChars: number) {
  return z.string().max(maxChars).overwrite(storableText);
}

/** Ids of checks (as check files have them), agents, results, runs, uploads. */
export const id = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/, 'must be 1 to 128 letters, digits and _ . : -');

/**
 * A location's name in results: a slug, an identifier of src/service/README.md, "Every endpoint",
 * or what the agent was told.
 */
export const locationName = text(255).min(1);

/** Epoch milliseconds. Down to 0, so that a machine without a clock can be told of it. */
export const instant = z
  .int()
  .min(0)
  .max(Date.UTC(9999, 11, 31));

/** ISO 8601 in UTC, as Date's own toISOString writes it. */
export const isoTime = z.iso.datetime().max(40);

const MAX_DURATION_MS = 7 * 86_400_000;

/**
 * Milliseconds with a fraction. One below 0 counts as 0: a server may answer before it was sent
 * all of a request, and that is no reason to lose the result.
 */
export const duration = z
  .number()
  .max(MAX_DURATION_MS)
  .overwrite((ms) => Math.max(0, ms));

export const durationOrNull = duration.nullable();

export const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** Upper case and underscores: a code that programs branch on. A newer peer may have more of them. */
export const openCode = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'must be a short code');

/**
 * A list of at most so many items. They are counted before they are looked at: a million wrong ones
 * would take seconds to be told of.
 */
export function listOf<Item extends z.ZodType>(item: Item, maxItems: number) {
  return z.array(z.unknown()).max(maxItems).pipe(z.array(item));
}

/**
 * A record with at most so many keys, which are counted first, too.
 *
 * @param values a quick look at the kind of values, where to tell of thousands that do not fit the
 *   schema would take long: the first that does not fit is told alone
 */
export function recordOf<Value extends z.ZodType>(
  keyMaxChars: number,
  value: Value,
  maxKeys: number,
  values?: { readonly fits: (value: unknown) => boolean; readonly kind: string },
) {
  return z
    .record(z.string(), z.unknown())
    .superRefine((record, context) => {
      const keys = Object.keys(record);
      if (keys.length > maxKeys) {
        context.addIssue({ code: 'custom', message: `must have at most ${maxKeys} keys` });
        return;
      }
      if (values === undefined) return;
      const wrong = keys.find((key) => !values.fits(record[key]));
      if (wrong === undefined) return;
      context.addIssue({ code: 'custom', path: [wrong], message: `must be ${values.kind}` });
    })
    .pipe(z.record(text(keyMaxChars), value));
}
