import { systemClock } from '../../../src/runtime/clock.ts';
import type { SignedIn } from '../../../src/service/http/access/caller.ts';
import { KEY_TTL_MS, KeyCache } from '../../../src/service/http/access/key-cache.ts';

/** For a service whose users are never signed in. */
export function noSessions(): KeyCache<SignedIn> {
  const holders = { authenticate: async (): Promise<SignedIn | null> => null };
  return new KeyCache({ holders, clock: systemClock, ttlMs: KEY_TTL_MS, maxEntries: 10 });
}
