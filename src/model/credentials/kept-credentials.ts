import { isSensitiveHeader, MASK } from '../sensitive-headers.ts';
import { isCredential } from './credential-text.ts';
import {
  BASIC_PASSWORD,
  type CredentialField,
  credentialTexts,
  headerFields,
  isFields,
  mapCredentials,
} from './request-credentials.ts';

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

const GIVE_AGAIN =
  'must be given again: a hidden value stays only where scheme, host, port and Host header stay the same, and so do the variables of the check in them or before the host (null removes it)';
const NONE_STORED = `must not be ${MASK}: this stands for a hidden value, and none is stored here`;
const COUNT_DIFFERS =
  'must be given again: there are several headers of this name, and not as many as were stored';

type Fields = Readonly<Record<string, unknown>>;

/** The problems of a new check's request: nothing is stored that a mask could stand for. */
export function maskProblems(request: unknown): readonly CredentialProblem[] {
  return withKeptCredentials(request, { before: {}, isSameTarget: () => true }).problems;
}

/**
 * Fills in the stored credentials that the request of an update leaves out, or sends back masked, as
 * long as the request goes to the same target. null removes one.
 *
 * @param given undefined: the stored request stays as a whole
 * @param before as it is stored: a mask stands for an encrypted credential
 * @param isSameTarget whether that request goes where the stored one goes
 */
export function withKeptCredentials(
  given: unknown,
  {
    before,
    isSameTarget,
  }: { readonly before: unknown; readonly isSameTarget: (request: unknown) => boolean },
): KeptRequest {
  const stored = isFields(before) ? before : {};
  if (given !== undefined && !isFields(given)) return { request: given, problems: [] };
  const texts = credentialTexts(stored);
  const whole = given === undefined ? stored : withLeftOut(given, stored, texts);
  const isSame = isSameTarget(whole);
  const counts = headerCounts(whole.headers);
  const countsBefore = headerCounts(stored.headers);
  const problems: CredentialProblem[] = [];
  const keep = (field: CredentialField): string => {
    const text = texts.get(field.id) ?? '';
    const name = headerNameOf(field, whole);
    if (text === '') problems.push({ path: field.path, message: NONE_STORED });
    else if (name !== null && counts.get(name) !== countsBefore.get(name)) {
      problems.push({ path: field.path, message: COUNT_DIFFERS });
    } else if (!isSame && isCredential(text))
      problems.push({ path: field.path, message: GIVE_AGAIN });
    return text;
  };
  const isStored = given === undefined;
  const request = mapCredentials(whole, (text, field) => {
    return text === MASK || (isStored && isCredential(text)) ? keep(field) : text;
  });
  return { request, problems: [...problems, ...masksElsewhere(whole)] };
}

/** Adds a mask for each credential that is left out, and removes those that are null. */
function withLeftOut(given: Fields, stored: Fields, texts: ReadonlyMap<string, string>): Fields {
  const { basicAuth, headers } = given;
  return {
    ...given,
    ...(basicAuth === undefined ? leftOutAuth(stored) : { basicAuth: authOf(basicAuth, texts) }),
    ...(headers === undefined ? leftOutHeaders(stored) : { headers: headersOf(headers, texts) }),
  };
}

function leftOutAuth({ basicAuth }: Fields): Fields {
  if (!isFields(basicAuth)) return {};
  return { basicAuth: isEmpty(basicAuth.password) ? basicAuth : { ...basicAuth, password: MASK } };
}

function authOf(basicAuth: unknown, texts: ReadonlyMap<string, string>): unknown {
  if (!isFields(basicAuth)) return basicAuth;
  const { password } = basicAuth;
  if (password === null) return { ...basicAuth, password: '' };
  if (password !== undefined || !texts.has(BASIC_PASSWORD.id)) return basicAuth;
  return { ...basicAuth, password: isEmpty(texts.get(BASIC_PASSWORD.id)) ? '' : MASK };
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
