import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../../runtime/clock.ts';
import type { Store } from '../../database/store.ts';
import type { SignedIn } from '../../http/access/caller.ts';
import type { ServiceAddress } from '../../http/access/service-address.ts';
import { sessionTokenOf } from '../../http/access/session-cookie.ts';
import { userIfKnown } from '../../sessions/browser-session.ts';
import type { SignInThrottle } from '../../sessions/sign-in-throttle.ts';
import type { Passwords } from '../../users/password-hashing.ts';
import type { FoundPage, PageCache } from '../site/page-cache.ts';
import { findGate, type PageGate } from './page-gate.sql.ts';
import { DEVICE_SECONDS, deviceOf, isPageToken, pageTokenFor } from './page-token.ts';
import { pageTokensIn } from './page-token-cookie.ts';

export interface PageAccessParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly serviceAddress: ServiceAddress;
  readonly pages: PageCache;
  readonly passwords: Passwords;
  readonly signInThrottle: Pick<SignInThrottle, 'begin'>;
}

/** Who may read which status page (src/service/README.md, "Private pages"). */
export interface PageAccess {
  /**
   * Returns null if there is no such page or the sender may not read it. Both cases take the same
   * steps, so timing reveals nothing.
   */
  find(request: FastifyRequest, url: string): Promise<FoundPage | null>;
  /** Like `find`, but a token for the page gives access, even if the page is private. */
  findByToken(
    request: FastifyRequest,
    url: string,
    holdsToken: (page: { readonly accountId: string; readonly pageId: string }) => Promise<boolean>,
  ): Promise<FoundPage | null>;
  /**
   * @returns a page token for the cookie; `open` for a page that needs none; null for a wrong password, and
   *   for a page that does not exist
   * @throws ServiceError 429 after too many wrong ones, 503 where too many are checked at once
   */
  enter(
    request: FastifyRequest,
    url: string,
    password: string,
  ): Promise<{ readonly token: string; readonly maxAgeSeconds: number } | 'open' | null>;
}

/** The facts about the sender of a request. */
interface Reader {
  readonly user: SignedIn | null;
  readonly pageTokens: readonly string[];
}

export function createPageAccess(parts: PageAccessParts): PageAccess {
  const { store, clock, serviceAddress, pages, passwords, signInThrottle } = parts;

  /** null for a request without credentials, which may read only public pages. */
  async function readerOf(request: FastifyRequest): Promise<Reader | null> {
    const pageTokens = pageTokensIn(serviceAddress, request);
    if (pageTokens.length === 0 && sessionTokenOf(serviceAddress, request) === null) return null;
    return { user: await userIfKnown(request), pageTokens };
  }

  function mayRead({ user, pageTokens }: Reader, gate: PageGate | null): boolean {
    const nowMs = clock.wallMs();
    // Checks each token, even for a page that does not exist, so that timing reveals nothing.
    const hasToken = pageTokens.filter((token) => isPageToken(gate, token, nowMs)).length > 0;
    const isMember = user?.memberships.some(({ accountId }) => accountId === gate?.accountId);
    return hasToken || isMember === true;
  }

  /**
   * Returns the browser if the password was right in it before. Its attempts count separately: otherwise attempts
   * of others could lock out all readers.
   */
  async function knownDevice(request: FastifyRequest, url: string): Promise<string | null> {
    const pageTokens = pageTokensIn(serviceAddress, request);
    if (pageTokens.length === 0) return null;
    const gate = await findGate(store, url);
    const devices = pageTokens.map((token) => deviceOf(gate, token, clock.wallMs()));
    return devices.find((device) => device !== null) ?? null;
  }

  const access: PageAccess = {
    async find(request, url) {
      if (pages.gateOf(url)?.isPrivate === false) {
        const found = await pages.find(url);
        if (found === null || !found.gate.isPrivate) return found;
      }
      const reader = await readerOf(request);
      // Answered from memory, so that readers are served while the database is unavailable.
      if (reader !== null && mayRead(reader, pages.gateOf(url))) {
        const found = await pages.find(url);
        if (found !== null && mayRead(reader, found.gate)) return found;
      }
      if (reader === null && pages.isKnownUnreadable(url)) return null;
      const { changes } = pages.unreadable;
      const gate = await findGate(store, url);
      const isOpen = gate?.isPrivate === false || (reader !== null && mayRead(reader, gate));
      if (isOpen) return await pages.find(url);
      if (reader === null) pages.unreadable.add(url, changes);
      return null;
    },

    async findByToken(request, url, holdsToken) {
      const found = await access.find(request, url);
      if (found !== null) return found;
      const gate = await findGate(store, url);
      // Checked even for a page that does not exist, so that timing reveals nothing.
      const isHeld = await holdsToken({ accountId: gate?.accountId ?? '', pageId: gate?.id ?? '' });
      return isHeld ? await pages.find(url) : null;
    },

    async enter(request, url, password) {
      const device = await knownDevice(request, url);
      const takeBack = await signInThrottle.begin(`status page ${url}`, request.ip, device);
      const check = async () => {
        const gate = await findGate(store, url);
        if (gate?.isPrivate === false) return { gate, verdict: 'open' } as const;
        const hash = gate?.passwordHash ?? null;
        return { gate, verdict: await passwords.check(hash, password) };
      };
      const { gate, verdict } = await check().catch(async (error: unknown) => {
        // The password was not judged. An error of uncounting the attempt must not hide the original error.
        await takeBack().catch(() => {});
        throw error;
      });
      if (gate === null || verdict === 'wrong') return null;
      await takeBack();
      if (verdict === 'open') return 'open';
      // Keeps an outdated hash: a new one would invalidate the page tokens of all readers.
      return { token: pageTokenFor(gate, clock.wallMs()), maxAgeSeconds: DEVICE_SECONDS };
    },
  };
  return access;
}
