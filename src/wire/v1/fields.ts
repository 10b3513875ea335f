import { z } from 'zod';
import { storableText } from '../../runtime/text/storable-text.ts';

/** Basic field types of messages, all of them bounded; durations have a file of their own. */

/** Any text of at most this many UTF-16 units, made storable. */
export function text(maxChars: number) {
  return z.string().max(maxChars).overwrite(storableText);
}

/** Ids of checks (as check files have them), agents, results, runs, uploads. */
export const id = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/, 'must be 1 to 128 letters, digits and _ . : -');

/**
 * The name of a location in results: a slug, or an identifier of src/service/README.md, "Values of
 * shared fields".
 */
export const locationName = text(255).min(1);

/** Epoch milliseconds. 0 is valid: a machine without a clock starts at 1970. */
export const instant = z
  .int()
  .min(0)
  .max(Date.UTC(9999, 11, 31));

/** ISO 8601 in UTC, as `Date.toISOString` writes it. */
export const isoTime = z.iso.datetime().max(40);

export const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** A code of letters, digits and underscores that programs branch on. Newer peers may have more. */
export const openCode = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'must be a short code');

/**
 * A list of at most this many items. They are counted before they are parsed: reporting a million
 * invalid items would take seconds.
 */
export function boundedList<Item extends z.ZodType>(item: Item, maxItems: number) {
  return z.array(z.unknown()).max(maxItems).pipe(z.array(item));
}

/**
 * A record with at most this many keys, which are also counted first.
 *
 * @param values a quick test of the values: only the first invalid one is reported, as reporting
 *   thousands of them would take long
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
