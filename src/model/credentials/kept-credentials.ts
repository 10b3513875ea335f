import { isSensitiveHeader, MASK } from '../sensitive-headers.ts';
import { isCredential } from './credential-text.ts';
import {
  BASIC_FIELDS,
  basicSecretPart,
  type CredentialField,
  credentialTexts,
  headerFields,
  isFields,
  mapCredentials,
} from './request-credentials.ts';
import type { TargetChange } from './target.ts';
import { urlSecretOf } from './url-secret.ts';

/** One thing wrong with a request; the path starts inside it. */
export interface CredentialProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export interface KeptRequest {
  /** Of any form: the model of checks finds what else is wrong with it. */
  readonly request: unknown;
  readonly problems: readonly CredentialProblem[];
}

const STAYS =
  'a hidden value stays only where scheme, host, port and Host header stay the same, and so do the variables of the check in them or before the host';
const BESIDE_PASSWORD = `must not have ${MASK} for a user name beside a password: a user name is hidden only where it stands alone, so give it again`;
const NONE_STORED = `must not be ${MASK}: this stands for a hidden value, and none is stored here`;
const COUNT_DIFFERS =
  'must be given again: there are several headers of this name, and not as many as were stored';

type Fields = Readonly<Record<string, unknown>>;

/** The problems of a new check's request: nothing is stored that a mask could stand for. */
export function maskProblems(request: unknown): readonly CredentialProblem[] {
  return withKeptCredentials(request, { before: {}, changeOf: () => null }).problems;
}

/**
 * Fills in the stored credentials that the request of an update leaves out, or sends back masked, as
 * long as the request goes to the same target. null removes one.
 *
 * @param given undefined: the stored request stays as a whole
 * @param before as it is stored: a mask stands for an encrypted credential
 * @param changeOf what leads that request elsewhere than the stored one
 */
export function withKeptCredentials(
  given: unknown,
  {
    before,
    changeOf,
  }: { readonly before: unknown; readonly changeOf: (request: unknown) => TargetChange | null },
): KeptRequest {
  const stored = isFields(before) ? before : {};
  if (given !== undefined && !isFields(given)) return { request: given, problems: [] };
  const texts = credentialTexts(stored);
  const whole = given === undefined ? stored : withLeftOut(given, stored, texts);
  const change = changeOf(whole);
  const counts = headerCounts(whole.headers);
  const countsBefore = headerCounts(stored.headers);
  const problems: CredentialProblem[] = [];
  const keep = (field: CredentialField): string => {
    const text = texts.get(field.id) ?? '';
    const name = headerNameOf(field, whole);
    if (text === '') problems.push({ path: field.path, message: NONE_STORED });
    else if (name !== null && counts.get(name) !== countsBefore.get(name)) {
      problems.push({ path: field.path, message: COUNT_DIFFERS });
    } else if (change !== null && isCredential(text)) {
      problems.push({ path: field.path, message: giveAgain(change, field) });
    }
    return text;
  };
  const isStored = given === undefined;
  const request = mapCredentials(whole, (text, field) => {
    return text === MASK || (isStored && isCredential(text)) ? keep(field) : text;
  });
  const misplaced = isStored ? [] : maskedUserNames(whole);
  return { request, problems: [...problems, ...misplaced, ...masksElsewhere(whole)] };
}

function giveAgain(change: TargetChange, { path }: CredentialField): string {
  const removal = path[0] === 'url' ? 'a url without it removes it' : 'null removes it';
  return `must be given again, as ${reasonOf(change)}: ${STAYS} (${removal})`;
}

function reasonOf(change: TargetChange): string {
  switch (change.what) {
    case 'address':
      return 'the url leads to another scheme, host or port';
    case 'host-header':
      return 'the Host header is another';
    case 'variable':
      return `the variable ${change.name}, by which the url or the Host header may lead elsewhere, is another`;
  }
}

