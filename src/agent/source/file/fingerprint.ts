import { createHash } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { FileResources } from '../../../model/check-file/sections.ts';
import type { CheckSet } from '../check-source.ts';

/**
 * Maximum length: defaults and aliases can expand a small file to more checks than fit in memory or
 * in one message between threads. 100,000 ordinary checks take half of this.
 */
export const MAX_SET_CHARS = 256 * 1024 * 1024;

/** Yields to the event loop after this many, as checks may be running. */
const ENTRIES_PER_YIELD = 100;

/**
 * Equal for the same name, checks, variables, certificates and other entries, however a file writes
 * them; null if they are longer than MAX_SET_CHARS.
 */
export async function fingerprintOf({
  name,
  checks,
  variables,
  clientCertificates,
  resources: { sections, references, escalationStep },
}: Pick<CheckSet, 'checks' | 'variables' | 'clientCertificates'> & {
  readonly name: string | null;
  readonly resources: FileResources;
}): Promise<string | null> {
  const hash = createHash('sha256');
  let chars = 0;
  const lists = {
    name: [name],
    checks,
    variables,
    clientCertificates,
    ...sections,
    references: [...references],
    escalationStep: escalationStep === undefined ? [] : [escalationStep],
  };
  // One by one: the JSON of all may be too long for a string.
  for (const [kind, entries] of Object.entries(lists)) {
    hash.update(`${kind}\n`);
    for (const [index, entry] of entries.entries()) {
      const json = JSON.stringify(entry);
      chars += json.length;
      if (chars > MAX_SET_CHARS) return null;
      hash.update(`${json}\n`);
      if (index % ENTRIES_PER_YIELD === ENTRIES_PER_YIELD - 1) await yieldToEventLoop();
    }
  }
  return hash.digest('hex');
}
