import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const NAME_BYTES = 16;
const TOKEN = /^([\w-]{22})\.([\w-]{43})$/;

/**
 * Creates a token for a browser in which a user signs in by password, so that wrong passwords from elsewhere do
 * not lock the user out (OWASP, Slow Down Online Guessing Attacks with Device Cookies). Its MAC uses the stored
 * hash of the password as key: nothing else is stored, every replica can verify the token, and it becomes invalid
 * when the password changes.
 */
export function newDeviceToken(passwordHash: string): string {
  const name = randomBytes(NAME_BYTES).toString('base64url');
  return `${name}.${codeOf(name, passwordHash).toString('base64url')}`;
}

/** The name of the device in a token; null if the token was not made for this password. */
export function deviceOf(token: string, passwordHash: string): string | null {
  const [, name = '', code = ''] = TOKEN.exec(token) ?? [];
  const given = Buffer.from(code, 'base64url');
  const right = codeOf(name, passwordHash);
  return given.length === right.length && timingSafeEqual(given, right) ? name : null;
}

function codeOf(name: string, passwordHash: string): Buffer {
  return createHmac('sha256', passwordHash).update(`device ${name}`).digest();
}
