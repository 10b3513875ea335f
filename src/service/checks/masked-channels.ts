import type { PublicTarget } from '../../model/alerting/alert-channel.ts';
import type { ChannelPair } from '../../model/alerting/channel-configs.ts';
import { maskedFieldsOf } from '../../model/alerting/service-targets.ts';
import { MASK } from '../../model/credentials/mask.ts';
import { isSensitiveHeader } from '../../model/credentials/sensitive-headers.ts';
import type { CheckWithChannels } from './checks.ts';

type CheckChannels = CheckWithChannels['alertChannels'];

interface Webhook {
  readonly url: string;
  readonly headers: readonly ChannelPair[];
  readonly queryParameters: readonly ChannelPair[];
}

/** The channels of a check for callers without write access. */
export function maskChannels(channels: CheckChannels): CheckChannels {
  return {
    ...channels,
    webhook: channels.webhook.map(maskWebhook),
    slack: channels.slack.map(maskAddress),
  };
}

/** The target of a channel for callers without write access. */
export function maskTarget<T extends PublicTarget>(target: T): T {
  return { ...target, config: maskConfig(target) };
}

function maskConfig(target: PublicTarget): PublicTarget['config'] {
  switch (target.type) {
    case 'EMAIL':
    case 'SMS':
      return target.config;
    case 'WEBHOOK':
      return maskWebhook(target.config);
    case 'SLACK':
      return maskAddress(target.config);
    default: {
      const masks = maskedFieldsOf(target.type).map((field) => [field, MASK] as const);
      return { ...maskAddress(target.config), ...Object.fromEntries(masks) };
    }
  }
}

/** Shows only the origin of a webhook: anyone who knows the whole URL can send to it. */
function maskAddress<C extends { readonly url: string }>(config: C): C {
  const { origin, pathname, search } = new URL(config.url);
  return pathname === '/' && search === '' ? config : { ...config, url: `${origin}/${MASK}` };
}

function maskWebhook<C extends Webhook>(config: C): C {
  const { headers, queryParameters } = config;
  return {
    ...maskAddress(config),
    headers: headers.map((pair) => (isSensitiveHeader(pair.key) ? maskPair(pair) : pair)),
    queryParameters: queryParameters.map(maskPair),
  };
}

/** Locked values are empty already. */
function maskPair(pair: ChannelPair): ChannelPair {
  return pair.value === '' ? pair : { ...pair, value: MASK };
}
