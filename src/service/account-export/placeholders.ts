import type { PublicTarget } from '../../model/alerting/alert-channel.ts';
import type { PublicWebhookConfig } from '../../model/alerting/channel-configs.ts';
import type { ServiceChannelType } from '../../model/alerting/service-channels.ts';
import {
  isServiceChannel,
  secretFieldsOf,
  secretFlagOf,
} from '../../model/alerting/service-targets.ts';
import { isFields, mapCredentials } from '../../model/credentials/credential-fields.ts';
import { MASK } from '../../model/credentials/mask.ts';

/** Stands for each secret value: check files with a mask are refused. */
export const PLACEHOLDER = 'REPLACE_ME';

type Fields = Readonly<Record<string, unknown>>;

interface FileConfig {
  readonly config: Fields;
  /** Whether it has placeholders for secrets. */
  readonly isChanged: boolean;
}

/** The request as the API shows it, with placeholders for its credentials. */
export function withPlaceholders(request: unknown): {
  readonly request: unknown;
  readonly isChanged: boolean;
} {
  let isChanged = false;
  const filled = mapCredentials(request, (text) => {
    if (text !== MASK) return text;
    isChanged = true;
    return PLACEHOLDER;
  });
  return { request: filled, isChanged };
}

/** Variables of a check as the API shows them: the values of secret ones are null. */
export function variablesWithPlaceholders(variables: unknown): {
  readonly variables: unknown;
  readonly isChanged: boolean;
} {
  if (!Array.isArray(variables)) return { variables, isChanged: false };
  const isHidden = (variable: unknown): variable is Fields =>
    isFields(variable) && variable.value === null;
  return {
    variables: variables.map((variable: unknown) =>
      isHidden(variable) ? { ...variable, value: PLACEHOLDER } : variable,
    ),
    isChanged: variables.some(isHidden),
  };
}

/** The configuration of a channel as a file has it. */
export function fileConfigOf({ type, config }: PublicTarget): FileConfig {
  if (type === 'WEBHOOK') return webhookConfigOf(config);
  if (isServiceChannel(type)) return withSecretFields(type, { ...config });
  return { config: { ...config }, isChanged: false };
}

function webhookConfigOf(config: PublicWebhookConfig): FileConfig {
  const { hasWebhookSecret, headers, queryParameters, ...rest } = config;
  const isLocked = [...headers, ...queryParameters].some(({ locked }) => locked);
  return {
    config: {
      ...rest,
      headers: withPairs(headers),
      queryParameters: withPairs(queryParameters),
      ...(hasWebhookSecret ? { webhookSecret: PLACEHOLDER } : {}),
    },
    isChanged: isLocked || hasWebhookSecret,
  };
}

/**
 * With the secret fields of the type in place of their flags. One without a value is left out: it is optional,
 * and null.
 */
function withSecretFields(type: ServiceChannelType, shown: Fields): FileConfig {
  const secrets = secretFieldsOf(type);
  const flags = secrets.map(secretFlagOf);
  const given = secrets.filter((field) => shown[secretFlagOf(field)] === true);
  return {
    config: {
      ...Object.fromEntries(Object.entries(shown).filter(([field]) => !flags.includes(field))),
      ...Object.fromEntries(given.map((field) => [field, PLACEHOLDER])),
    },
    isChanged: given.length > 0,
  };
}

function withPairs(pairs: PublicWebhookConfig['headers']): readonly Fields[] {
  return pairs.map((pair) => (pair.locked ? { ...pair, value: PLACEHOLDER } : pair));
}
