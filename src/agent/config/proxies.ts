import { readVariable, textOf } from '../../runtime/config/read-variable.ts';
import type { Environment, Variable } from '../../runtime/config/variable.ts';
import type { Proxies } from '../net/proxy/choose-proxy.ts';
import { VARIABLES } from './variables.ts';

/**
 * HTTPS_PROXY, HTTP_PROXY and NO_PROXY, each also in lower case, which wins where both are set.
 *
 * @throws VedetteError of code CONFIG_INVALID like readVariable, without credentials
 */
export function readProxies(env: Environment): Proxies {
  return {
    https: readEither(env, VARIABLES.httpsProxy),
    http: readEither(env, VARIABLES.httpProxy),
    exemptions: readEither(env, VARIABLES.noProxy),
  };
}

function readEither<Value>(env: Environment, row: Variable<Value>): Value {
  const lower = row.name.toLowerCase();
  return readVariable(env, textOf(env, lower) === null ? row : { ...row, name: lower });
}
