import { baseUrl, type Parsed, wholeNumber } from '../../runtime/config/parsers.ts';
import { readVariable, textOf } from '../../runtime/config/read-variable.ts';
import type { Environment, Variable } from '../../runtime/config/variable.ts';
import { VedetteError } from '../../runtime/errors.ts';

/** A model with an OpenAI-compatible API for chat completions. */
export interface ModelConfig {
  /** Without a trailing slash. */
  readonly url: string;
  /** null if it needs none. */
  readonly apiKey: string | null;
  readonly model: string;
  /** For one request. */
  readonly timeoutMs: number;
  /** Analyses for each account and day (UTC). */
  readonly dailyLimit: number;
}

export interface RootCauseConfig {
  /** null for only the rules. */
  readonly model: ModelConfig | null;
}

const MAX_TIMEOUT_SECONDS = 600;
const MAX_DAILY = 1_000_000;

const variable = <Value>(row: Variable<Value>): Variable<Value> => row;

/** Every variable about root cause analyses that the service reads. */
export const ROOT_CAUSE_VARIABLES = {
  rcaUrl: variable<string | null>({
    name: 'RCA_URL',
    default: null,
    whenUnset: null,
    meaning:
      'The base URL of an OpenAI-compatible API whose model adds analyses to those of the rules. Secrets are never sent. Unset: rules only.',
    allowed:
      'an http or https URL without credentials and query, for example https://api.openai.com/v1',
    secret: false,
    parse: baseUrl,
  }),
  rcaApiKey: variable<string | null>({
    name: 'RCA_API_KEY',
    default: null,
    whenUnset: null,
    meaning: 'The key for RCA_URL; unset, none is sent.',
    allowed: 'visible ASCII text without white space',
    secret: true,
    parse: matching(/^[\x21-\x7e]{1,4096}$/),
  }),
  rcaModel: variable<string | null>({
    name: 'RCA_MODEL',
    default: null,
    whenUnset: null,
    meaning: 'The name of the model at RCA_URL, which needs one.',
    allowed: 'a name of at most 200 characters without white space',
    secret: false,
    parse: matching(/^\S{1,200}$/),
  }),
  rcaTimeoutSeconds: variable<number>({
    name: 'RCA_TIMEOUT_SECONDS',
    default: '60',
    whenUnset: 60,
    meaning: 'Time limit of one request to the model. At most three requests are made.',
    allowed: `a whole number of seconds from 1 to ${MAX_TIMEOUT_SECONDS}`,
    secret: false,
    parse: wholeNumber(1, MAX_TIMEOUT_SECONDS),
  }),
  rcaDailyLimit: variable<number>({
    name: 'RCA_DAILY_LIMIT',
    default: '100',
    whenUnset: 100,
    meaning:
      'Maximum analyses by the model per account and day (UTC). Further ones are made by the rules alone.',
    allowed: `a whole number from 0 to ${MAX_DAILY}`,
    secret: false,
    parse: wholeNumber(0, MAX_DAILY),
  }),
} as const;

/**
 * @throws VedetteError of kind `config` and code CONFIG_INVALID: an invalid value, an address
 *   without a model, or settings of a model without an address
 */
export function readRootCauseConfig(env: Environment): RootCauseConfig {
  const rows = ROOT_CAUSE_VARIABLES;
  const url = readVariable(env, rows.rcaUrl);
  const model = readVariable(env, rows.rcaModel);
  const apiKey = readVariable(env, rows.rcaApiKey);
  const timeoutMs = readVariable(env, rows.rcaTimeoutSeconds) * 1000;
  const dailyLimit = readVariable(env, rows.rcaDailyLimit);
  if (url === null) {
    const other = Object.values(rows).find(({ name }) => textOf(env, name) !== null);
    if (other === undefined) return { model: null };
    throw invalid(`${other.name} is set and RCA_URL is not: set RCA_URL, or unset ${other.name}`);
  }
  if (model === null) {
    throw invalid('RCA_URL is set and RCA_MODEL is not: set RCA_MODEL to the name of the model');
  }
  return { model: { url, apiKey, model, timeoutMs, dailyLimit } };
}

function invalid(message: string): VedetteError {
  return new VedetteError('config', 'CONFIG_INVALID', message);
}

function matching(form: RegExp): (text: string) => Parsed<string> {
  return (text) => (form.test(text) ? { ok: true, value: text } : { ok: false, culprit: text });
}
