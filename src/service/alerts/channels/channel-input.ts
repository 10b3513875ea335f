import { z } from 'zod';
import {
  ALERT_CHANNEL_SHAPES,
  type AlertChannel,
  alertChannelSchema,
  type MessageTemplates,
  type PublicTarget,
} from '../../../model/alerting/alert-channel.ts';
import type {
  PublicWebhookConfig,
  WebhookConfig,
} from '../../../model/alerting/channel-configs.ts';
import {
  isServiceChannel,
  type PublicServiceTarget,
} from '../../../model/alerting/service-targets.ts';
import { holdsMask } from '../../../model/credentials/mask.ts';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import type { AccountKey } from '../../database/account-key.ts';
import { invalid, type RequestProblem, ServiceError } from '../../errors.ts';
import { givenFields, type RawBody } from '../../http/resources/given-fields.ts';
import { bodyProblem, MASK_NOT_ALLOWED, validBody } from '../../http/resources/input-problems.ts';
import { notReadable } from '../../secrets/secret-store.ts';
import { templateProblemOf } from '../senders/render-message.ts';
import { decryptTarget, sealedTarget, withoutSecrets } from './channel-secrets.ts';
import { withRetainedSecrets } from './retained-secrets.ts';
import { withRetainedServiceSecrets } from './retained-service-secrets.ts';
import type { ChannelFields, StoredChannel } from './sql.ts';

/** Fields of a response that an update may repeat. */
const RESPONSE_ONLY = ['created_at', 'updated_at', 'servedChecks'];

/** @throws ServiceError 400 for an invalid channel, and for a mask in place of a value */
export function wholeChannel(fields: RawBody): AlertChannel {
  const channel = parsedChannel(fields);
  const problems = maskProblemsIn(channel);
  if (problems.length > 0) throw invalid(problems);
  return channel;
}

/**
 * Accepts masks: an earlier release may have stored them, and updates of other fields must not fail because of them.
 */
function parsedChannel(fields: RawBody): AlertChannel {
  const channel = validBody(alertChannelSchema, fields);
  requireTemplates(channel);
  if (channel.type !== 'WEBHOOK') return channel;
  const problem = templateProblemOf(channel.config.template, 'application/json');
  if (problem !== null) throw invalid([bodyProblem(['config', 'template'], problem)]);
  return channel;
}

/** @throws ServiceError 400 for a template of messages that cannot be used */
export function requireTemplates(templates: MessageTemplates): void {
  const problems = (['titleTemplate', 'textTemplate'] as const).flatMap((field) => {
    const problem = templateProblemOf(templates[field], 'text/plain');
    return problem === null ? [] : [bodyProblem([field], problem)];
  });
  if (problems.length > 0) throw invalid(problems);
}

/** Keys without write permission see masks in responses. A copy of such a response lacks the values. */
function maskProblemsIn({ type, config }: AlertChannel): readonly RequestProblem[] {
  if (isServiceChannel(type)) {
    return Object.entries(config)
      .filter(([, value]) => typeof value === 'string' && holdsMask(value))
      .map(([field]) => bodyProblem(['config', field], MASK_NOT_ALLOWED));
  }
  if (type !== 'WEBHOOK' && type !== 'SLACK') return [];
  const paths: (string | number)[][] = holdsMask(config.url) ? [['url']] : [];
  if (type === 'WEBHOOK') {
    for (const name of ['headers', 'queryParameters'] as const) {
      for (const [index, { value }] of config[name].entries()) {
        if (holdsMask(value)) paths.push([name, index, 'value']);
      }
    }
    if (holdsMask(config.webhookSecret ?? '')) paths.push(['webhookSecret']);
  }
  return paths.map((path) => bodyProblem(['config', ...path], MASK_NOT_ALLOWED));
}

export interface ChangedChannel {
  readonly subscriptions: AlertChannel['subscriptions'];
  readonly content: Pick<StoredChannel, 'fields' | 'sealedSecrets'>;
}

/**
 * Each given field replaces the stored one. Needs the key of secrets only if the configuration is given.
 *
 * @throws ServiceError 400 for an invalid channel; 409 where there is no key to read or store secrets
 */
