/** The help texts beside the flags: enough to start without the README. */

const FIRST_STEPS = `
A check file defines the checks, for example checks.yaml:
  checks:
    - id: homepage
      checkType: URL
      request: { url: https://example.com/ }

Examples:
  $ vedette init checks.yaml         write such a file, by three questions
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

The JUnit report has one test case for each check: a check that failed is a failure, one that could
not be run, was stopped or was missed an error, and one that is not activated is skipped. Only its
owner can read a new file.

Exit codes: 0 all passed (degraded counts as passed), 1 a check failed or could not be judged,
2 bad arguments or file, or all passed and the results could not be sent (--report) or written
(--junit).`,
  validate: `
A setting that has no effect, such as alertSettings beside useGlobalAlertSettings true, is no
problem: it has a line of its own, also with its position in the file.

Exit codes: 0 no problems, 2 problems or no such file.`,
  init: `
Without a terminal it asks nothing: --target is needed then, --every is 1, and without --email there
are no alerts. The first line of the file tells editors where its JSON Schema is: in the package if
node_modules beside the file has it, else at SERVICE_URL (by default the service of vedette up).

Exit codes: 0 written, 2 bad arguments or SERVICE_URL, the file exists or cannot be written, or the
input ended, 130 or 143 interrupted.`,
  import: `
Secrets are never copied: {{NAME}} replaces them, and the last line on stderr lists the
variables to set. More: vedette help importing

Exit codes: 0 done, 2 a file cannot be read or written, or has nothing to check, 3 with --strict:
something was left out (the check file is written).`,
  agent: '',
  up: `
Its data is in ./.vedette, or in the folder of --data: the keys of the API and of the agent in
up.json, the database in service, results that are not yet uploaded in agent. Variables of the
commands service and agent that are not listed here are passed on to them.

With more than 20 checks it prints only what changes: a check that ends otherwise than before, and
how all ended first. --all prints every run.
Stop it with Ctrl-C; a second Ctrl-C does not wait for running checks.`,
  apply: `
The variables of a file become those of the account, before its checks; that needs a key with the
role admin. Secret values of variables and checks are never read back from the service, so they are
written again each time. Variables that are not in the file are never deleted.

With --env-file the file needs no secrets: {{NAME}} in the config of alert channels (except templates
of webhooks) and in values of secret variables is filled in. A name without a value is an error,
also without the option; only --dry-run without it goes on, names what is missing, and compares all
else. The file must be valid before: a URL needs its scheme and host.

Channels, groups, heartbeats, status pages and windows are found by their id in the file, which the
service keeps as logicalId. Those without one were not made by a file and are never changed.

--dry-run works with a key with the role read, for which secrets of channels are not compared.
Before anything is deleted, a line says how many entries of each kind.

Exit codes: 0 the service matches the file, or --dry-run; 1 something was refused (the rest is
applied); 2 bad arguments, file or key, or the service cannot be reached; 4 with --dry-run
--exit-code: the service differs from the file. Secrets that are only written again, what was not
compared, and entries that are not in the file and stay, do not count as a difference; a refusal
is 1.`,
  trigger: `
Each check runs once, with its retries, outside its schedule: --check runs it even if it is not
activated, --tag and --group leave such checks out. A check runs in its first location that has a
connected agent, a group in all locations of its checks and in their order. --location names
another.

With --wait each run is printed when it has ended, and one that did not pass with what to try. A
signal ends the waiting, not the runs. Where stdout is no terminal, each run is one line, without
colours, its fields separated by tabs: ending, check, location, response time in milliseconds, error
code, words, id of the run, what to try.

Exit codes: 0 requested, with --wait all passed (degraded counts as passed), 1 a run was refused, or
with --wait failed, could not be judged or was not made, 2 bad arguments or key, no such group or
tag, or the service cannot be reached.`,
  status: `
Lists what is failing first, then what is degraded, then what is unknown and why, then private
locations of which no agent polls. Where stdout is no terminal, each entry is one line, without
colours, its fields separated by tabs: state, id, since when (ISO 8601), locations, code, words, name.
There, no output with exit code 0 means that nothing is failing, degraded or unknown.

With --watch it is shown again after each change, which the service sends as an event, and once a
minute. If no events can be received, it is read again after some seconds, then less and less often.
SIGINT (Ctrl-C) or SIGTERM ends it with exit code 0.

Exit codes: 0 nothing is failing, 1 a check is failing, 2 bad arguments or key, or the service
cannot be reached.`,
  history: `
Of a heartbeat it prints the events. Where stdout is no terminal, each run is one line, without
colours, its fields separated by tabs: result, slot (ISO 8601), response time in milliseconds,
location, attempts, error code, words; each event: state, time, pings, source.

Exit codes: 0 done, also where runs failed, 2 bad arguments or key, no such check, or the service
cannot be reached.`,
  explain: `
A value that is the default counts as the default, also if the check names it. The next slots are
computed by the clock of this machine. Where stdout is no terminal, each setting, slot and agent is
one line, without colours, its fields separated by tabs: setting, name, value, source; slot, time
(ISO 8601), locations, paused or nothing; agent, location, state of the location, id of the agent,
why it does not run the check, or nothing if it does.

Exit codes: 0 done, 2 bad arguments or key, no such check, or the service cannot be reached.`,
  location: `
Agents of the location take the key as API_KEY, or the file as API_KEY_FILE. Without --if-missing a
location that exists is an error. With it the command can be repeated: it creates the location if no
location has the slug, and a key if the location has no active one. A key that exists cannot be read.

With --output json it prints one object with id, slug, created (false: the location existed), and key
or, with --key-file, keyFile if a key was created. A file that exists is never replaced: then nothing
is created.

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
With --output json it prints one object with id, name, created (false: the account existed), and key
or, with --key-file, keyFile. Of an account that existed there is no key. A file that exists is
never replaced: then no account is made. If the database is lost while it commits, the file stays,
as the account may exist: see vedette account list.
An embedded database (DATA_DIR) is open in one process: stop the service first, and run the command
as the user to whom the database belongs.`,
  accountList: `
In a file or pipe, a line has with tabs between them: id, name, numbers of checks (with heartbeats),
users, private locations and API keys, time of the last result, time of creation. - is none.
An embedded database (DATA_DIR) is open in one process: stop the service first, and run the command
as the user to whom the database belongs.`,
  accountExport: `
Fill in the secret values (REPLACE_ME) and make the private locations that the file names before you
apply it. Entries are sorted by their ids: two exports without a change between them are equal.
An embedded database (DATA_DIR) is open in one process: stop the service first, and run the command
as the user to whom the database belongs.`,
  accountRemove: `
Services on PostgreSQL may go on running; keys and sessions of the account work for 5 s at most.
An embedded database (DATA_DIR) is open in one process: stop the service first, and run the command
as the user to whom the database belongs.

Exit codes: 0 deleted, 2 nothing was deleted: another name, no such account, or the database or the
artifact store cannot be used; 130 or 143 interrupted: run it again.`,
  user: `
An embedded database (DATA_DIR) is open in one process: stop the service first, and run the command
as the user to whom the database belongs.`,
  resetPassword: `
An embedded database (DATA_DIR) is open in one process: stop the service first, and run the command
as the user to whom the database belongs.`,
  decrypt: `
Exit codes: 0 done, also where nothing was encrypted, 2 no such database, a replica is connected, or
no key decrypts some of them.`,
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
