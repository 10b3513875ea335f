import { SECRET_AUTH_FIELDS } from '../check/request/request-auth.ts';
import {
  authSecrets,
  BASIC_FIELDS,
  basicSecretPart,
  type CredentialField,
  credentialTexts,
  headerFields,
  isFields,
  mapCredentials,
} from './credential-fields.ts';
import type { TargetChange } from './credential-target.ts';
import { isCredential } from './credential-text.ts';
import { holdsMask, MASK } from './mask.ts';
import { isSensitiveHeader } from './sensitive-headers.ts';
import { mapUrlSecret, urlSecretOf } from './url-secret.ts';

/** One thing wrong with a request; the path starts inside it. */
export interface CredentialProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export interface RetainedRequest {
  /** Not validated: the model of checks finds what else is wrong with it. */
  readonly request: unknown;
  readonly problems: readonly CredentialProblem[];
}

const KEPT_IF =
  "a hidden value is kept only if scheme, host, port and Host header do not change, nor the check's variables in them or before the host";
const BESIDE_PASSWORD = `must not have ${MASK} as a user name beside a password: a user name is hidden only without a password, so send the user name`;
const NONE_STORED = `must not be ${MASK}: this keeps a stored value, and none is stored here`;
const PARTIAL = `must not have ${MASK} beside other text: send ${MASK} alone to keep the stored value, or send the whole new value`;
const NOTHING_HIDDEN = `must not contain ${MASK}: nothing is hidden here, so send the text itself`;
const COUNT_DIFFERS =
  'must be sent again: the number of headers of this name differs from the stored request';

type Fields = Readonly<Record<string, unknown>>;

const NO_FIELDS: ReadonlyMap<number, CredentialField> = new Map();

/** The problems of a new check's request: a mask has no stored value to refer to. */
export function maskProblems(request: unknown): readonly CredentialProblem[] {
  return withRetainedCredentials(request, { before: {}, changeOf: () => null }).problems;
}

/**
 * Fills in the stored credentials that the request of an update omits or sends back masked,
 * provided that the request goes to the same target. null removes one. A mask that is only a part
 * of a text is a problem: it would be stored literally.
 *
 * @param given undefined: the stored request stays as a whole
 * @param before as it is stored: a mask replaces an encrypted credential
 * @param changeOf the change that sends that request to another target than the stored one
 */
export function withRetainedCredentials(
  given: unknown,
  {
    before,
    changeOf,
  }: { readonly before: unknown; readonly changeOf: (request: unknown) => TargetChange | null },
): RetainedRequest {
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
      problems.push({ path: field.path, message: restoreMasked(change, field) });
    }
    return text;
  };
  const isStored = given === undefined;
  const request = mapCredentials(whole, (text, field) => {
    if (text === MASK || (isStored && isCredential(text))) return keep(field);
    if (!isStored && holdsMask(text)) problems.push({ path: field.path, message: PARTIAL });
    return text;
  });
  // Stored text stays, even where a mask would be refused today.
  const misplaced = isStored ? [] : [...maskedUserNames(whole), ...masksElsewhere(whole)];
  return { request, problems: [...problems, ...misplaced] };
}

function restoreMasked(change: TargetChange, { path }: CredentialField): string {
  const removal = path[0] === 'url' ? 'a url without it removes it' : 'null removes it';
  return `must be sent again because ${reasonOf(change)}: ${KEPT_IF} (${removal})`;
}

function reasonOf(change: TargetChange): string {
  switch (change.what) {
    case 'address':
      return 'the url leads to another scheme, host or port';
    case 'token-address':
      return 'the tokenUrl leads to another scheme, host or port';
    case 'host-header':
      return 'the Host header changed';
    case 'variable':
      return `the variable ${change.name} changed, and the url, the tokenUrl or the Host header may lead elsewhere`;
  }
}

/** Adds a mask for each credential that is left out, and removes those that are null. */
function withLeftOut(given: Fields, stored: Fields, texts: ReadonlyMap<string, string>): Fields {
  const { basicAuth, auth, headers } = given;
  return {
    ...given,
    ...(basicAuth === undefined ? leftOutBasic(stored) : { basicAuth: basicOf(basicAuth, stored) }),
    ...(auth === undefined ? leftOutAuth(stored) : { auth: authOf(auth, stored) }),
    ...(headers === undefined ? leftOutHeaders(stored) : { headers: headersOf(headers, texts) }),
  };
}

function leftOutBasic({ basicAuth }: Fields): Fields {
  if (!isFields(basicAuth)) return {};
  const part = basicSecretPart(basicAuth);
  return { basicAuth: part === null ? basicAuth : { ...basicAuth, [part]: MASK } };
}

function basicOf(given: unknown, { basicAuth: stored }: Fields): unknown {
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

function leftOutAuth({ auth }: Fields): Fields {
  return isFields(auth) ? { auth: { ...auth, ...masksOf(authSecrets(auth)) } } : {};
}

function authOf(given: unknown, { auth: stored }: Fields): unknown {
  if (!isFields(given)) return given;
  const isSameType = isFields(stored) && stored.type === given.type;
  const kept = isSameType ? authSecrets(stored).filter((name) => given[name] === undefined) : [];
  const removed = SECRET_AUTH_FIELDS.filter((name) => given[name] === null);
  const left = Object.entries(given).filter(([name]) => !removed.some((one) => one === name));
  return { ...Object.fromEntries(left), ...masksOf(kept) };
}

function masksOf(names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, MASK]));
}

/** Keeps only the headers with credentials: the others get their default, as any omitted field. */
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

/**
 * Finds masks for user names beside passwords: such a name is shown, so nothing is hidden there.
 */
function maskedUserNames({ url, basicAuth }: Fields): readonly CredentialProblem[] {
  const problems: CredentialProblem[] = [];
  if (typeof url === 'string' && holdsMask(urlSecretOf(url)?.username ?? '')) {
    problems.push({ path: ['url'], message: BESIDE_PASSWORD });
  }
  if (!isFields(basicAuth) || typeof basicAuth.username !== 'string') return problems;
  if (!holdsMask(basicAuth.username) || basicSecretPart(basicAuth) !== 'password') return problems;
  return [...problems, { path: BASIC_FIELDS.username.path, message: BESIDE_PASSWORD }];
}

/** Finds masks where nothing is hidden: there, the intended value would be lost silently. */
function masksElsewhere({ url, headers, queryParameters }: Fields): readonly CredentialProblem[] {
  return [
    ...(typeof url === 'string' && isMaskOutsideUser(url)
      ? [{ path: ['url'], message: NOTHING_HIDDEN }]
      : []),
    ...maskedValues('headers', headers, Array.isArray(headers) ? headerFields(headers) : NO_FIELDS),
    ...maskedValues('queryParameters', queryParameters, NO_FIELDS),
  ];
}

function isMaskOutsideUser(url: string): boolean {
  const userName = urlSecretOf(url)?.username ?? '';
  if (holdsMask(userName)) return false;
  return holdsMask(mapUrlSecret(url, () => ''));
}

/** @param hidden the positions where a mask has a meaning */
function maskedValues(
  list: string,
  pairs: unknown,
  hidden: ReadonlyMap<number, CredentialField>,
): readonly CredentialProblem[] {
  if (!Array.isArray(pairs)) return [];
  return pairs.flatMap((pair: unknown, index) => {
    if (
      hidden.has(index) ||
      !isFields(pair) ||
      typeof pair.value !== 'string' ||
      !holdsMask(pair.value)
    )
      return [];
    return [{ path: [list, index, 'value'], message: NOTHING_HIDDEN }];
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
