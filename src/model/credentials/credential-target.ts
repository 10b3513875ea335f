import { compileTemplate, namesIn } from '../check/template.ts';
import type { OwnVariable } from '../check/variable.ts';
import { isFields } from './credential-fields.ts';
import { MASK } from './mask.ts';
import { mapUrlSecret } from './url-secret.ts';

/** The target that receives the credentials of a request. */
export interface CredentialTarget {
  /** Scheme, host and port, and other text that may change the host. */
  readonly address: string;
  readonly hostHeaders: readonly string[];
  /** The same for the token endpoint, which receives the client secret; empty without one. */
  readonly tokenAddress: string;
  /** The variables that the fields above name. */
  readonly names: readonly string[];
}

const WRITTEN_OUT = /^(https?:)[/\\]{2,}([^/?#\\]*)/i;
/** Characters that the URL parser removes. */
const LEFT_OUT = /[\t\n\r]/g;

/** @param hiddenSecret the value that a mask in the URL replaces: its variables count, too */
export function targetOf(request: unknown, hiddenSecret: string | null = null): CredentialTarget {
  if (!isFields(request)) return { address: '', hostHeaders: [], tokenAddress: '', names: [] };
  const { url, headers, auth } = request;
  const address = typeof url === 'string' ? addressOf(unmasked(url, hiddenSecret)) : '';
  const hostHeaders = Array.isArray(headers) ? headers.flatMap(hostIn) : [];
  const tokenUrl = isFields(auth) ? auth.tokenUrl : undefined;
  const tokenAddress = typeof tokenUrl === 'string' ? addressOf(tokenUrl) : '';
  const names = [...new Set([address, tokenAddress, ...hostHeaders].flatMap(namesIn))];
  return { address, hostHeaders, tokenAddress, names };
}

function unmasked(url: string, hidden: string | null): string {
  return mapUrlSecret(url, (secret) => (secret === MASK ? (hidden ?? secret) : secret));
}

/**
 * Scheme, host and port. A raw template before the host may contain a slash that ends the host
 * there: with any template before it, user and password count, too. If a variable contains the
 * scheme, the whole URL counts, because the end of its host is unknown.
 */
function addressOf(url: string): string {
  if (compileTemplate(url) === null && URL.canParse(url)) return new URL(url).origin;
  const text = url.replace(LEFT_OUT, '').trim();
  const [, scheme, authority] = WRITTEN_OUT.exec(text) ?? [];
  if (scheme === undefined || authority === undefined) return withoutPlainSecret(text);
  const hostAt = authority.lastIndexOf('@') + 1;
  const isUserTemplate = compileTemplate(authority.slice(0, hostAt)) !== null;
  if (isUserTemplate) return withoutPlainSecret(`${scheme}//${authority}`);
  const host = authority.slice(hostAt);
  const address = `${scheme}//${host}`;
  const isTemplate = compileTemplate(host) !== null;
  return isTemplate || !URL.canParse(address) ? address : new URL(address).origin;
}

function withoutPlainSecret(url: string): string {
  return mapUrlSecret(url, (secret) => (compileTemplate(secret) === null ? '' : secret));
}

/** A reverse proxy chooses the service by the Host header. */
function hostIn(header: unknown): readonly string[] {
  if (!isFields(header) || typeof header.key !== 'string') return [];
  if (header.key.toLowerCase() !== 'host' || typeof header.value !== 'string') return [];
  return [header.value.trim()];
}

/** The part of a target that changed. */
export type TargetChange =
  | { readonly what: 'address' }
  | { readonly what: 'token-address' }
  | { readonly what: 'host-header' }
  | { readonly what: 'variable'; readonly name: string };

/**
 * The change that sends a request to another target, including a new value of one of the check's
 * own variables in the host. null if the target is the same.
 *
 * @param retained the keys of secret variables whose values stay, which neither list contains; null:
 *   all
 */
export function targetChange(
  before: { readonly target: CredentialTarget; readonly variables: readonly OwnVariable[] },
  after: { readonly target: CredentialTarget; readonly variables: unknown },
  retained: ReadonlySet<string> | null,
): TargetChange | null {
  if (before.target.address !== after.target.address) return { what: 'address' };
  if (before.target.tokenAddress !== after.target.tokenAddress) return { what: 'token-address' };
  const [hosts, others] = [before.target.hostHeaders, after.target.hostHeaders];
  if (hosts.length !== others.length || hosts.some((host, n) => host !== others[n])) {
    return { what: 'host-header' };
  }
  const own = new Map(before.variables.map((one) => [one.key, one]));
  const given = Array.isArray(after.variables) ? after.variables.filter(isFields) : [];
  const changed = after.target.names.find((name) => {
    const one = own.get(name);
    const other = given.find(({ key }) => key === name);
    if (one === undefined || other === undefined) return one !== other;
    if (one.secret) return retained !== null && !retained.has(name);
    return other.secret === true || other.value !== one.value;
  });
  return changed === undefined ? null : { what: 'variable', name: changed };
}
