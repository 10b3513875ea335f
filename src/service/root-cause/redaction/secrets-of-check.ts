import type { Check } from '../../../model/check/check.ts';
import { SECRET_AUTH_FIELDS } from '../../../model/check/request/request-auth.ts';
import { afterScheme } from '../../../model/credentials/credential-text.ts';
import { MASK } from '../../../model/credentials/mask.ts';
import { percentDecoded } from '../../../runtime/text/percent-decoded.ts';
import { isSensitiveName, sensitiveValues } from './named-values.ts';

/** A value of this length with letters and digits is no ordinary word. */
const KEY_LIKE = /^(?=.*\d)(?=.*[A-Za-z])\S{8,}$/;

interface Pair {
  readonly key: string;
  readonly value: string;
  readonly locked: boolean;
}

/**
 * Collects the secrets that a check contains unencrypted and that a response may repeat in any form. Excludes
 * credentials, which are encrypted separately.
 */
export function secretsOfCheck(check: Check | null): readonly string[] {
  return valuesIn(check).filter((value) => value !== MASK);
}

function valuesIn(check: Check | null): readonly string[] {
  switch (check?.checkType) {
    case 'URL':
      return secretsOfUrl(check.request.url);
    case 'API': {
      const { url, headers, queryParameters, basicAuth, auth, body } = check.request;
      return [
        ...secretsOfUrl(url),
        ...secretsOfPairs(headers),
        ...secretsOfPairs(queryParameters),
        ...sensitiveValues(body),
        ...(basicAuth === null ? [] : [secretOfPair(basicAuth)]),
        ...SECRET_AUTH_FIELDS.flatMap((name) => auth?.[name] ?? []),
      ];
    }
    case 'TCP':
      return [check.request.data, ...check.request.steps.map(({ send }) => send)].flatMap((text) =>
        sensitiveValues(text ?? ''),
      );
    default:
      return [];
  }
}

function secretsOfUrl(text: string): readonly string[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  const pairs = [...url.searchParams].map(([key, value]) => ({ key, value, locked: false }));
  const secret = secretOfPair(url);
  return [secret, percentDecoded(secret), ...secretsOfPairs(pairs)];
}

/** A user name without a password is a token. */
function secretOfPair(pair: { readonly username: string; readonly password: string }): string {
  return pair.password === '' ? pair.username : pair.password;
}

function secretsOfPairs(pairs: readonly Pair[]): readonly string[] {
  return pairs
    .filter(({ key, value, locked }) => locked || isSensitiveName(key) || KEY_LIKE.test(value))
    .flatMap(({ value }) => [value, afterScheme(value) ?? value]);
}
