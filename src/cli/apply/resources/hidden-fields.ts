import { MASK } from '../../../model/credentials/mask.ts';
import { UNKNOWN_SECRET } from '../normal-form.ts';

/** Whether a value of the service contains a secret, or a text that is masked for the key. */
export function hasHidden(value: unknown): boolean {
  if (typeof value === 'string') return value === UNKNOWN_SECRET || value.endsWith(MASK);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(hasHidden);
}

/** Replaces each text in a value of the file by the service's mask if the hidden text may be the same. */
export function withHidden(known: unknown, given: unknown): unknown {
  if (typeof known === 'string' && typeof given === 'string') {
    return mayBeSame(known, given) ? known : given;
  }
  if (Array.isArray(known) && Array.isArray(given)) {
    return given.map((each, n) => withHidden(known[n], each));
  }
  if (!isObject(known) || !isObject(given)) return given;
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, withHidden(known[key], value)]),
  );
}

/** Whether the service hides a text that may be that of the file. */
export function mayBeSame(known: string, given: string): boolean {
  if (known === UNKNOWN_SECRET) return true;
  if (!known.endsWith(MASK)) return false;
  // The service shows the origin of a webhook's URL: src/service/checks/masked-channels.ts.
  const shown = known.slice(0, -MASK.length);
  const comparable = URL.canParse(given) && shown !== '' ? new URL(given).href : given;
  return comparable.startsWith(shown) && comparable.length > shown.length;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
