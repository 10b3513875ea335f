import type { ChannelPair, WebhookConfig } from '../../../model/alert-channel.ts';
import { withoutLocked } from './check-subscriptions.ts';

/** A configuration as it may be shown: locked values are empty, and of the secret only that there is one. */
export type ShownWebhookConfig = Omit<WebhookConfig, 'webhookSecret'> & {
  readonly hasWebhookSecret: boolean;
};

export function shownWebhookConfig(config: WebhookConfig): ShownWebhookConfig {
  const { webhookSecret, headers, queryParameters, ...shown } = config;
  return {
    ...shown,
    headers: withoutLocked(headers),
    queryParameters: withoutLocked(queryParameters),
    hasWebhookSecret: (webhookSecret ?? null) !== null,
  };
}

type Given = Readonly<Record<string, unknown>>;

/**
 * What somebody sends with an update, with the secrets that were not shown to them: a locked value
 * that is empty is the stored one of the same key, and a secret that is left out stays.
 */
export function withStoredSecrets(given: Given, stored: WebhookConfig): Given {
  const { hasWebhookSecret: _, ...config } = given;
  return {
    ...(stored.webhookSecret === undefined ? {} : { webhookSecret: stored.webhookSecret }),
    ...config,
    ...(Array.isArray(config.headers)
      ? { headers: filled(config.headers, stored.headers, sameHeader) }
      : {}),
    ...(Array.isArray(config.queryParameters)
      ? { queryParameters: filled(config.queryParameters, stored.queryParameters, sameText) }
      : {}),
  };
}

function sameText(one: string, other: string): boolean {
  return one === other;
}

function sameHeader(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Of several with the same key, the first takes the first. */
function filled(
  given: readonly unknown[],
  stored: readonly ChannelPair[],
  isSame: (one: string, other: string) => boolean,
): readonly unknown[] {
  const locked = stored.filter((pair) => pair.locked);
  return given.map((pair: unknown) => {
    if (!isHidden(pair)) return pair;
    const at = locked.findIndex(({ key }) => isSame(key, pair.key));
    const [known] = at === -1 ? [] : locked.splice(at, 1);
    return known === undefined ? pair : { ...pair, value: known.value };
  });
}

function isHidden(pair: unknown): pair is { readonly key: string; readonly locked: true } {
  if (typeof pair !== 'object' || pair === null) return false;
  const { key, value, locked } = pair as Given;
  return typeof key === 'string' && locked === true && (value === undefined || value === '');
}
