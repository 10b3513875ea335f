import { readFileSync, statSync } from 'node:fs';
import { VARIABLES } from '../../agent/config/variables.ts';
import { filePath, type Parsed } from '../../runtime/config/parsers.ts';
import { readVariable, refuseSlips } from '../../runtime/config/read-variable.ts';
import type { Environment, Variable } from '../../runtime/config/variable.ts';
import { messageOf, systemCodeOf, VedetteError } from '../../runtime/errors.ts';
import type { Proxies } from '../../runtime/net/proxy/choose-proxy.ts';
import { readProxies } from '../../runtime/net/proxy/proxy-variables.ts';
import { quoted } from '../../runtime/text/quoted.ts';

/** The URL of a service, and a key of its API. */
export interface Connection {
  readonly serviceUrl: URL;
  readonly apiKey: string;
  /** Default: none. */
  readonly proxies?: Proxies;
  /** The role that the key needs. Default: write. */
  readonly role?: NeededRole;
}

export type NeededRole = 'read' | 'run' | 'write' | 'admin';

/** The purposes for which commands use the service, and the lowest role that their key needs. */
const USES = {
  apply: {
    role: 'write',
    roleText: 'with the role write, admin where the file has variables, or read with --dry-run',
    service: 'The service that gets the checks.',
  },
  report: {
    role: 'run',
    roleText: 'with the role run',
    service: 'The service that gets the results.',
  },
  read: {
    role: 'read',
    roleText: 'with the role read',
    service: 'The service to ask.',
  },
  run: {
    role: 'run',
    roleText: 'with the role run',
    service: 'The service that has the checks.',
  },
  location: {
    role: 'admin',
    roleText: 'with the role admin',
    service: 'The service that gets the location.',
  },
} as const;
type Use = keyof typeof USES;

function keyText(use: Use): string {
  return `an API key of the account, ${USES[use].roleText}: vk_ and 32 hex digits (pl_ is for agents)`;
}

/** A key file has one line; a larger file is not a key file. */
const MAX_KEY_FILE_BYTES = 4096;

const variable = <Value>(row: Variable<Value>): Variable<Value> => row;

const API_KEY_FILE = variable<string | null>({
  name: 'API_KEY_FILE',
  default: null,
  whenUnset: null,
  meaning: 'A file that contains the key, instead of API_KEY.',
  allowed: 'the path of a file that contains vk_ and 32 hex digits',
  secret: false,
  parse: filePath,
});

function variablesOf(use: Use) {
  return {
    serviceUrl: { ...VARIABLES.serviceUrl, meaning: USES[use].service },
    apiKey: variable<string | null>({
      name: 'API_KEY',
      default: null,
      whenUnset: null,
      meaning: `An API key of the account, ${USES[use].roleText}.`,
      allowed: keyText(use),
      secret: true,
      parse: parseKey,
    }),
    apiKeyFile: API_KEY_FILE,
  } as const;
}

type Rows = readonly Pick<
  Variable<unknown>,
  'name' | 'default' | 'meaning' | 'allowed' | 'secret'
>[];

const PROXY_ROWS: Rows = [
  {
    ...VARIABLES.httpsProxy,
    meaning: 'The proxy for a service by https. https_proxy takes precedence.',
  },
  {
    ...VARIABLES.httpProxy,
    meaning: 'The proxy for a service by http. http_proxy takes precedence.',
  },
  {
    ...VARIABLES.noProxy,
    meaning: 'Hosts that are reached without a proxy. no_proxy takes precedence.',
  },
];

/** The variables of `vedette apply`. */
export const APPLY_ENVIRONMENT: Rows = [...Object.values(variablesOf('apply')), ...PROXY_ROWS];

/** The variables that `vedette run --report` reads in addition to those of `run`. */
export const REPORT_ENVIRONMENT: Rows = [...Object.values(variablesOf('report')), ...PROXY_ROWS];

/** The variables of commands that only read from a service. */
export const READ_ENVIRONMENT: Rows = [...Object.values(variablesOf('read')), ...PROXY_ROWS];

/** The variables of `vedette trigger`. */
export const TRIGGER_ENVIRONMENT: Rows = [...Object.values(variablesOf('run')), ...PROXY_ROWS];

/** The variables of `vedette location add`. */
export const LOCATION_ENVIRONMENT: Rows = [
  ...Object.values(variablesOf('location')),
  ...PROXY_ROWS,
];

/**
 * @throws VedetteError of kind `config` and code CONFIG_MISSING, CONFIG_INVALID, CONFIG_CONFLICT or
 *   CONFIG_UNKNOWN, with one line that names the variable
 */
export function loadConnection(env: Environment, use: Use = 'apply'): Connection {
  const variables = variablesOf(use);
  const names = Object.values(variables).map(({ name }) => name);
  refuseSlips(env, names, names);
  const url = readVariable(env, variables.serviceUrl);
  const key = readVariable(env, variables.apiKey);
  const file = readVariable(env, variables.apiKeyFile);
  const { role } = USES[use];
  if (url === null) {
    throw misconfigured(
      'CONFIG_MISSING',
      `SERVICE_URL is not set; it must be ${variables.serviceUrl.allowed}`,
    );
  }
  if (key !== null && file !== null) {
    throw misconfigured(
      'CONFIG_CONFLICT',
      'API_KEY and API_KEY_FILE are both set: unset one of them',
    );
  }
  const apiKey = file === null ? key : keyIn(file);
  if (apiKey !== null) return { serviceUrl: url, apiKey, role, proxies: readProxies(env) };
  const message = `neither API_KEY nor API_KEY_FILE is set: API_KEY must be ${keyText(use)}`;
  throw misconfigured('CONFIG_MISSING', message);
}

function parseKey(text: string): Parsed<string> {
  return /^vk_[0-9a-f]{32}$/.test(text) ? { ok: true, value: text } : { ok: false, culprit: text };
}

function keyIn(path: string): string {
  const refuse = (problem: string): VedetteError =>
    misconfigured(
      'CONFIG_INVALID',
      `API_KEY_FILE is ${quoted(path)}, which ${problem}; it must be ${API_KEY_FILE.allowed}`,
    );
  let text: string;
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) throw refuse('is a directory');
    if (stats.size > MAX_KEY_FILE_BYTES) throw refuse('is too large for a key');
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof VedetteError) throw error;
    const code = systemCodeOf(error);
    if (code === 'ENOENT') throw refuse('does not exist');
    if (code === 'EACCES' || code === 'EPERM') throw refuse('may not be read by this user');
    throw refuse(`cannot be read (${code ?? messageOf(error)})`);
  }
  const parsed = parseKey(text.trim());
  if (!parsed.ok) throw refuse('does not contain an API key');
  return parsed.value;
}

function misconfigured(code: string, message: string): VedetteError {
  return new VedetteError('config', code, message);
}
