import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { VedetteError } from './errors.ts';

/** AES-256 (FIPS 197) in GCM (NIST SP 800-38D), whose nonces are random and 96 bits long. */
const CIPHER = 'aes-256-gcm';
const FORMAT = 1;
const KEY_NAME_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_NAME_BYTES + NONCE_BYTES + TAG_BYTES;

/** The length of a key in bytes. */
export const KEY_BYTES = 32;

/** Encrypts stored secrets, so that neither the database nor the disk alone reveals them. */
export interface SecretBox {
  /** The public names of its keys, the newest first: each sealed text starts with that of its own. */
  readonly keyNames: readonly string[];
  /**
   * Encrypts with another key from now on, as long as not every replica has the newest one.
   *
   * @param keyName one of `keyNames`
   */
  sealBy(keyName: string): void;
  /**
   * @param context where the text is stored, for example the table, the account and the row: it cannot be
   *   decrypted in any other context
   */
  seal(text: string, context: readonly string[]): Buffer;
  /** @throws VedetteError `environment` SECRET_UNREADABLE where none of the keys decrypts it */
  open(sealed: Uint8Array, context: readonly string[]): string;
  /**
   * HMAC-SHA256 of the text by each key, that of the current key first: finds an encrypted text
   * without decrypting it.
   *
   * @param purpose digests for another purpose differ
   */
  digests(text: string, purpose: string): readonly [Buffer, ...(readonly Buffer[])];
  /** Whether its key name is known; if not, no key decrypts it. */
  hasKeyOf(sealed: Uint8Array): boolean;
  /** Whether its key name is that of the current key: the newest, or that of `sealBy`. */
  isOfNewestKey(sealed: Uint8Array): boolean;
}

/**
 * @param keys the first one encrypts, all of them decrypt: to replace a key, put the new one before it
 */
export function createSecretBox(keys: readonly [Buffer, ...(readonly Buffer[])]): SecretBox {
  let [current] = keys;
  let currentName = nameOf(current);
  const byName = new Map(keys.map((key) => [nameOf(key).toString('hex'), key]));
  return {
    keyNames: [...byName.keys()],

    sealBy(keyName) {
      current = byName.get(keyName) ?? current;
      currentName = nameOf(current);
    },

    seal(text, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, current, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(boundTo(context));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      const head = [Buffer.of(FORMAT), currentName, nonce, cipher.getAuthTag()];
      return Buffer.concat([...head, body]);
    },

    open(sealed, context) {
      const bytes = Buffer.from(sealed);
      const key = byName.get(keyNameIn(bytes));
      if (bytes[0] !== FORMAT || bytes.length < HEAD_BYTES) {
        throw unreadable('this release does not know its format');
      }
      if (key === undefined) {
        throw unreadable('its key is missing: add it after the other keys in ENCRYPTION_KEY');
      }
      const nonceEnd = 1 + KEY_NAME_BYTES + NONCE_BYTES;
      const nonce = bytes.subarray(1 + KEY_NAME_BYTES, nonceEnd);
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAuthTag(bytes.subarray(nonceEnd, HEAD_BYTES));
      decipher.setAAD(boundTo(context));
      try {
        const text = [decipher.update(bytes.subarray(HEAD_BYTES)), decipher.final()];
        return Buffer.concat(text).toString('utf8');
      } catch {
        throw unreadable('it was changed, or copied from another place');
      }
    },

    digests(text, purpose) {
      const others = [...byName.values()].filter((key) => key !== current);
      return [
        digestOf(current, text, purpose),
        ...others.map((key) => digestOf(key, text, purpose)),
      ];
    },

    hasKeyOf: (sealed) => byName.has(keyNameIn(Buffer.from(sealed))),

    isOfNewestKey: (sealed) => keyNameIn(Buffer.from(sealed)) === currentName.toString('hex'),
  };
}

function keyNameIn(sealed: Buffer): string {
  return sealed.subarray(1, 1 + KEY_NAME_BYTES).toString('hex');
}

/** Identifies a key without revealing it. */
function nameOf(key: Buffer): Buffer {
  return createHash('sha256')
    .update('vedette key name')
    .update(key)
    .digest()
    .subarray(0, KEY_NAME_BYTES);
}

/** Uses a derived key: the key itself is only for encryption. */
function digestOf(key: Buffer, text: string, purpose: string): Buffer {
  const derived = createHmac('sha256', key).update(`vedette digest ${purpose}`).digest();
  return createHmac('sha256', derived).update(text).digest();
}

/** JSON separates the parts unambiguously. */
function boundTo(context: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(context));
}

function unreadable(why: string): VedetteError {
  return new VedetteError(
    'environment',
    'SECRET_UNREADABLE',
    `a stored secret cannot be decrypted: ${why}`,
  );
}