/** Adds a mask for each credential that is left out, and removes those that are null. */
function withLeftOut(given: Fields, stored: Fields, texts: ReadonlyMap<string, string>): Fields {
  const { basicAuth, headers } = given;
  return {
    ...given,
    ...(basicAuth === undefined ? leftOutAuth(stored) : { basicAuth: authOf(basicAuth, stored) }),
    ...(headers === undefined ? leftOutHeaders(stored) : { headers: headersOf(headers, texts) }),
  };
}

function leftOutAuth({ basicAuth }: Fields): Fields {
  if (!isFields(basicAuth)) return {};
  const part = basicSecretPart(basicAuth);
  return { basicAuth: part === null ? basicAuth : { ...basicAuth, [part]: MASK } };
}

function authOf(given: unknown, { basicAuth: stored }: Fields): unknown {
  if (!isFields(given)) return given;
  const part = isFields(stored) ? basicSecretPart(stored) : null;
  const leftOut = part === 'password' ? MASK : isFields(stored) ? '' : undefined;
  const password = given.password === undefined ? leftOut : (given.password ?? '');
  const isKept = given.username === undefined && password === '' && part === 'username';
  return {
    ...given,
    ...(isKept ? { username: MASK } : {}),
    ...(password === undefined ? {} : { password }),
  };
}

/** Keeps the headers with credentials alone: the others get their default, as any field that is left out. */
function leftOutHeaders({ headers }: Fields): Fields {
  if (!Array.isArray(headers)) return {};
  const fields = headerFields(headers);
  const kept = headers.flatMap((header: Fields, index) => {
    if (!fields.has(index)) return [];
    return [isEmpty(header.value) ? header : { ...header, value: MASK }];
  });
  return kept.length === 0 ? {} : { headers: kept };
}

function headersOf(headers: unknown, texts: ReadonlyMap<string, string>): unknown {
  if (!Array.isArray(headers)) return headers;
  const left = headers.filter((header: unknown) => {
    const isRemoved = isFields(header) && header.value === null;
    return !isRemoved || typeof header.key !== 'string' || !isSensitiveHeader(header.key);
  });
  const fields = headerFields(left);
  return left.map((header: unknown, index) => {
    const field = fields.get(index);
    if (field === undefined || !isFields(header) || header.value !== undefined) return header;
    return isEmpty(texts.get(field.id)) ? header : { ...header, value: MASK };
  });
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '';
}

/** Finds masks for user names beside passwords: such a name is shown, so nothing is hidden there. */
function maskedUserNames({ url, basicAuth }: Fields): readonly CredentialProblem[] {
  const problems: CredentialProblem[] = [];
  if (typeof url === 'string' && urlSecretOf(url)?.username === MASK) {
    problems.push({ path: ['url'], message: BESIDE_PASSWORD });
  }
  if (!isFields(basicAuth) || basicAuth.username !== MASK) return problems;
  if (basicSecretPart(basicAuth) !== 'password') return problems;
  return [...problems, { path: BASIC_FIELDS.username.path, message: BESIDE_PASSWORD }];
}

/** Finds masks in headers that hold no credential, where the stored value would be lost silently. */
function masksElsewhere({ headers }: Fields): readonly CredentialProblem[] {
  if (!Array.isArray(headers)) return [];
  const fields = headerFields(headers);
  return headers.flatMap((header: unknown, index) => {
    if (fields.has(index) || !isFields(header) || header.value !== MASK) return [];
    return [{ path: ['headers', index, 'value'], message: NONE_STORED }];
  });
}

function headerNameOf({ path }: CredentialField, { headers }: Fields): string | null {
  const [list, index] = path;
  if (list !== 'headers' || !Array.isArray(headers)) return null;
  const header: unknown = headers[Number(index)];
  return isFields(header) ? String(header.key).toLowerCase() : null;
}

function headerCounts(headers: unknown): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  if (!Array.isArray(headers)) return counts;
  for (const header of headers) {
    if (!isFields(header) || typeof header.key !== 'string') continue;
    const name = header.key.toLowerCase();
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
