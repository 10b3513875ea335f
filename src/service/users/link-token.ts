import { randomBytes } from 'node:crypto';
import { hashOfKey, tokenHashOf } from '../http/access/key-hashes.ts';

const TOKEN_BYTES = 32;

/** The token of a link that works once. Only its hash is stored. */
export function newLinkToken(): { readonly token: string; readonly tokenHash: Buffer } {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, tokenHash: hashOfKey(token) };
}

/** The hash of a token from a request; the hash of an empty text if the token is malformed. */
export function hashOfLinkToken(token: string): Buffer {
  return tokenHashOf(token) ?? Buffer.alloc(0);
}
