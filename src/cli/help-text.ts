/** The help texts beside the flags: enough to start without the README. */

const FIRST_STEPS = `
A check file defines the checks, for example checks.yaml:
  checks:
    - id: homepage
      checkType: URL
      request: { url: https://example.com/ }

Examples:
  $ vedette init checks.yaml         ask three questions, and write such a file
  $ vedette validate checks.yaml     check the file for mistakes
  $ vedette run checks.yaml          run each check once, now
  $ vedette up checks.yaml           run the checks on their schedule and save the results

Handbook:
  $ vedette help                     list the topics
  $ vedette help alerts              print one

Exit codes: 0 all passed (degraded counts as passed), 1 a check failed or could not be judged,
2 bad arguments or file.`;

const EXAMPLES = {
  run: [
    'vedette run checks.yaml',
    'vedette run checks.yaml --check shop --output json',
    'vedette run checks.yaml --env-file .env',
    'vedette run checks.yaml --junit report.xml',
    'SERVICE_URL=http://127.0.0.1:8080 API_KEY=vk_... vedette run checks.yaml --report --project shop',
  ],
  validate: ['vedette validate checks.yaml', 'vedette validate checks/*.yaml'],
  init: [
    'vedette init',
    'vedette init checks.yaml --target https://example.com/ --every 5 --email me@example.com',
  ],
  import: [
    'vedette import blackbox.yml prometheus.yml targets/*.json --output checks.yaml',
    'vedette import --probe-modules blackbox.yml prometheus.yml --output checks.yaml',
    'vedette import gatus.yaml > checks.yaml',
    'vedette import kuma-backup.json --output checks.yaml --strict',
  ],
  agent: ['CHECKS_FILE=checks.yaml JOB_CONCURRENCY=50 vedette agent'],
  up: ['vedette up', 'vedette up checks.yaml --data ~/vedette --all'],
  apply: [
    'SERVICE_URL=http://127.0.0.1:8080 API_KEY=vk_... vedette apply checks.yaml --dry-run',
    'SERVICE_URL=https://vedette.example.com API_KEY_FILE=key vedette apply checks.yaml --prune',
    'vedette apply checks.yaml --dry-run --exit-code',
    'vedette apply checks.yaml --env-file secrets.env',
  ],
  trigger: [
    'SERVICE_URL=http://127.0.0.1:8080 API_KEY=vk_... vedette trigger --check homepage --wait',
    'vedette trigger --tag shop --location berlin --wait',
    'vedette trigger --group shop',
  ],
  status: [
    'SERVICE_URL=http://127.0.0.1:8080 API_KEY=vk_... vedette status',
    'vedette status --down --output json',
    'vedette status --watch',
  ],
  history: [
    'SERVICE_URL=http://127.0.0.1:8080 API_KEY=vk_... vedette history homepage',
    'vedette history homepage --limit 100 --output json',
  ],
  explain: ['SERVICE_URL=http://127.0.0.1:8080 API_KEY=vk_... vedette explain homepage'],
  location: [
    'SERVICE_URL=http://127.0.0.1:8080 API_KEY=vk_... vedette location add office --name Office',
    'vedette location add office --if-missing --key-file office.key --output json',
  ],
  completion: [
    'eval "$(vedette completion bash)"',
    'eval "$(vedette completion zsh)"',
    'vedette completion fish | source',
  ],
  service: ['DATA_DIR=./data vedette service', 'DATA_DIR=./data vedette service migrate'],
  migrate: [
    'DATA_DIR=./data vedette service migrate',
    'DATABASE_URL=postgres://vedette@127.0.0.1:5432/vedette vedette service migrate',
  ],
  decrypt: ['DATA_DIR=./data vedette service decrypt'],
  account: [
    'DATABASE_URL=postgres://vedette@127.0.0.1:5432/vedette vedette account add "Shop team"',
    'DATA_DIR=./data vedette account add "Shop team" --if-missing --key-file shop.key --output json',
  ],
  accountList: ['DATABASE_URL=postgres://vedette@127.0.0.1:5432/vedette vedette account list'],
  accountExport: [
    'DATA_DIR=./data vedette account export "Shop team" --output shop.yaml',
    'SERVICE_URL=https://other.example.com API_KEY_FILE=key vedette apply shop.yaml',
  ],
  accountRemove: [
    'DATABASE_URL=postgres://vedette@127.0.0.1:5432/vedette vedette account remove "Shop team"',
    'DATA_DIR=./data vedette account remove "Shop team" --yes "Shop team"',
  ],
  user: [
    'DATABASE_URL=postgres://vedette@127.0.0.1:5432/vedette vedette user add ann@example.com --role admin',
  ],
  resetPassword: ['DATA_DIR=./data vedette user reset-password ann@example.com'],
} as const;

