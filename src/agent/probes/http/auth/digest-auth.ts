import { createHash, randomBytes } from 'node:crypto';
import type { ProbeContext } from '../../probe.ts';
import type { HopRequest, ResponseHead } from '../transport.ts';
import type { Authorized, Authorizer } from './authorizer.ts';

/** The fields of a challenge (RFC 7616 3.3) that the answer needs. */
export interface DigestChallenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | null;
  /** As the server writes it; null if it names none, which means MD5. */
  readonly algorithm: string | null;
  readonly hash: 'md5' | 'sha256';
  readonly isSession: boolean;
  /** false: by RFC 2069, without a count of requests. */
  readonly hasQop: boolean;
  /** The server refused the nonce, not the credentials. */
  readonly isStale: boolean;
}

export interface DigestCredentials {
  readonly username: string;
  readonly password: string;
}

const HASHES: ReadonlyMap<string, DigestChallenge['hash']> = new Map([
  ['md5', 'md5'],
  ['sha-256', 'sha256'],
]);

/**
 * Digest authentication (RFC 7616) with MD5, SHA-256 and their -sess variants, qop `auth` or none.
 * Each attempt requests a challenge first, and uses it for its redirects too. If the nonce has
 * expired meanwhile, each request is sent once more with the new one.
 */
export class DigestAuth implements Authorizer {
  readonly #credentials: DigestCredentials;
  readonly #makeNonce: () => string;
  #challenge: DigestChallenge | null = null;
  #count = 0;
  #request: HopRequest | null = null;
  /** The request was sent again for an expired nonce. */
  #isRenewed = false;

  /** @param makeNonce the client's nonces; for tests */
  constructor(
    credentials: DigestCredentials,
    makeNonce: () => string = () => randomBytes(16).toString('base64url'),
  ) {
    this.#credentials = credentials;
    this.#makeNonce = makeNonce;
  }

  async authorize(request: HopRequest, context: ProbeContext): Promise<Authorized> {
    if (request !== this.#request) this.#isRenewed = false;
    this.#request = request;
    if (this.#challenge === null) return { ok: true, headers: [] };
    this.#count += 1;
    const { value, response } = digestAuthorization(this.#challenge, this.#credentials, {
      method: request.method,
      uri: `${request.url.pathname}${request.url.search}`,
      count: this.#count,
      clientNonce: this.#makeNonce(),
    });
    // The hash alone allows guessing the password offline.
    await context.learnSecrets?.([value, response]);
    return { ok: true, headers: [['authorization', value]] };
  }

  asksAgain(head: ResponseHead): boolean {
    const challenge = digestChallengeOf(head);
    if (challenge === null) return false;
    return this.#challenge === null || (challenge.isStale && !this.#isRenewed);
  }

  accept(head: ResponseHead): void {
    this.#isRenewed = this.#challenge !== null;
    this.#challenge = digestChallengeOf(head);
    this.#count = 0;
  }
}

/** The first challenge of a 401 that can be answered; null if there is none. */
export function digestChallengeOf({ status, headers }: ResponseHead): DigestChallenge | null {
  const text = headers['www-authenticate'];
  if (status !== 401 || typeof text !== 'string') return null;
  for (const { scheme, parameters } of challengesIn(text)) {
    const challenge = scheme === 'digest' ? challengeOf(parameters) : null;
    if (challenge !== null) return challenge;
  }
  return null;
}

function challengeOf(parameters: ReadonlyMap<string, string>): DigestChallenge | null {
  const [realm, nonce] = [parameters.get('realm'), parameters.get('nonce')];
  const algorithm = parameters.get('algorithm') ?? null;
  const qop = parameters
    .get('qop')
    ?.toLowerCase()
    .split(/[\s,]+/);
  const name = (algorithm ?? 'MD5').toLowerCase();
  const hash = HASHES.get(name.replace(/-sess$/, ''));
  if (realm === undefined || nonce === undefined || hash === undefined) return null;
  if (qop !== undefined && !qop.includes('auth')) return null;
  const opaque = parameters.get('opaque') ?? null;
  const isSession = name.endsWith('-sess');
  const isStale = parameters.get('stale')?.toLowerCase() === 'true';
  return { realm, nonce, opaque, algorithm, hash, isSession, hasQop: qop !== undefined, isStale };
}

interface Challenge {
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Longer headers are not read. */
const MAX_CHARS = 8192;
/** RFC 9110 11.2: a scheme, or a parameter with a token or quoted text. */
const PART = /([\w!#$%&'*+.^`|~-]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"=]*)))?/g;

function challengesIn(text: string): readonly Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  if (text.length > MAX_CHARS) return challenges;
  for (const [, name = '', quoted, token] of text.matchAll(PART)) {
    const value = quoted?.replaceAll(/\\(.)/g, '$1') ?? token;
    if (value === undefined) challenges.push({ scheme: name.toLowerCase(), parameters: new Map() });
    else challenges.at(-1)?.parameters.set(name.toLowerCase(), value);
  }
  return challenges;
}

/** The input of the answer besides the challenge and the credentials. */
export interface DigestRequest {
  readonly method: string;
  /** Path and query. */
  readonly uri: string;
  /** How many requests the nonce of the server has been used for, this one included. */
  readonly count: number;
  readonly clientNonce: string;
}

/** The value of Authorization, and the hash `response` in it: RFC 7616 3.4. */
export function digestAuthorization(
  challenge: DigestChallenge,
  { username, password }: DigestCredentials,
  { method, uri, count, clientNonce }: DigestRequest,
): { readonly value: string; readonly response: string } {
  const { realm, nonce, opaque, algorithm, hash, isSession, hasQop } = challenge;
  const digest = (text: string): string => createHash(hash).update(text, 'utf8').digest('hex');
  const user = digest(`${username}:${realm}:${password}`);
  const a1 = isSession ? digest(`${user}:${nonce}:${clientNonce}`) : user;
  const a2 = digest(`${method}:${uri}`);
  const nc = count.toString(16).padStart(8, '0');
  const response = digest(
    hasQop ? `${a1}:${nonce}:${nc}:${clientNonce}:auth:${a2}` : `${a1}:${nonce}:${a2}`,
  );
  const value = [
    `Digest username=${quoted(Buffer.from(username, 'utf8').toString('latin1'))}`,
    `realm=${quoted(realm)}`,
    `nonce=${quoted(nonce)}`,
    `uri=${quoted(uri)}`,
    ...(algorithm === null ? [] : [`algorithm=${algorithm}`]),
    ...(hasQop ? ['qop=auth', `nc=${nc}`] : []),
    ...(hasQop || isSession ? [`cnonce=${quoted(clientNonce)}`] : []),
    `response="${response}"`,
    ...(opaque === null ? [] : [`opaque=${quoted(opaque)}`]),
  ].join(', ');
  return { value, response };
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
