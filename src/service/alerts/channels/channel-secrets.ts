import type { ChannelTarget } from '../../../model/alerting/alert-channel.ts';
import type {
  ChannelPair,
  PublicWebhookConfig,
  WebhookConfig,
} from '../../../model/alerting/channel-configs.ts';
import {
  isServiceChannel,
  type PublicServiceConfig,
  type PublicServiceTarget,
  type ServiceTarget,
  secretFieldsOf,
  secretFlagOf,
} from '../../../model/alerting/service-targets.ts';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import type { AccountKey } from '../../database/account-key.ts';
import { decryptSecret, requireSecretBox } from '../../secrets/secret-store.ts';
import type { SealedTarget } from './sql.ts';

/** The encrypted JSON, with the locked values in order. */
interface WebhookSecrets {
  readonly webhookSecret: string | null;
  readonly headers: readonly string[];
  readonly queryParameters: readonly string[];
}

/** The encrypted JSON of the other types: their secret fields by name; null for one without a value. */
type ServiceSecrets = Readonly<Record<string, string | null>>;

/** @throws ServiceError 409 if the target has secrets and there is no key */
export function sealedTarget(
  secrets: SecretBox | null,
  key: AccountKey<number>,
  target: ChannelTarget,
): SealedTarget {
  if (isServiceTarget(target)) return sealedService(secrets, key, target);
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

/** @throws ServiceError 409 if no key decrypts the secrets of the target */
export function decryptTarget(
  secrets: SecretBox | null,
  key: AccountKey<number>,
  { target, sealedSecrets }: SealedTarget,
): ChannelTarget {
  if (isServiceTarget(target)) return openedService(secrets, key, { target, sealedSecrets });
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

function isServiceTarget<Target extends { readonly type: string }>(
  target: Target,
): target is Extract<Target, ServiceTarget | PublicServiceTarget> {
  return isServiceChannel(target.type);
}

function sealedService(
  secrets: SecretBox | null,
  key: AccountKey<number>,
  target: ServiceTarget,
): SealedTarget {
  const { type, config } = target;
  const hidden = secretValues(target);
  const hasAny = Object.values(hidden).some((value) => value !== null);
  const shown = Object.entries(config).filter(([field]) => !(field in hidden));
  const flags = Object.entries(hidden).map(([field, value]) => {
    return [secretFlagOf(field), value !== null] as const;
  });
  return {
    // Every type has both.
    target: { type, config: Object.fromEntries([...shown, ...flags]) as PublicServiceConfig },
    sealedSecrets: hasAny
      ? requireSecretBox(secrets).seal(JSON.stringify(hidden), sealingContextOf(key))
      : null,
  };
}

function openedService(
  secrets: SecretBox | null,
  key: AccountKey<number>,
  {
    target: { type, config },
    sealedSecrets,
  }: { readonly target: PublicServiceTarget; readonly sealedSecrets: Buffer | null },
): ServiceTarget {
  const names = secretFieldsOf(type);
  const none: ServiceSecrets = Object.fromEntries(names.map((field) => [field, null]));
  const hidden: ServiceSecrets =
    sealedSecrets === null
      ? none
      : JSON.parse(decryptSecret(secrets, sealedSecrets, sealingContextOf(key)));
  const flags = names.map(secretFlagOf);
  const shown = Object.entries(config).filter(([field]) => !flags.includes(field));
  // As `sealedService` stored it.
  return { type, config: { ...Object.fromEntries(shown), ...none, ...hidden } } as ServiceTarget;
}

/** The secret fields of a target by name. */
export function secretValues({ type, config }: ServiceTarget): ServiceSecrets {
  const values = new Map<string, unknown>(Object.entries(config));
  return Object.fromEntries(
    secretFieldsOf(type).map((field) => {
      const value = values.get(field);
      return [field, typeof value === 'string' ? value : null];
    }),
  );
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
