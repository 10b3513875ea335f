import { SECRET_AUTH_FIELDS } from '../check/request/request-auth.ts';
import { isCredential } from './credential-text.ts';
import { MASK } from './mask.ts';
import { isSensitiveHeader } from './sensitive-headers.ts';
import { mapUrlSecret, type SecretPart } from './url-secret.ts';

/**
 * The credentials in the request of a check, which the service never returns:
 *
 * | field | id |
 * |---|---|
 * | the password in `url` | `request.url.password` |
 * | the user in `url` where there is no password | `request.url.username` |
 * | `basicAuth.password` | `request.basicAuth.password` |
 * | `basicAuth.username` where the password is empty | `request.basicAuth.username` |
 * | the secrets of `auth` (SECRET_AUTH_FIELDS) | `request.auth.` name |
 * | the value of a header that `isSensitiveHeader` names | `request.headers.` name in lower case `.` n |
 *
 * n counts the headers of that name from 0. No variable can have such a name.
 */
export interface CredentialField {
  readonly id: string;
  /** Inside the request. */
  readonly path: readonly (string | number)[];
}

type Fields = Readonly<Record<string, unknown>>;

export const URL_FIELDS: Readonly<Record<SecretPart, CredentialField>> = {
  password: { id: 'request.url.password', path: ['url'] },
  username: { id: 'request.url.username', path: ['url'] },
};
export const BASIC_FIELDS: Readonly<Record<SecretPart, CredentialField>> = {
  password: { id: 'request.basicAuth.password', path: ['basicAuth', 'password'] },
  username: { id: 'request.basicAuth.username', path: ['basicAuth', 'username'] },
};

/** Which part of `basicAuth` is the credential; null if there is none. */
export function basicSecretPart({ username, password }: Fields): SecretPart | null {
  if (typeof password === 'string' && password !== '') return 'password';
  return typeof username === 'string' && username !== '' ? 'username' : null;
}

/** The names of the secrets in an `auth`, which may have any form. */
export function authSecrets(auth: Fields): readonly string[] {
  return SECRET_AUTH_FIELDS.filter((name) => typeof auth[name] === 'string' && auth[name] !== '');
}

function authField(name: string): CredentialField {
  return { id: `request.auth.${name}`, path: ['auth', name] };
}

/** Whether the id of a stored secret is that of a credential field, not that of a variable. */
export function isCredentialId(id: string): boolean {
  return id.startsWith('request.');
}

/**
 * The request with its credential fields mapped, including empty texts and templates.
 *
 * @param request of a check of any type; it may have any form, as bodies of other releases differ
 */
export function mapCredentials<R>(
  request: R,
  map: (text: string, field: CredentialField) => string,
): R {
  if (!isFields(request)) return request;
  const { url, basicAuth, auth, headers } = request;
  const mapped: Record<string, unknown> = { ...request };
  if (typeof url === 'string') {
    mapped.url = mapUrlSecret(url, (text, part) => map(text, URL_FIELDS[part]));
  }
  const part = isFields(basicAuth) ? basicSecretPart(basicAuth) : null;
  if (isFields(basicAuth) && part !== null) {
    mapped.basicAuth = { ...basicAuth, [part]: map(String(basicAuth[part]), BASIC_FIELDS[part]) };
  }
  if (isFields(auth)) {
    const secrets = authSecrets(auth).map((name) => {
      return [name, map(String(auth[name]), authField(name))] as const;
    });
    mapped.auth = { ...auth, ...Object.fromEntries(secrets) };
  }
  if (Array.isArray(headers)) {
    const fields = headerFields(headers);
    mapped.headers = headers.map((header: unknown, index) => {
      const field = fields.get(index);
      if (field === undefined || !isFields(header) || typeof header.value !== 'string') {
        return header;
      }
      return { ...header, value: map(header.value, field) };
    });
  }
  return mapped as R;
}

/** The headers whose values are credentials, by their index. */
export function headerFields(headers: readonly unknown[]): ReadonlyMap<number, CredentialField> {
  const counts = new Map<string, number>();
  const fields = new Map<number, CredentialField>();
  for (const [index, header] of headers.entries()) {
    if (!isFields(header) || typeof header.key !== 'string') continue;
    if (!isSensitiveHeader(header.key)) continue;
    const name = header.key.toLowerCase();
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    const id = `request.headers.${name}.${count}`;
    fields.set(index, { id, path: ['headers', index, 'value'] });
  }
  return fields;
}

/** The texts of the credential fields by their ids. */
export function credentialTexts(request: unknown): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  mapCredentials(request, (text, { id }) => {
    texts.set(id, text);
    return text;
  });
  return texts;
}

/** The request as the API returns it. */
export function maskRequest<R>(request: R): R {
  return mapCredentials(request, (text) => (isCredential(text) ? MASK : text));
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
