import type { ChannelPair, PublicTarget } from '../../model/alerting/alert-channel.ts';
import { isSensitiveHeader, MASK } from '../../model/credentials/sensitive-headers.ts';
import type { CheckView } from './checks.ts';

type CheckChannels = CheckView['alertChannels'];

interface Webhook {
  readonly url: string;
  readonly headers: readonly ChannelPair[];
  readonly queryParameters: readonly ChannelPair[];
}

/** The channels of a check for callers without write access. */
export function hiddenChannels(channels: CheckChannels): CheckChannels {
  return {
    ...channels,
    webhook: channels.webhook.map(hiddenWebhook),
    slack: channels.slack.map(hiddenAddress),
  };
}

/** The target of a channel for callers without write access. */
export function hiddenTarget<T extends PublicTarget>(target: T): T {
  const { type, config } = target;
  if (type === 'WEBHOOK') return { ...target, config: hiddenWebhook(config) };
  return type === 'SLACK' ? { ...target, config: hiddenAddress(config) } : target;
}

/** Anyone who knows a webhook's URL can send to it: only its origin is shown. */
function hiddenAddress<C extends { readonly url: string }>(config: C): C {
  const { origin, pathname, search } = new URL(config.url);
  return pathname === '/' && search === '' ? config : { ...config, url: `${origin}/${MASK}` };
}

function hiddenWebhook<C extends Webhook>(config: C): C {
  const { headers, queryParameters } = config;
  return {
    ...hiddenAddress(config),
    headers: headers.map((pair) => (isSensitiveHeader(pair.key) ? hiddenPair(pair) : pair)),
    queryParameters: queryParameters.map(hiddenPair),
  };
}

/** Locked values are empty already. */
function hiddenPair(pair: ChannelPair): ChannelPair {
  return pair.value === '' ? pair : { ...pair, value: MASK };
}
