import type { PublicTarget, PublicWebhookConfig } from '../../model/alerting/alert-channel.ts';
import { isFields, mapCredentials } from '../../model/credentials/credential-fields.ts';
import { MASK } from '../../model/credentials/sensitive-headers.ts';

/** Stands for each secret value: check files with a mask are refused. */
export const PLACEHOLDER = 'REPLACE_ME';

type Fields = Readonly<Record<string, unknown>>;

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
export function fileConfigOf({ type, config }: PublicTarget): {
  readonly config: Fields;
  readonly isChanged: boolean;
} {
  if (type !== 'WEBHOOK') return { config: { ...config }, isChanged: false };
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

function withPairs(pairs: PublicWebhookConfig['headers']): readonly Fields[] {
  return pairs.map((pair) => (pair.locked ? { ...pair, value: PLACEHOLDER } : pair));
}
