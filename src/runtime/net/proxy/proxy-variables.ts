import { listParser, type Parsed } from '../../config/parsers.ts';
import { readVariable, textOf } from '../../config/read-variable.ts';
import type { Environment, Variable } from '../../config/variable.ts';
import type { Proxies } from './choose-proxy.ts';
import { type Exemption, exemption } from './no-proxy.ts';
import { type HttpProxy, parseProxy, withoutCredentials } from './proxy-url.ts';

const MAX_EXEMPTIONS = 1000;
const PROXY_URL =
  'an http or https URL without a path, perhaps with a user and password (percent-encoded), for example http://proxy.example.com:3128';

const variable = <Value>(row: Variable<Value>): Variable<Value> => row;

/** The variables of the proxies. Each program lists them in its own table. */
export const PROXY_VARIABLES = {
  httpsProxy: variable<HttpProxy | null>({
    name: 'HTTPS_PROXY',
    default: null,
    whenUnset: null,
    meaning: 'The proxy for https. https_proxy takes precedence.',
    allowed: PROXY_URL,
    secret: false,
    parse: proxyUrl,
  }),
  httpProxy: variable<HttpProxy | null>({
    name: 'HTTP_PROXY',
    default: null,
    whenUnset: null,
    meaning: 'The proxy for http. http_proxy takes precedence.',
    allowed: PROXY_URL,
    secret: false,
    parse: proxyUrl,
  }),
  noProxy: variable<readonly Exemption[]>({
    name: 'NO_PROXY',
    default: null,
    whenUnset: [],
    meaning: 'Hosts that are reached without a proxy. no_proxy takes precedence.',
    allowed: `a list of at most ${MAX_EXEMPTIONS} names (each includes its subdomains), addresses and networks, separated by commas or spaces, with :port for one port alone, or * for all, for example localhost, .example.com, 10.0.0.0/8`,
    secret: false,
    parse: listParser(exemption, MAX_EXEMPTIONS),
  }),
} as const;

/**
 * HTTPS_PROXY, HTTP_PROXY and NO_PROXY, each also in lower case, which wins where both are set.
 *
 * @throws VedetteError of code CONFIG_INVALID like readVariable, without credentials
 */
export function readProxies(env: Environment): Proxies {
  return {
    https: readEither(env, PROXY_VARIABLES.httpsProxy),
    http: readEither(env, PROXY_VARIABLES.httpProxy),
    exemptions: readEither(env, PROXY_VARIABLES.noProxy),
  };
}

function readEither<Value>(env: Environment, row: Variable<Value>): Value {
  const lower = row.name.toLowerCase();
  return readVariable(env, textOf(env, lower) === null ? row : { ...row, name: lower });
}

/** The URL of an HTTP proxy. A refused one is shown without its credentials. */
function proxyUrl(text: string): Parsed<HttpProxy> {
  const value = parseProxy(text);
  return value === null ? { ok: false, culprit: withoutCredentials(text) } : { ok: true, value };
}
