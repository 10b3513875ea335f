import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { parse } from 'yaml';
import { type Plans, plansSchema, UNLIMITED } from '../../model/account/plan.ts';
import {
  baseUrl,
  filePath,
  listParser,
  network,
  type Parsed,
} from '../../runtime/config/parsers.ts';
import type { Variable } from '../../runtime/config/variable.ts';
import { messageOf, VedetteError } from '../../runtime/errors.ts';

const MAX_ADDRESSES = 10_000;
const MAX_HOSTS = 100;
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/** The plans of accounts, and the addresses of the service that the API shows them. */
export const ACCOUNT_VARIABLES = {
  publicUrl: {
    name: 'PUBLIC_URL',
    default: null,
    whenUnset: null,
    meaning:
      'The URL at which browsers and jobs reach the service: the base of links and of the `pingUrl` of heartbeats. With https, cookies are Secure. Unset, the address that each request was sent to.',
    allowed:
      'a URL of http or https without user, query and fragment, for example https://status.example.org',
    secret: false,
    parse: baseUrl,
  } satisfies Variable<string | null>,
  serviceHosts: {
    name: 'SERVICE_HOSTS',
    default: null,
    whenUnset: [] as readonly string[],
    meaning:
      'Further host names at which this service is reached, besides that of PUBLIC_URL. No status page can have one as its `customDomain`, which would hide the service there.',
    allowed: `a list of at most ${MAX_HOSTS} host names without port, separated by commas or spaces, for example monitoring.example.org, vedette.example.net`,
    secret: false,
    parse: listParser(hostName, MAX_HOSTS),
  } satisfies Variable<readonly string[]>,
  customDomains: {
    name: 'CUSTOM_DOMAINS',
    default: null,
    whenUnset: null,
    meaning:
      'The domains that status pages can have as their `customDomain`, each with all names below it. Others are refused, and not served where they are stored. Unset, any.',
    allowed: `a list of at most ${MAX_HOSTS} domains, separated by commas or spaces, for example example.org, status.example.net`,
    secret: false,
    parse: listParser(hostName, MAX_HOSTS),
  } satisfies Variable<readonly string[] | null>,
  plansFile: {
    name: 'PLANS_FILE',
    default: null,
    whenUnset: null,
    meaning:
      'The plans that limit accounts, and the plan of each account. Unset, nothing is limited.',
    allowed: 'the path of a YAML or JSON file',
    secret: false,
    parse: filePath,
  } satisfies Variable<string | null>,
  staticIpv6s: {
    name: 'STATIC_IPV6S',
    default: null,
    whenUnset: [] as readonly string[],
    meaning: 'The source addresses of checks of the public locations, for `/v1/static-ipv6s.txt`.',
    allowed: `a list of at most ${MAX_ADDRESSES} IPv6 addresses or networks, separated by commas or spaces`,
    secret: false,
    parse: listParser(ipv6Network, MAX_ADDRESSES),
  } satisfies Variable<readonly string[]>,
} as const;

function hostName(text: string): Parsed<string> {
  const value = text.toLowerCase();
  return HOST_NAME.test(value) ? { ok: true, value } : { ok: false, culprit: text };
}

function ipv6Network(text: string): Parsed<string> {
  const parsed = network(text);
  if (!parsed.ok || !isIPv6(parsed.value.address)) return { ok: false, culprit: text };
  return { ok: true, value: text };
}

/**
 * The plans that accounts can have.
 *
 * @throws VedetteError `config` CONFIG_INVALID that names the file and the problem
 */
export async function loadPlans(file: string | null): Promise<Plans> {
  if (file === null) return UNLIMITED;
  const parsed = plansSchema.safeParse(await readYaml(file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue === undefined || issue.path.length === 0 ? 'the file' : issue.path.join('.');
  throw refused(file, `${path}: ${issue?.message ?? 'is invalid'}`);
}

async function readYaml(file: string): Promise<unknown> {
  try {
    return parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw refused(file, messageOf(error).split('\n', 1)[0] ?? '');
  }
}

function refused(file: string, why: string): VedetteError {
  return new VedetteError('config', 'CONFIG_INVALID', `PLANS_FILE ${file} cannot be used: ${why}`);
}
