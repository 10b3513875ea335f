import { isDeepStrictEqual } from 'node:util';
import { Document, visit } from 'yaml';
import { checkBodySchema } from '../../model/check/check.ts';
import { MASK } from '../../model/credentials/mask.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Fields that only responses have. A file has no logicalId: it is derived from the name of the file and the id. */
const NOT_IN_FILES = [
  'created_at',
  'createdAt',
  'updated_at',
  'updatedAt',
  'alertChannels',
  'warnings',
  'logicalId',
];
/** These fields come first, in this order; the others follow in the order of the API. */
const FIRST = ['id', 'checkType', 'name', 'description', 'tags', 'activated', 'frequency'];
const HIDDEN = ' hidden by the API: put the value here, or {{NAME}} and a variable';

/**
 * Returns a check file with one check, without the fields that have their default value. Marks hidden values
 * by comments; the file is invalid until they are filled in.
 *
 * @param shown the check as the API shows it
 */
export function checkFileOf(shown: Fields): string {
  const document = new Document({ checks: [checkEntryOf(shown)] });
  visit(document, {
    Pair(_, pair) {
      const { key, value } = pair as { key: { value?: unknown }; value: ScalarLike | null };
      // The value of a secret variable is null.
      const isHidden = value?.value === MASK || (key.value === 'value' && value?.value === null);
      if (value !== null && isHidden) value.comment = HIDDEN;
    },
  });
  return document.toString({ lineWidth: 100 });
}

/**
 * Returns a check as an entry of a check file, without the fields that have their default value. References
 * still contain ids of the service, not ids of entries.
 *
 * @param shown the check as the API shows it
 */
export function checkEntryOf(shown: Fields): Fields {
  const { id, ...all } = shown;
  const fields = Object.fromEntries(
    Object.entries(all).filter(([name]) => !NOT_IN_FILES.includes(name)),
  );
  const short = withoutDefaults(fields);
  const names = [...new Set([...FIRST, ...Object.keys(short)])];
  const entry: [string, unknown][] = [['id', id]];
  for (const name of names) if (Object.hasOwn(short, name)) entry.push([name, short[name]]);
  return Object.fromEntries(entry);
}

interface ScalarLike {
  value?: unknown;
  comment?: string | null;
}

/** Omits fields of the check and its request that have the default value of the schema. */
function withoutDefaults(fields: Fields): Fields {
  const whole = parsed(fields);
  if (whole === null) return fields;
  let short: Record<string, unknown> = { ...fields };
  const tryWithout = (shorter: Record<string, unknown>): void => {
    if (isDeepStrictEqual(parsed(shorter), whole)) short = shorter;
  };
  for (const name of Object.keys(fields)) {
    const { [name]: _, ...rest } = short;
    tryWithout(rest);
  }
  for (const name of ['request', 'retryStrategy', 'alertSettings']) {
    const part = short[name];
    if (typeof part !== 'object' || part === null) continue;
    for (const key of Object.keys(part)) {
      const { [key]: _, ...rest } = short[name] as Record<string, unknown>;
      tryWithout({ ...short, [name]: rest });
    }
  }
  const request = short.request as { readonly assertions?: readonly Fields[] } | undefined;
  for (const [index, assertion] of (request?.assertions ?? []).entries()) {
    for (const key of Object.keys(assertion)) {
      const now = short.request as { readonly assertions: readonly Fields[] };
      const { [key]: _, ...rest } = now.assertions[index] ?? {};
      tryWithout({ ...short, request: { ...now, assertions: now.assertions.with(index, rest) } });
    }
  }
  return short;
}

/** Secret variables have a value in a file, which responses hide. */
function parsed(fields: Fields): unknown {
  const variables = Array.isArray(fields.variables)
    ? fields.variables.map((variable: Fields) => ({ ...variable, value: variable.value ?? MASK }))
    : fields.variables;
  const found = checkBodySchema.safeParse(
    variables === undefined ? fields : { ...fields, variables },
  );
  return found.success ? found.data : null;
}
