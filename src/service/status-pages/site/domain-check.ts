import { createHash } from 'node:crypto';
import type { AccountKey } from '../../database/account-key.ts';
import { ServiceError } from '../../errors.ts';
import type { ReachableAddresses } from '../../outgoing/reachable-addresses.ts';
import type { StatusPages } from '../status-pages.ts';
import type { DomainRules } from './domain-rules.ts';

/** Looks up and requests a domain. */
export interface DomainProbe {
  /** The addresses of a name, and the name that it is an alias of; none where there is no such name. */
  resolve(
    domain: string,
    signal: AbortSignal,
  ): Promise<{ readonly addresses: readonly string[]; readonly cname: string | null }>;
  /** Never rejects. Does not follow redirects, and reads the start of the answer. */
  fetch(
    url: URL,
    signal: AbortSignal,
  ): Promise<{
    readonly status: number | null;
    readonly answer: string;
    readonly error: string | null;
  }>;
}

export const DOMAIN_PROBLEMS = ['UNKNOWN_NAME', 'NO_ANSWER', 'OTHER_SERVER', 'NO_TLS'] as const;
export type DomainProblem = (typeof DOMAIN_PROBLEMS)[number];

/** Whether readers who open a page's own domain get the page. */
export interface DomainCheck {
  readonly customDomain: string;
  readonly isReady: boolean;
  readonly addresses: readonly string[];
  readonly cname: string | null;
  readonly problem: DomainProblem | null;
  /** What to do, in a sentence or two. */
  readonly advice: string;
}

export interface DomainChecksParts {
  readonly statusPages: Pick<StatusPages, 'read'>;
  readonly probe: DomainProbe;
  readonly domainRules: Pick<DomainRules, 'refuse'>;
  /** Other addresses are not shown: users must not learn the service's network. */
  readonly reachable: ReachableAddresses;
  /** PUBLIC_URL, the address that a domain should lead to; null if unknown. */
  readonly publicUrl: string | null;
}

export interface DomainChecks {
  /** @throws ServiceError 404 without such a page, 409 where it has no domain of its own, or one that it cannot have */
  check(key: AccountKey, signal: AbortSignal): Promise<DomainCheck>;
}

/** A path below the page. Its response identifies the page, so that another server is recognised. */
export const CHALLENGE_PATH = '/.well-known/vedette-status-page';
const MAX_WAIT_MS = 15_000;

/** The response of a page at CHALLENGE_PATH. Not a secret: feeds of public pages contain the id. */
export function challengeAnswer(pageId: string): string {
  return createHash('sha256').update(`status page ${pageId}`).digest('base64url');
}

export function createDomainChecks({
  statusPages,
  probe,
  domainRules,
  reachable,
  publicUrl,
}: DomainChecksParts): DomainChecks {
  return {
    async check(key, unwanted) {
      const { id, fields } = await statusPages.read(key);
      const { customDomain } = fields;
      if (customDomain === null) {
        throw new ServiceError(
          409,
          'The status page has no custom domain: set customDomain first, then check it',
        );
      }
      // An earlier release or another configuration may have allowed it to be stored.
      domainRules.refuse(customDomain);
      const signal = AbortSignal.any([unwanted, AbortSignal.timeout(MAX_WAIT_MS)]);
      const resolved = await probe.resolve(customDomain, signal);
      const isAllowed = reachable.allowsName(customDomain);
      const addresses = resolved.addresses.filter(
        (one) => isAllowed || reachable.guard.deniedBy(one) === null,
      );
      const isDenied = addresses.length < resolved.addresses.length && addresses.length === 0;
      const found = { customDomain, addresses, cname: isDenied ? null : resolved.cname };
      const problem = (kind: DomainProblem, advice: string): DomainCheck => ({
        ...found,
        isReady: false,
        problem: kind,
        advice,
      });
      if (isDenied) {
        return problem(
          'NO_ANSWER',
          `${customDomain} may not be reached: ${reachable.reason}. ${recordAdvice(customDomain, publicUrl)}`,
        );
      }
      if (addresses.length === 0) {
        return problem(
          'UNKNOWN_NAME',
          `The name does not exist yet. ${recordAdvice(customDomain, publicUrl)} A new record becomes visible within the zone's TTL.`,
        );
      }
      const expected = challengeAnswer(id);
      const https = await probe.fetch(new URL(`https://${customDomain}${CHALLENGE_PATH}`), signal);
      if (https.answer === expected) {
        return { ...found, isReady: true, problem: null, advice: 'The page is served there.' };
      }
      const http = await probe.fetch(new URL(`http://${customDomain}${CHALLENGE_PATH}`), signal);
      if (http.answer === expected) {
        return problem(
          'NO_TLS',
          `The page is served there by HTTP, but not by HTTPS (${reasonOf(https)}). Install a certificate for ${customDomain} on the proxy in front of this service.`,
        );
      }
      const reached = [https, http].find(({ status }) => status !== null);
      if (reached === undefined) {
        return problem(
          'NO_ANSWER',
          `Nothing answers at ${addresses.join(', ')} (${reasonOf(https)}). Open the ports 80 and 443 there, or correct the record. ${recordAdvice(customDomain, publicUrl)}`,
        );
      }
      return problem(
        'OTHER_SERVER',
        `Another server answers at ${addresses.join(', ')} (${reasonOf(reached)}). ${recordAdvice(customDomain, publicUrl)} If it leads to the proxy in front of this service, configure that proxy to forward requests for ${customDomain} with their Host header.`,
      );
    },
  };
}

function reasonOf({ status, error }: Awaited<ReturnType<DomainProbe['fetch']>>): string {
  return error ?? `the status was ${status}`;
}

/** Which record to set at the provider of the domain. */
function recordAdvice(domain: string, publicUrl: string | null): string {
  const host = publicUrl === null ? null : new URL(publicUrl).hostname;
  const isName = host !== null && /[a-z]/i.test(host) && !host.startsWith('[');
  if (isName) return `Set a CNAME record for ${domain} with the value ${host}.`;
  const value = host ?? 'the address at which this service is reached';
  return `Set an A or AAAA record for ${domain} with ${value}.`;
}
