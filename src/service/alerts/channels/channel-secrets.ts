import type {
  ChannelPair,
  ChannelTarget,
  PublicWebhookConfig,
  WebhookConfig,
} from '../../../model/alerting/alert-channel.ts';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import type { AccountKey } from '../../database/account-key.ts';
import { decryptSecret, requireSecretBox } from '../../secrets/secret-store.ts';
import type { SealedTarget } from './sql.ts';

/** The encrypted JSON: the locked values are in their order. */
interface WebhookSecrets {
  readonly webhookSecret: string | null;
  readonly headers: readonly string[];
  readonly queryParameters: readonly string[];
}

/** @throws ServiceError 409 where the target has secrets and there is no key */
export function sealedTarget(
  secrets: SecretBox | null,
  key: AccountKey<number>,
  target: ChannelTarget,
): SealedTarget {
  if (target.type !== 'WEBHOOK') return { target, sealedSecrets: null };
  const { webhookSecret = null, headers, queryParameters } = target.config;
  const hidden: WebhookSecrets = {
    webhookSecret,
    headers: lockedValues(headers),
    queryParameters: lockedValues(queryParameters),
  };
  const hasAny =
    webhookSecret !== null ||
    [...hidden.headers, ...hidden.queryParameters].some((value) => value !== '');
  return {
    target: { type: 'WEBHOOK', config: withoutSecrets(target.config, webhookSecret !== null) },
    sealedSecrets: hasAny
      ? requireSecretBox(secrets).seal(JSON.stringify(hidden), sealingContextOf(key))
      : null,
  };
}

/** The part of a webhook that is stored as plain text. */
export function withoutSecrets(
  config: WebhookConfig,
  hasWebhookSecret: boolean,
): PublicWebhookConfig {
  const { webhookSecret: _, headers, queryParameters, ...rest } = config;
  return {
    ...rest,
    headers: withoutLocked(headers),
    queryParameters: withoutLocked(queryParameters),
    hasWebhookSecret,
  };
}

/** @throws ServiceError 409 where no key decrypts the secrets of the target */
export function decryptTarget(
  secrets: SecretBox | null,
  key: AccountKey<number>,
  { target, sealedSecrets }: SealedTarget,
): ChannelTarget {
  if (target.type !== 'WEBHOOK') return target;
  const { hasWebhookSecret: _, ...config } = target.config;
  if (sealedSecrets === null) return { type: 'WEBHOOK', config };
  const text = decryptSecret(secrets, sealedSecrets, sealingContextOf(key));
  const { webhookSecret, headers, queryParameters }: WebhookSecrets = JSON.parse(text);
  return {
    type: 'WEBHOOK',
    config: {
      ...config,
      webhookSecret,
      headers: withValues(config.headers, headers),
      queryParameters: withValues(config.queryParameters, queryParameters),
    },
  };
}

export function secretsIn(config: WebhookConfig): readonly string[] {
  const { webhookSecret = null, headers, queryParameters } = config;
  const locked = [...lockedValues(headers), ...lockedValues(queryParameters)];
  return webhookSecret === null ? locked : [webhookSecret, ...locked];
}

function sealingContextOf({ accountId, id }: AccountKey<number>): readonly string[] {
  return ['alert_channels', accountId, String(id)];
}

function lockedValues(pairs: readonly ChannelPair[]): readonly string[] {
  return pairs.filter(({ locked }) => locked).map(({ value }) => value);
}

function withoutLocked(pairs: readonly ChannelPair[]): ChannelPair[] {
  return pairs.map((pair) => (pair.locked ? { ...pair, value: '' } : pair));
}

function withValues(pairs: readonly ChannelPair[], values: readonly string[]): ChannelPair[] {
  const left = [...values];
  return pairs.map((pair) => (pair.locked ? { ...pair, value: left.shift() ?? '' } : pair));
}