const AFTER_EXAMPLES = {
  run: `
The lines of an env file are KEY=VALUE, as for node --env-file: # starts a comment, at the start of
a line or after white space; "export " before a name is ignored; '...' is taken literally; "..."
understands \\n, \\r, \\t, \\" and \\\\; both may span several lines. $NAME is not replaced. The
values override the variables of the check file; a check's own variables override both.

The JUnit report has one test case for each check. A failed check is a failure; a check that could
not be run, was stopped or was missed is an error; a check that is not activated is skipped. A new
file can be read only by its owner.

Exit codes: 0 all passed (degraded counts as passed), 1 a check failed or could not be judged,
2 bad arguments or file, or all passed but the results could not be sent (--report) or written
(--junit).`,
  validate: `
A setting that has no effect, such as alertSettings beside useGlobalAlertSettings true, is not a
problem: it is printed on a separate line, with its position in the file.

Exit codes: 0 no problems, 2 problems or no such file.`,
  init: `
Without a terminal it asks nothing: --target is required, --every defaults to 1, and without --email
there are no alerts. The first line of the file tells editors where to find its JSON Schema: in the
package vedette if node_modules beside the file contains it, otherwise at SERVICE_URL (by default
the service of vedette up).

Exit codes: 0 written, 2 bad arguments or SERVICE_URL, the file exists or cannot be written, or the
input ended, 130 or 143 interrupted.`,
  import: `
Secrets are never copied: {{NAME}} replaces them, and the last line on stderr lists the
variables to set. More: vedette help importing

Exit codes: 0 done, 2 a file cannot be read or written, or contains nothing to check, 3 with
--strict: something was left out (the check file is written nevertheless).`,
  agent: '',
  up: `
Its data is in ./.vedette, or in the folder of --data: up.json contains the API key and the location
key, the folder service the database, and the folder agent the results that are not uploaded yet.
Variables of the commands service and agent that are not listed here are passed on to them.

With more than 20 checks it prints one summary of the first runs, then only checks whose outcome has
changed. --all prints every run.
Stop it with Ctrl-C; a second Ctrl-C does not wait for running checks.`,
  apply: `
The variables of the file are written to the account before its checks, which needs a key with the
role admin. The service never returns secret values of variables and checks, so they are written
again each time. Variables that are not in the file are never deleted.

With --env-file the file needs no secrets: {{NAME}} is filled in, in the config of alert channels
(except templates of webhooks) and in values of secret variables. A name without a value is an error,
with and without the option. Only --dry-run without the option continues: it lists the names without
a value and compares everything else. The file must be valid before the names are filled in: a URL
needs its scheme and host.

Channels, groups, heartbeats, status pages and windows are found by their id in the file, which the
service stores as logicalId. Those without a logicalId were not created by a file and are never
changed.

--dry-run works with a key with the role read; secrets of channels are then not compared. Before
anything is deleted, a line says how many entries of each kind will be deleted.

Exit codes: 0 the service matches the file, or --dry-run; 1 something was refused (the rest is
applied); 2 bad arguments, file or key, or the service cannot be reached; 4 with --dry-run
--exit-code: the service differs from the file, and nothing would be refused. These are no
differences: secrets that are only written again, what was not compared, and entries of the service
that are not in the file and stay.`,
  trigger: `
Each check runs once, with its retries, outside its schedule. --check also runs a check that is not
activated; --tag and --group leave out such checks. A check runs in its first location that has a
connected agent. The checks of a group run in all of their locations, in the order of the group.
--location chooses another location.

With --wait each run is printed when it has ended; one that did not pass is printed with what to
try. A signal ends the waiting, not the runs. If stdout is not a terminal, each run is one line
without colours, with these fields separated by tabs: outcome, check, location, response time in
milliseconds, error code, description, id of the run, what to try.

Exit codes: 0 requested, or with --wait all passed (degraded counts as passed); 1 a run was refused,
or with --wait a run failed, could not be judged or was not made; 2 bad arguments or key, no such
group or tag, or the service cannot be reached.`,
  status: `
Lists failing checks, then degraded ones, then unknown ones with the reason, then private locations
without an agent that polls. If stdout is not a terminal, each entry is one line without colours,
with these fields separated by tabs: state, id, since when (ISO 8601), locations, code, description,
name, and whether it is muted, in maintenance or acknowledged. No output with exit code 0 then means
that nothing is failing, degraded or unknown.

With --watch the list is read again after each event of the service and once a minute, and printed
again if it has changed. If no events can be received, it is read again after a few seconds, then
less and less often. SIGINT (Ctrl-C) or SIGTERM ends it with exit code 0.

Exit codes: 0 nothing is failing, 1 a check is failing, 2 bad arguments or key, or the service
cannot be reached.`,
  history: `
For a heartbeat it prints the events. If stdout is not a terminal, each run is one line without
colours, with these fields separated by tabs: result, slot (ISO 8601), response time in milliseconds,
location, attempts, error code, description. The fields of an event are state, time, pings, source.

Exit codes: 0 done, even if runs failed, 2 bad arguments or key, no such check, or the service cannot
be reached.`,
  explain: `
A value that equals the default is shown as the default, even if the check sets it. The next slots
are computed by the clock of this machine. If stdout is not a terminal, each setting, slot and agent
is one line without colours, with these fields separated by tabs:
- setting, name, value, source
- slot, time (ISO 8601), locations, paused or nothing
- agent, location, state of the location, id of the agent, and why it does not run the check, or
  nothing if it runs it

Exit codes: 0 done, 2 bad arguments or key, no such check, or the service cannot be reached.`,
  location: `
Agents of the location take the key as API_KEY, or the file as API_KEY_FILE. If the location exists,
the command fails without --if-missing. With --if-missing it can be repeated: it creates the location
if no location has the slug, and a key if the location has no active one. An existing key cannot be
read.

With --output json it prints one object with id, slug, created (false: the location existed) and, if
a key was created, key or, with --key-file, keyFile. If the file exists, nothing is created.

Exit codes: 0 done, 2 bad arguments, file or key, the service refuses the location or cannot be
reached, 130 or 143 interrupted.`,
  completion: `
Put the line into the file that the shell runs at its start: ~/.bashrc, ~/.zshrc (after compinit),
or ~/.config/fish/config.fish. bash needs release 4.4 or later.`,
  service: `
If a PostgreSQL database is unavailable at the start, it waits and tries again every 1 to 30 s.

Exit codes: 0 stopped by a signal, 2 wrong settings (also a port in use, or a database that refuses
the user or does not exist), 70 a fault of Vedette.`,
  migrate: '',
  account: `
With --output json it prints one object with id, name, created (false: the account existed) and, if
the account was created, key or, with --key-file, keyFile. If the file exists, no account is created.
If the connection to the database is lost during COMMIT, the account may exist, so the file stays:
see vedette account list.
Only one process can open an embedded database (DATA_DIR): stop the service first, and run the
command as the user that owns the database.`,
  accountList: `
In a file or pipe, each account is one line with these fields separated by tabs: id, name, number of
checks (heartbeats included), of users, of private locations and of API keys, time of the last
result, time of creation. - means none.
Only one process can open an embedded database (DATA_DIR): stop the service first, and run the
command as the user that owns the database.`,
  accountExport: `
Before you apply the file, fill in the secret values (REPLACE_ME) and create the private locations
that it names. Entries are sorted by their ids: two exports without a change between them are equal.
Only one process can open an embedded database (DATA_DIR): stop the service first, and run the
command as the user that owns the database.`,
  accountRemove: `
Services on PostgreSQL may keep running; they accept keys and sessions of the account for at most
another 5 s.
Only one process can open an embedded database (DATA_DIR): stop the service first, and run the
command as the user that owns the database.

Exit codes: 0 deleted; 2 nothing was deleted: the name was not confirmed, there is no such account,
or the database or the artifact store cannot be used; 130 or 143 interrupted: run it again.`,
  user: `
Only one process can open an embedded database (DATA_DIR): stop the service first, and run the
command as the user that owns the database.`,
  resetPassword: `
Only one process can open an embedded database (DATA_DIR): stop the service first, and run the
command as the user that owns the database.`,
  decrypt: `
Exit codes: 0 done, even if nothing was encrypted; 2 no such database, a replica is connected, or no
key decrypts some of the credentials.`,
} as const;

