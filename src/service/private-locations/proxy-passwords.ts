import { hiddenProxyUrl } from '../../model/credentials/proxy-secret.ts';
import { MASK } from '../../model/credentials/sensitive-headers.ts';
import { mapUrlSecret, urlSecretOf } from '../../model/credentials/url-secret.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { ServiceError } from '../errors.ts';
import { opened, sealedAgain, unreadableSecrets } from '../secrets/secret-store.ts';
import type { LocationKeyOf } from './sql.ts';

export interface ProxyPasswordsParts {
  readonly log: Logger;
  /** null: passwords are stored in clear. */
  readonly secrets: SecretBox | null;
  /** Whether they are to be encrypted now. Left out: where there is a key. */
  readonly sealsCredentials?: () => boolean;
}

/** The proxy of a location as it is stored. */
export interface StoredProxy {
  /** With a mask in the place of the password, or of a user alone, where that is encrypted. */
  readonly proxyUrl: string | null;
  readonly sealedProxyPassword: Buffer | null;
}

/** The passwords of locations' proxies, or users without one (tokens), which are sent to agents alone. */
export interface ProxyPasswords {
  /**
   * @param proxyUrl its mask stands for the password that is stored
   * @param before what is stored
   * @throws ServiceError 409 where what is stored has to be read, and no key opens it
   */
  seal(key: LocationKeyOf, proxyUrl: string | null, before: StoredProxy | null): StoredProxy;
  /** As it is sent to agents: with its mask, where the password cannot be decrypted. They send nothing then. */
  open(key: LocationKeyOf, stored: StoredProxy): string | null;
  /** As it is to be stored now; null where it is so already. Like `CheckVariables.sealAgain`. */
  sealAgain(key: LocationKeyOf, stored: StoredProxy): StoredProxy | null;
  /** With the password in clear; null where it is so already. */
  unseal(key: LocationKeyOf, stored: StoredProxy): StoredProxy | null;
}

/** Agents refuse longer ones. */
const MAX_CHARS = 2048;

export function createProxyPasswords(parts: ProxyPasswordsParts): ProxyPasswords {
  const { log, secrets, sealsCredentials = () => secrets !== null } = parts;
  const unreadable = unreadableSecrets(log);

  const sealed = (
    key: LocationKeyOf,
    proxyUrl: string,
    secret: string,
    before: Buffer | null,
  ): StoredProxy => ({
    proxyUrl: hiddenProxyUrl(proxyUrl),
    sealedProxyPassword: sealedAgain(secrets, secret, { place: sealingContextOf(key), before }),
  });
  const unsealed = (
    key: LocationKeyOf,
    proxyUrl: string,
    sealedPassword: Buffer,
  ): string | null => {
    const secret = opened(secrets, sealedPassword, sealingContextOf(key));
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
        return sealed(
          key,
          proxyUrl,
          opened(secrets, sealedBefore, sealingContextOf(key)),
          sealedBefore,
        );
      } catch (error) {
        // It stays, and nobody needs to read it for that.
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
        unreadable.tell(
          [accountId, locationId],
          { locationId },
          "the password of a location's proxy is not sent to agents, and its URL and API checks fail with CREDENTIAL_NOT_READABLE",
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
      return sealed(key, proxyUrl, opened(secrets, before, sealingContextOf(key)), before);
    },

    unseal(key, { proxyUrl, sealedProxyPassword }) {
      if (proxyUrl === null || sealedProxyPassword === null) return null;
      return {
        proxyUrl: unsealed(key, proxyUrl, sealedProxyPassword),
        sealedProxyPassword: null,
      };
    },
  };
}

function sealingContextOf({ accountId, id }: LocationKeyOf): readonly string[] {
  return ['private_locations', accountId, id, 'proxy_password'];
}