export function changedChannel(
  secrets: SecretBox | null,
  key: AccountKey<number>,
  stored: StoredChannel,
  input: RawBody,
): ChangedChannel {
  const { fields: target, sealedSecrets } = stored;
  const fixed = { id: key.id, type: target.type };
  const given = givenFields(input, { fixed, responseOnly: RESPONSE_ONLY });
  if (isOfService(target)) return changedService(secrets, key, { target, sealedSecrets }, given);
  let config: unknown = given.config ?? bareConfigOf(target);
  let isUnreadable = false;
  if (target.type === 'WEBHOOK' && isObject(given.config)) {
    const retained = retainedWebhook(
      secrets,
      key,
      { config: target.config, sealedSecrets },
      given.config,
    );
    ({ config, isUnreadable } = retained);
  }
  const whole = given.config === undefined ? parsedChannel : wholeChannel;
  const channel = whole({ ...target, ...given, config });
  const { subscriptions, ...fields } = channel;
  const sealed =
    given.config === undefined
      ? { target, sealedSecrets }
      : isUnreadable
        ? { target: besideSecrets(channel, target), sealedSecrets }
        : sealedTarget(secrets, key, channel);
  return {
    subscriptions,
    content: {
      // The type of both is the same.
      fields: { ...fields, config: sealed.target.config } as ChannelFields,
      sealedSecrets: sealed.sealedSecrets,
    },
  };
}

function isOfService(target: ChannelFields): target is ChannelFields & PublicServiceTarget {
  return isServiceChannel(target.type);
}

/** Needs no key unless a configuration is given, because the secrets do not change. */
function changedService(
  secrets: SecretBox | null,
  key: AccountKey<number>,
  stored: {
    readonly target: ChannelFields & PublicServiceTarget;
    readonly sealedSecrets: Buffer | null;
  },
  given: RawBody,
): ChangedChannel {
  const { target, sealedSecrets } = stored;
  if (given.config === undefined) {
    const { type, config, ...others } = target;
    const shape = ALERT_CHANNEL_SHAPES[type].shape;
    const { type: _, config: __, ...schemas } = shape;
    const channel = validBody(z.strictObject(schemas), { ...others, ...given });
    requireTemplates(channel);
    const { subscriptions, ...fields } = channel;
    return { subscriptions, content: { fields: { ...fields, type, config }, sealedSecrets } };
  }
  const config = isObject(given.config)
    ? withRetainedServiceSecrets(given.config, target, () => decryptTarget(secrets, key, stored))
    : given.config;
  const channel = wholeChannel({ ...target, ...given, config });
  const { subscriptions, ...fields } = channel;
  const sealed = sealedTarget(secrets, key, channel);
  return {
    subscriptions,
    content: {
      // The type of both is the same.
      fields: { ...fields, config: sealed.target.config } as ChannelFields,
      sealedSecrets: sealed.sealedSecrets,
    },
  };
}

function bareConfigOf(fields: ChannelFields): unknown {
  if (fields.type !== 'WEBHOOK') return fields.config;
  const { hasWebhookSecret: _, ...config } = fields.config;
  return config;
}

function isObject(given: unknown): given is RawBody {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

/**
 * The given configuration of a webhook, with the stored secrets that it retains. Without them if no key decrypts them
 * and all are retained: then the stored secrets do not change.
 *
 * @throws ServiceError 409 if no key decrypts them and only some are retained; it names those to be given again
 */
function retainedWebhook(
  secrets: SecretBox | null,
  key: AccountKey<number>,
  stored: { readonly config: PublicWebhookConfig; readonly sealedSecrets: Buffer | null },
  given: RawBody,
): { readonly config: RawBody; readonly isUnreadable: boolean } {
  const failures: ServiceError[] = [];
  const open = (box: SecretBox | null, sealedSecrets: Buffer | null): WebhookConfig => {
    const target = { type: 'WEBHOOK', config: stored.config } as const;
    return decryptTarget(box, key, { target, sealedSecrets }).config as WebhookConfig;
  };
  const decryptStored = (): WebhookConfig => {
    try {
      return open(secrets, stored.sealedSecrets);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      failures.push(error);
      return open(null, null);
    }
  };
  const { config, paths, isSame } = withRetainedSecrets(given, stored.config, decryptStored);
  const [unreadable] = failures;
  if (unreadable === undefined) return { config, isUnreadable: false };
  if (isSame) return { config, isUnreadable: true };
  throw notReadable(
    unreadable,
    paths.map((path) => bodyProblem(path, '').path),
  );
}

/** The target to store, with unchanged secrets. */
function besideSecrets(channel: AlertChannel, before: ChannelFields): PublicTarget {
  if (channel.type !== 'WEBHOOK' || before.type !== 'WEBHOOK') return before;
  return {
    type: 'WEBHOOK',
    config: withoutSecrets(channel.config, before.config.hasWebhookSecret),
  };
}
