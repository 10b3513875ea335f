import { api, pageOf } from '../../api/client.ts';
import type { operations } from '../../api/openapi.d.ts';
import { invalidate } from '../../api/query.ts';
import { PAGE_SIZE, useList } from '../../parts/lists/use-list.ts';

type Answer<Name extends 'listCertificates' | 'listClientCertificateUses'> =
  operations[Name]['responses'][200]['content']['application/json'][number];
export type SeenCertificate = Answer<'listCertificates'>;
export type ClientCertificateUse = Answer<'listClientCertificateUses'>;
export type Facts = NonNullable<SeenCertificate['certificate']>;

/** One certificate, and the checks that see it. */
export interface SeenByChecks {
  /** The fingerprint, or the check whose certificate is no longer stored. */
  readonly key: string;
  readonly facts: Facts | null;
  readonly daysRemaining: number;
  readonly isTrusted: boolean;
  readonly checks: readonly SeenCertificate[];
}

/** Certificates of checks change rarely, and their runs have no events of their own. */
export function useSeenCertificates() {
  return useList<SeenCertificate>(
    'certificates',
    (page, signal) => {
      const query = { limit: PAGE_SIZE, page };
      return pageOf(api.GET('/v1/certificates', { params: { query }, signal }));
    },
    { on: ['check.deleted', 'check.status_changed'] },
  );
}

export function useClientCertificates() {
  return useList<ClientCertificateUse>('client-certificates', (page, signal) => {
    const query = { limit: PAGE_SIZE, page };
    return pageOf(api.GET('/v1/client-certificate-uses', { params: { query }, signal }));
  });
}

export function reloadClientCertificates(): void {
  invalidate((key) => key.startsWith('client-certificates'));
}

/** Checks that see the same certificate share a row, at the position of the one that expires first. */
export function byCertificate(seen: readonly SeenCertificate[]): readonly SeenByChecks[] {
  const found = new Map<string, SeenCertificate[]>();
  for (const each of seen) {
    const key = each.certificate?.fingerprint256 ?? `check ${each.checkId}`;
    const others = found.get(key);
    if (others === undefined) found.set(key, [each]);
    else others.push(each);
  }
  return [...found].map(([key, checks]) => ({
    key,
    checks,
    facts: checks[0]?.certificate ?? null,
    daysRemaining: Math.min(...checks.map(({ daysRemaining }) => daysRemaining)),
    isTrusted: checks.every(({ authorized }) => authorized !== false),
  }));
}
