import { namesFromOthers } from '../../agent/secrets/render-check.ts';
import type { CheckFile } from '../../agent/source/file/parse-check-file.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import { allPages } from '../service-api/all-pages.ts';
import type { ApiClient } from '../service-api/api-client.ts';
import type { EnvFile } from './fill-secrets.ts';
import { readKnownVariables } from './variable-plan.ts';

const MAX_NAMED = 20;

/**
 * Returns a warning about variables of checks that only the env file defines: unlike `vedette run`, `apply`
 * does not fill them in.
 *
 * @returns null without such a variable
 * @throws VedetteError like ApiClient.get
 */
export async function envFileWarning(
  env: EnvFile | null,
  { checks, variables }: Pick<CheckFile, 'checks' | 'variables'>,
  client: Pick<ApiClient, 'get'>,
  signal: AbortSignal,
): Promise<string | null> {
  const given = new Set((env?.values ?? []).map(({ key }) => key));
  const ofFile = new Set(variables.map(({ key }) => key));
  const used = checks.map((check) =>
    namesFromOthers(check).filter((name) => given.has(name) && !ofFile.has(name)),
  );
  if (env === null || used.every((names) => names.length === 0)) return null;
  const known = await allPages(client, '/v1/variables', readKnownVariables, signal);
  const keys = new Set(known.map(({ key }) => key));
  const lacking = used.map((names) => names.filter((name) => !keys.has(name)));
  const names = [...new Set(lacking.flat())];
  if (names.length === 0) return null;
  const count = lacking.filter((some) => some.length > 0).length;
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  const use = count === 1 ? 'uses' : 'use';
  const [them, variable] = names.length === 1 ? ['it', 'a variable'] : ['them', 'variables'];
  const what = `${countText(count, 'check')} ${use} ${names.slice(0, MAX_NAMED).join(', ')}${more}`;
  return `${what}, which only ${terminalSafe(env.path)} defines: apply does not fill in checks; define ${them} as ${variable} of the file or the account, unless the agents have ${them}`;
}
