import { MASK } from '../../model/credentials/mask.ts';
import { maskProxyUrl } from '../../model/credentials/proxy-secret.ts';
import { mapUrlSecret, urlSecretOf } from '../../model/credentials/url-secret.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import type { AccountKey } from '../database/account-key.ts';
import { ServiceError } from '../errors.ts';
import { decryptSecret, reencryptSecret, unreadableSecrets } from '../secrets/secret-store.ts';

export interface ProxyPasswordsParts {
  readonly log: Logger;
  /** null: passwords are stored unencrypted. */
  readonly secrets: SecretBox | null;
  /** Whether passwords are encrypted now. Default: if there is a key. */
  readonly sealsCredentials?: () => boolean;
}

export interface StoredProxy {
  /** An encrypted password, or user without a password, is replaced by a mask. */
  readonly proxyUrl: string | null;
  readonly sealedProxyPassword: Buffer | null;
}

/** The passwords of the locations' proxies, or user names without a password (tokens). Only agents get them. */
export interface ProxyPasswords {
  /**
   * @param proxyUrl a mask in it keeps the stored password
   * @throws ServiceError 409 if the stored password has to be decrypted and no key decrypts it
   */
  seal(key: AccountKey, proxyUrl: string | null, before: StoredProxy | null): StoredProxy;
  /** For agents. Contains the mask if the password cannot be decrypted: agents then send no requests. */
  open(key: AccountKey, stored: StoredProxy): string | null;
  /** Encrypts the password with the current key; null if it already is. Like `CheckVariables.sealAgain`. */
  sealAgain(key: AccountKey, stored: StoredProxy): StoredProxy | null;
  /** Decrypts the password; null if it is stored unencrypted. */
  unseal(key: AccountKey, stored: StoredProxy): StoredProxy | null;
}

/** Agents refuse longer URLs. */
const MAX_CHARS = 2048;

export function createProxyPasswords(parts: ProxyPasswordsParts): ProxyPasswords {
  const { log, secrets, sealsCredentials = () => secrets !== null } = parts;
  const unreadable = unreadableSecrets(log);

  const sealed = (
    key: AccountKey,
    proxyUrl: string,
    secret: string,
    before: Buffer | null,
  ): StoredProxy => ({
    proxyUrl: maskProxyUrl(proxyUrl),
    sealedProxyPassword: reencryptSecret(secrets, secret, {
      context: sealingContextOf(key),
      before,
    }),
  });
  const unsealed = (key: AccountKey, proxyUrl: string, sealedPassword: Buffer): string | null => {
    const secret = decryptSecret(secrets, sealedPassword, sealingContextOf(key));
    return mapUrlSecret(proxyUrl, (text) => (text === MASK ? secret : text));
  };

  return {
    seal(key, proxyUrl, before) {
      const secret = proxyUrl === null ? null : urlSecretOf(proxyUrl);
      if (proxyUrl === null || secret === null) {
        return { proxyUrl, sealedProxyPassword: null };
      }
      const sealedBefore = before?.sealedProxyPassword ?? null;
      if (secret.text !== MASK) {
        if (!sealsCredentials()) return { proxyUrl, sealedProxyPassword: null };
        return sealed(key, proxyUrl, secret.text, sealedBefore);
      }
      if (sealedBefore === null) return { proxyUrl, sealedProxyPassword: null };
      try {
        const password = decryptSecret(secrets, sealedBefore, sealingContextOf(key));
        return sealed(key, proxyUrl, password, sealedBefore);
      } catch (error) {
        // The stored password does not change, so there is no need to decrypt it.
        if (error instanceof ServiceError) return { proxyUrl, sealedProxyPassword: sealedBefore };
        throw error;
      }
    },

    open(key, { proxyUrl, sealedProxyPassword }) {
      if (proxyUrl === null || sealedProxyPassword === null) return proxyUrl;
      try {
        const whole = unsealed(key, proxyUrl, sealedProxyPassword);
        return whole !== null && whole.length > MAX_CHARS ? proxyUrl : whole;
      } catch (error) {
        const { accountId, id: locationId } = key;
        unreadable.report(
          [accountId, locationId],
          { locationId },
          "the password of a location's proxy is not sent to agents, and its URL, API and DOH checks fail with CREDENTIAL_NOT_READABLE",
          error,
        );
        return proxyUrl;
      }
    },

    sealAgain(key, { proxyUrl, sealedProxyPassword: before }) {
      const secret = proxyUrl === null ? null : urlSecretOf(proxyUrl);
      if (secrets === null || proxyUrl === null || secret === null) return null;
      if (secret.text !== MASK) return sealed(key, proxyUrl, secret.text, null);
      if (before === null || secrets.isOfNewestKey(before)) return null;
      return sealed(key, proxyUrl, decryptSecret(secrets, before, sealingContextOf(key)), before);
    },

    unseal(key, { proxyUrl, sealedProxyPassword }) {
      if (proxyUrl === null || sealedProxyPassword === null) return null;
      const whole = unsealed(key, proxyUrl, sealedProxyPassword);
      return { proxyUrl: whole, sealedProxyPassword: null };
    },
  };
}

function sealingContextOf({ accountId, id }: AccountKey): readonly string[] {
  return ['private_locations', accountId, id, 'proxy_password'];
}
