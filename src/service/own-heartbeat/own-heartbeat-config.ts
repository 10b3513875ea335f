import { readVariable, textOf } from '../../runtime/config/read-variable.ts';
import type { Environment, Variable } from '../../runtime/config/variable.ts';
import { VedetteError } from '../../runtime/errors.ts';

const METHODS = ['GET', 'POST'] as const;

/** The service's request each minute: src/service/README.md, "The end of the service". */
export interface OwnHeartbeatConfig {
  readonly url: string;
  readonly method: (typeof METHODS)[number];
}

export const OWN_HEARTBEAT_VARIABLES = {
  heartbeatUrl: {
    name: 'HEARTBEAT_URL',
    default: null,
    whenUnset: null,
    meaning:
      'A URL that each replica requests every minute while it and its database work, so that another monitor notices when requests stop. Unset: none.',
    allowed: 'an http or https URL without user and password',
    secret: true,
    parse: (text) => {
      const url = /^https?:\/\/[^/?#]/i.test(text) && URL.canParse(text) ? new URL(text) : null;
      return url !== null && url.username === '' && url.password === ''
        ? { ok: true, value: text }
        : { ok: false, culprit: text };
    },
  } satisfies Variable<string | null>,
  heartbeatMethod: {
    name: 'HEARTBEAT_METHOD',
    default: 'GET',
    whenUnset: 'GET',
    meaning: 'The method of that request; neither has a body.',
    allowed: `one of ${METHODS.join(', ')}`,
    secret: false,
    parse: (text) => {
      const value = METHODS.find((method) => method === text.toUpperCase());
      return value === undefined ? { ok: false, culprit: text } : { ok: true, value };
    },
  } satisfies Variable<OwnHeartbeatConfig['method']>,
} as const;

/**
 * @returns null for no requests
 * @throws VedetteError of kind `config` and code CONFIG_INVALID: an invalid value, or a method without
 *   a URL
 */
export function readOwnHeartbeat(env: Environment): OwnHeartbeatConfig | null {
  const { heartbeatUrl, heartbeatMethod } = OWN_HEARTBEAT_VARIABLES;
  const url = readVariable(env, heartbeatUrl);
  const method = readVariable(env, heartbeatMethod);
  if (url !== null) return { url, method };
  if (textOf(env, heartbeatMethod.name) === null) return null;
  throw new VedetteError(
    'config',
    'CONFIG_INVALID',
    'HEARTBEAT_METHOD is set and HEARTBEAT_URL is not: set HEARTBEAT_URL, or unset HEARTBEAT_METHOD',
  );
}
