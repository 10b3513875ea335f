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

/** Replaces each secret value. The mask of the API cannot be used: check files that contain it are invalid. */
export const PLACEHOLDER = 'REPLACE_ME';

type Fields = Readonly<Record<string, unknown>>;

interface FileConfig {
  readonly config: Fields;
  /** Whether a secret was replaced by a placeholder. */
  readonly isChanged: boolean;
}

/** Replaces the masks of credentials, in a request as the API shows it, by placeholders. */
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

/** Replaces the values of secret variables, which the API shows as null, by placeholders. */
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
 * Replaces the flags of secret fields by the fields themselves. Omits a field without a value: it is optional
 * and defaults to null.
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
