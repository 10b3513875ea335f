import { X509Certificate } from 'node:crypto';
import { DAY_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type {
  ClientCertificates,
  StoredCertificate,
} from '../client-certificates/client-certificates.ts';
import type { Store } from '../database/store.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import {
  type ChecksOfHost,
  findChecksOfHosts,
  listSeenCertificates,
  type SeenCertificate,
} from './sql.ts';

/** A certificate with the days that are left now: negative once it has expired. */
export interface CertificateView extends SeenCertificate {
  readonly daysRemaining: number;
  readonly facts: ShownFacts | null;
}

export interface ShownFacts {
  readonly subject: string;
  readonly issuer: string;
  readonly validFrom: string;
  readonly validTo: string;
  readonly serialNumber: string;
  readonly fingerprint256: string;
  /** The first MAX_NAMES. */
  readonly names: readonly string[];
  readonly nameCount: number;
}

/** A client certificate, and which checks it is sent for. */
export interface ClientCertificateView {
  readonly id: string;
  readonly host: string;
  /** null if the stored certificate cannot be read. */
  readonly facts: ShownFacts | null;
  readonly daysRemaining: number | null;
  readonly checkCount: number;
  readonly checks: ChecksOfHost['checks'];
}

export interface Certificates {
  /** The certificate that each check saw last, sorted by expiry, the first to expire first. */
  seen(accountId: string, page: Page): Promise<readonly CertificateView[]>;
  /** Oldest first. */
  ofClients(accountId: string, page: Page): Promise<readonly ClientCertificateView[]>;
}

const MAX_NAMES = 50;
export const MAX_CHECKS = 100;

export function createCertificates({
  store,
  clock,
  log,
  clientCertificates,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly clientCertificates: Pick<ClientCertificates, 'list'>;
}): Certificates {
  const daysUntil = (instantMs: number): number =>
    Math.floor((instantMs - clock.wallMs()) / DAY_MS);
  /** The service validated it when it was stored. */
  const factsOf = ({ id, cert }: StoredCertificate): ShownFacts | null => {
    try {
      return factsOfX509(new X509Certificate(cert));
    } catch (error) {
      log.warn({ certificateId: id }, `a client certificate cannot be read: ${messageOf(error)}`);
      return null;
    }
  };

  return {
    async seen(accountId, page) {
      const found = await listSeenCertificates(store, { accountId, ...rangeOf(page) });
      return found.map((seen) => {
        const facts = factsOfResult(seen.certificate);
        const endsMs =
          facts === null
            ? seen.seenAt.getTime() + seen.daysThen * DAY_MS
            : new Date(facts.validTo).getTime();
        return { ...seen, facts, daysRemaining: daysUntil(endsMs) };
      });
    },

    async ofClients(accountId, page) {
      const stored = await clientCertificates.list(accountId, page);
      const asked = { accountId, certificates: stored, maxChecks: MAX_CHECKS };
      const found = stored.length === 0 ? [] : await findChecksOfHosts(store, asked);
      const checksOf = new Map(found.map((one) => [one.id, one]));
      return stored.map((one) => {
        const facts = factsOf(one);
        return {
          id: one.id,
          host: one.host,
          facts,
          daysRemaining: facts === null ? null : daysUntil(new Date(facts.validTo).getTime()),
          checkCount: checksOf.get(one.id)?.checkCount ?? 0,
          checks: checksOf.get(one.id)?.checks ?? [],
        };
      });
    },
  };
}

function factsOfX509(read: X509Certificate): ShownFacts {
  const oneLine = (name: string): string => name.split('\n').join(', ');
  const names = (read.subjectAltName ?? '')
    .split(', ')
    .filter((name) => name !== '')
    .map((name) => name.replace(/^(?:DNS|IP Address|email|URI):/, ''));
  return {
    subject: oneLine(read.subject ?? ''),
    issuer: oneLine(read.issuer),
    validFrom: new Date(read.validFrom).toISOString(),
    validTo: new Date(read.validTo).toISOString(),
    serialNumber: read.serialNumber,
    fingerprint256: read.fingerprint256,
    names: names.slice(0, MAX_NAMES),
    nameCount: names.length,
  };
}

/** The schema of the wire has validated it, but a newer release may have stored another form. */
function factsOfResult(stored: unknown): ShownFacts | null {
  const given = Object(stored) as Readonly<Record<string, unknown>>;
  const text = (name: string): string => (typeof given[name] === 'string' ? given[name] : '');
  const { subjectAltNames: all } = given;
  const names = Array.isArray(all) ? all.filter((name) => typeof name === 'string') : [];
  if (Number.isNaN(Date.parse(text('validTo'))) || text('fingerprint256') === '') return null;
  return {
    subject: text('subject'),
    issuer: text('issuer'),
    validFrom: text('validFrom'),
    validTo: text('validTo'),
    serialNumber: text('serialNumber'),
    fingerprint256: text('fingerprint256'),
    names: names.slice(0, MAX_NAMES),
    nameCount: names.length,
  };
}
