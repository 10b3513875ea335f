import { serviceUrl } from '../../agent/config/parsers.ts';
import { VARIABLES } from '../../agent/config/variables.ts';
import { readVariable, refuseSlips } from '../../runtime/config/read-variable.ts';
import type { Environment, Variable } from '../../runtime/config/variable.ts';

/** The address of the service that `vedette up` starts. */
const USUAL_SERVICE = 'http://127.0.0.1:8080';

const SERVICE_URL: Variable<URL> = {
  ...VARIABLES.serviceUrl,
  default: USUAL_SERVICE,
  whenUnset: new URL(USUAL_SERVICE),
  meaning: 'The service where editors find the JSON Schema.',
  parse: serviceUrl,
};

/** The variables of `vedette init`. */
export const INIT_ENVIRONMENT = [SERVICE_URL] as const;

/**
 * The service where editors find the JSON Schema.
 *
 * @throws VedetteError of kind `config`, as readVariable and refuseSlips
 */
export function schemaServiceIn(env: Environment): URL {
  const names = INIT_ENVIRONMENT.map(({ name }) => name);
  refuseSlips(env, names, names);
  return readVariable(env, SERVICE_URL);
}
