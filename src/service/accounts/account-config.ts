import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { parse } from 'yaml';
import { type Plans, plansSchema, UNLIMITED } from '../../model/account/plan.ts';
import { baseUrl, filePath, listOf, network, type Parsed } from '../../runtime/config/parsers.ts';
import type { Variable } from '../../runtime/config/variable.ts';
import { messageOf, VedetteError } from '../../runtime/errors.ts';

const MAX_ADDRESSES = 10_000;

/** What accounts may have, and what they are told of the service's own place in the network. */
export const ACCOUNT_VARIABLES = {
  publicUrl: {
    name: 'PUBLIC_URL',
    default: null,
    whenUnset: null,
    meaning:
      'Where jobs reach the service, as the `pingUrl` of heartbeats tells it; unset, where whoever reads it has reached it.',
    allowed:
      'a URL of http or https without user, query and fragment, for example https://status.example.org',
    secret: false,
    parse: baseUrl,
  } satisfies Variable<string | null>,
  plansFile: {
    name: 'PLANS_FILE',
    default: null,
    whenUnset: null,
    meaning:
      'Plans that limit what accounts may have, and which account has which; unset, nothing is limited.',
    allowed: 'the path of a YAML or JSON file',
    secret: false,
    parse: filePath,
  } satisfies Variable<string | null>,
  staticIpv6s: {
    name: 'STATIC_IPV6S',
    default: null,
    whenUnset: [] as readonly string[],
    meaning: 'Where checks of the public locations come from, as `/v1/static-ipv6s.txt` tells it.',
    allowed: `a list of at most ${MAX_ADDRESSES} IPv6 addresses or networks, apart by commas or spaces`,
    secret: false,
    parse: listOf(ipv6Network, MAX_ADDRESSES),
  } satisfies Variable<readonly string[]>,
} as const;

function ipv6Network(text: string): Parsed<string> {
  const parsed = network(text);
  if (!parsed.ok || !isIPv6(parsed.value.address)) return { ok: false, culprit: text };
  return { ok: true, value: text };
}

/**
 * The plans that accounts can have.
 *
 * @throws VedetteError `config` CONFIG_INVALID that names the file and what is wrong in it
 */
export async function loadPlans(file: string | null): Promise<Plans> {
  if (file === null) return UNLIMITED;
  const parsed = plansSchema.safeParse(await readYaml(file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? 'the file' : issue.path.join('.');
  throw refused(file, `${place}: ${issue?.message ?? 'is not right'}`);
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