const NAME_WIDTH = 24;

/** The heading of the variables of commands on the database of a service. */
export const NAMED_DATABASE = 'Environment variables (DATABASE_URL or DATA_DIR must be set)';

/** A row of the table of variables. */
export interface VariableRow {
  readonly name: string;
  readonly default: string | null;
  readonly meaning: string;
}

export function firstSteps(): string {
  return FIRST_STEPS;
}

/** The text below the flags of a command. */
export function helpAfter(command: keyof typeof EXAMPLES): string {
  const lines: readonly string[] = EXAMPLES[command];
  const heading = lines.length === 1 ? 'Example:' : 'Examples:';
  const examples = lines.map((line) => `  $ ${line}`).join('\n');
  return `\n${heading}\n${examples}${AFTER_EXAMPLES[command] === '' ? '' : `\n${AFTER_EXAMPLES[command]}`}`;
}

/** The variables, each with its default and the first sentence of its meaning. */
export function variableTable(
  rows: readonly VariableRow[],
  heading = 'Environment variables',
): string {
  const width = Math.max(NAME_WIDTH, ...rows.map(({ name }) => name.length + 2));
  const lines = rows.map(({ name, default: value, meaning }) => {
    const [sentence] = meaning.split(/(?<=\.) /, 1);
    return `  ${name.padEnd(width)}${sentence}${value === null ? '' : ` Default ${value}.`}`;
  });
  return `\n${heading}:\n${lines.join('\n')}`;
}
