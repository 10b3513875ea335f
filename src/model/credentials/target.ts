import { MASK } from '../sensitive-headers.ts';
import { compileTemplate, namesIn } from '../template.ts';
import type { OwnVariable } from '../variable.ts';
import { isFields } from './request-credentials.ts';
import { mapUrlPassword } from './url-password.ts';

/** Where a request goes with its credentials. Two are the same where the texts are. */
export interface Target {
  /** Scheme, host and port, what may lead to another host, and the Host headers. */
  readonly text: string;
  /** The variables that it is made of. */
  readonly names: readonly string[];
}

const WRITTEN_OUT = /^(https?:)[/\\]{2,}([^/?#\\]*)/i;
/** The URL parser removes them. */
const LEFT_OUT = /[\t\n\r]/g;

/** @param hiddenPassword what a mask in the URL stands for: a template in it counts, too */
export function targetOf(request: unknown, hiddenPassword: string | null = null): Target {
  if (!isFields(request)) return { text: '', names: [] };
  const { url, headers } = request;
  const address = typeof url === 'string' ? addressOf(unmasked(url, hiddenPassword)) : '';
  const hosts = Array.isArray(headers) ? headers.flatMap(hostIn) : [];
  const parts = [address, ...hosts];
  return { text: JSON.stringify(parts), names: [...new Set(parts.flatMap(namesIn))] };
}

function unmasked(url: string, hidden: string | null): string {
  return mapUrlPassword(url, (password) => (password === MASK ? (hidden ?? password) : password));
}

/**
 * Scheme, host and port. A raw template before the host may hold a slash, and end the host there: with
 * any template before it, user and password count, too. Where a variable holds the scheme, the whole
 * URL counts, as nobody knows where its host ends.
 */
function addressOf(url: string): string {
  if (compileTemplate(url) === null && URL.canParse(url)) return new URL(url).origin;
  const text = url.replace(LEFT_OUT, '').trim();
  const [, scheme, authority] = WRITTEN_OUT.exec(text) ?? [];
  if (scheme === undefined || authority === undefined) return withoutPlainPassword(text);
  const hostAt = authority.lastIndexOf('@') + 1;
  const isUserTemplate = compileTemplate(authority.slice(0, hostAt)) !== null;
  if (isUserTemplate) return withoutPlainPassword(`${scheme}//${authority}`);
  const host = authority.slice(hostAt);
  const address = `${scheme}//${host}`;
  const isTemplate = compileTemplate(host) !== null;
  return isTemplate || !URL.canParse(address) ? address : new URL(address).origin;
}

function withoutPlainPassword(url: string): string {
  return mapUrlPassword(url, (password) => (compileTemplate(password) === null ? '' : password));
}

/** A reverse proxy chooses the service by it. */
function hostIn(header: unknown): readonly string[] {
  if (!isFields(header) || typeof header.key !== 'string') return [];
  if (header.key.toLowerCase() !== 'host' || typeof header.value !== 'string') return [];
  return [header.value.trim()];
}

/**
 * Whether a check's own variables still say the same for a target: a template in the host leads
 * elsewhere with another value.
 *
 * @param kept the keys of secret variables whose values stay, which neither list holds; null: of all
 */
export function isSameTarget(
  before: { readonly target: Target; readonly variables: readonly OwnVariable[] },
  after: { readonly target: Target; readonly variables: unknown },
  kept: ReadonlySet<string> | null,
): boolean {
  if (before.target.text !== after.target.text) return false;
  const own = new Map(before.variables.map((one) => [one.key, one]));
  const given = Array.isArray(after.variables) ? after.variables.filter(isFields) : [];
  return after.target.names.every((name) => {
    const one = own.get(name);
    const other = given.find(({ key }) => key === name);
    if (one === undefined || other === undefined) return one === other;
    if (one.secret) return kept === null || kept.has(name);
    return other.secret !== true && other.value === one.value;
  });
}
