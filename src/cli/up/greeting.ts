import type { Check } from '../../model/check/check.ts';
import type { FileEntry } from '../../model/check-file/sections.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { VERSION } from '../../runtime/version.ts';
import type { OwnersLinks } from '../../service/users/owners-links.ts';
import { SETUP_LINK_HOURS } from '../../service/users/setup.ts';
import { SIGN_IN_LINK_MINUTES } from '../../service/users/sign-in-link.ts';
import type { Palette } from '../print/colour.ts';
import { shellWord } from '../print/shell-word.ts';
import { terminalSafe } from '../print/terminal-safe.ts';

export interface GreetingFacts {
  readonly file: string;
  readonly checks: readonly Check[];
  /** The status pages of the file. */
  readonly pages: readonly FileEntry[];
  /** The entries of an earlier file that this one does not have, as text; null if there are none. */
  readonly removed: string | null;
  readonly serviceUrl: URL;
  readonly agentUrl: URL;
  readonly links: OwnersLinks;
  readonly apiKey: string;
  /** Whether this is the first start with the key, which shows it. */
  readonly isNewKey: boolean;
  /** The file with the key. */
  readonly stateFile: string;
  /** Whether only changes are printed. */
  readonly changesOnly: boolean;
  /** The beginning of commands, such as `npx vedette`. */
  readonly program: string;
}

const MAX_PAGES = 5;

/** Says which checks run, and the addresses of the service. Ends with an empty line. */
export function greeting(facts: GreetingFacts, palette: Palette): string {
  const { checks, removed, serviceUrl, agentUrl, changesOnly, program } = facts;
  const row = (what: string, where: string): string => `  ${what.padEnd(14)}${where}`;
  const active = checks.filter(({ activated }) => activated);
  const off = checks.length - active.length;
  const rest = off === 0 ? '' : ` (${off} more ${off === 1 ? 'is' : 'are'} not activated)`;
  const count = `${countText(active.length, 'check')}`;
  const first = (active[0] ?? checks[0])?.id;
  const results = new URL(
    first === undefined ? '/v1/checks' : `/v1/check-results/${encodeURIComponent(first)}`,
    serviceUrl,
  );
  const lookAt = (url: URL): string =>
    `${new URL('/health', url).href}  ${new URL('/metrics', url).href}`;
  return [
    palette.strong(`Vedette ${VERSION} runs ${count} of ${terminalSafe(facts.file)}${rest}.`),
    ...pageRows(facts, row),
    ...(removed === null
      ? []
      : [row('Removed', `${removed}, because the file no longer has them`)]),
    row('Sign in', signInText(facts)),
    row(
      'API',
      `${serviceUrl.href}  (its key ${keyHint(facts)} is in ${terminalSafe(facts.stateFile)})`,
    ),
    row('Handbook', new URL('/docs', serviceUrl).href),
    row(
      first === undefined ? 'Checks' : 'Results',
      `curl -H ${authorizationText(facts)} ${results.href}`,
    ),
    row(
      'What is down',
      `SERVICE_URL=${serviceUrl.origin} API_KEY=${keyText(facts)} ${program} status`,
    ),
    row('Service', lookAt(serviceUrl)),
    row('Agent', lookAt(agentUrl)),
    row(
      'Other checks',
      `edit ${terminalSafe(facts.file)} (reloaded on change), or run: ${program} up FILE`,
    ),
    ...(changesOnly
      ? [row('Printed', `only changes of the ${count}; every run: ${program} up --all`)]
      : []),
    row('Stop', 'Ctrl-C'),
    '',
    '',
  ].join('\n');
}

type KeyFacts = Pick<GreetingFacts, 'apiKey' | 'isNewKey' | 'stateFile'>;

/** `vk_…1a2b`: the last four characters tell keys apart. */
function keyHint({ apiKey }: KeyFacts): string {
  return `vk_…${apiKey.slice(-4)}`;
}

/** Shell text for the API key: the key itself on the first start, later a command that reads it. */
function keyText({ apiKey, isNewKey, stateFile }: KeyFacts): string {
  return isNewKey ? apiKey : `$(grep -o 'vk_[0-9a-f]*' ${shellWord(stateFile)})`;
}

function authorizationText(facts: KeyFacts): string {
  const quote = facts.isNewKey ? "'" : '"';
  return `${quote}Authorization: Bearer ${keyText(facts)}${quote}`;
}

function signInText({
  serviceUrl,
  links: { signInUrl, setupUrl },
}: Pick<GreetingFacts, 'serviceUrl' | 'links'>): string {
  if (signInUrl !== null) {
    return `${signInUrl}  (as an admin, without a password; works once, within ${SIGN_IN_LINK_MINUTES} minutes)`;
  }
  if (setupUrl !== null) {
    return `${setupUrl}  (creates the first user; works once, within ${SETUP_LINK_HOURS} hours)`;
  }
  return new URL('/sign-in', serviceUrl).href;
}

function pageRows(
  { pages, serviceUrl }: Pick<GreetingFacts, 'pages' | 'serviceUrl'>,
  row: (what: string, where: string) => string,
): readonly string[] {
  const shown = pages.slice(0, MAX_PAGES).map(({ fields }) => {
    const { href } = new URL(`/status/${encodeURIComponent(String(fields.url))}`, serviceUrl);
    return row(
      'Status page',
      `${href}${fields.isPrivate === true ? '  (private: sign in first)' : ''}`,
    );
  });
  const more = pages.length - MAX_PAGES;
  return more <= 0
    ? shown
    : [...shown, row('', `and ${countText(more, 'more page', 'more pages')}`)];
}
