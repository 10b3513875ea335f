import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ALERT_CHANNEL_SHAPES } from '../../model/alerting/alert-channel.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { canAsk, openQuestions, type Questions } from '../ask.ts';
import { schemaServiceIn } from '../init/environment.ts';
import { firstFileText } from '../init/file-text.ts';
import { PERIODS } from '../init/periods.ts';
import { TARGET_FORMS, type Target, targetOf, targetText } from '../init/target.ts';
import { watchForInterruption } from '../interruption.ts';
import { harmless } from '../print/harmless.ts';
import { EXIT, type Terminal } from '../terminal.ts';
import { createTerminalLog } from '../terminal-log.ts';
import { writeNewFile } from '../write-new-file.ts';

export interface InitOptions {
  /** The answers to the questions; null to ask, or, without a terminal, for the default. */
  readonly target: string | null;
  readonly every: string | null;
  readonly email: string | null;
  /** The address or path of the JSON Schema; null for the usual one. */
  readonly schema: string | null;
  /** Whether an existing file may be replaced. */
  readonly force: boolean;
}

const DEFAULT_PERIOD = '1';
const SCHEMA_PATH = 'schemas/check-file.json';
/** The package, where it is a dependency of the project with the check file. */
const IN_PACKAGE = `node_modules/vedette/dist/${SCHEMA_PATH}`;

/**
 * Asks what to check, how often, and who gets alerts, and writes a check file with comments.
 *
 * @returns EXIT.ok, EXIT.unusable at the end of the input, or what interrupted it
 * @throws VedetteError where an answer given by an option or SERVICE_URL is not valid, there is nobody to
 *   ask, or the file exists or cannot be written
 */
export async function initCommand(
  file: string,
  options: InitOptions,
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
): Promise<number> {
  const { stdout, stderr, env } = terminal;
  if (/\.json$/i.test(file)) {
    const message = `${file}: the file has comments, so it is YAML: choose a name that ends with .yaml`;
    throw new VedetteError('usage', 'INIT_JSON', message);
  }
  // Before anybody answers questions in vain.
  if (existsSync(file) && !options.force) throw exists(file);
  const given = givenAnswers(options);
  const schema = options.schema ?? schemaFor(file, env);
  if (given.target === undefined && !canAsk(terminal)) {
    const message = `without a terminal nobody can be asked what to check: give --target with ${TARGET_FORMS}`;
    throw new VedetteError('usage', 'INIT_TARGET_MISSING', message);
  }
  const answers = await askedAnswers(given, terminal, exitNow);
  if (answers.kind === 'interrupted') return answers.exitCode;
  if (answers.kind === 'ended') {
    const what = 'the input ended before all questions were answered: no file is written';
    stderr.write(`\nvedette: ${what}\n`);
    return EXIT.unusable;
  }
  const { target, every, email } = answers;
  const text = firstFileText({ file, target, everyMinutes: Number(every), email, schema });
  const { force } = options;
  await writeNewFile(file, text, { force, another: ANOTHER, code: 'INIT_NOT_WRITTEN' });
  stdout.write(`${harmless(doneText(file, { target, every, email }))}\n${nextText(file)}`);
  return EXIT.ok;
}

const ANOTHER = 'name another one';

function exists(file: string): VedetteError {
  const message = `${file} exists; ${ANOTHER}, or add --force to replace it`;
  return new VedetteError('input', 'INIT_NOT_WRITTEN', message);
}

interface Answers {
  readonly target: Target;
  readonly every: string;
  /** null for nobody. */
  readonly email: string | null;
}

/** @throws VedetteError of kind `usage` for an option that is not valid */
function givenAnswers({ target, every, email }: InitOptions): Partial<Answers> {
  const refuse = (option: string, value: string, allowed: string): VedetteError => {
    const message = `${option} must be ${allowed}, not ${JSON.stringify(value)}`;
    return new VedetteError('usage', 'INIT_ANSWER', message);
  };
  const found = target === null ? undefined : targetOf(target);
  if (found === null) throw refuse('--target', target ?? '', TARGET_FORMS);
  if (email !== null && !isEmail(email)) throw refuse('--email', email, EMAIL_FORM);
  return {
    ...(found === undefined ? {} : { target: found }),
    ...(every === null ? {} : { every }),
    ...(email === null ? {} : { email }),
  };
}

const EMAIL_FORM = 'an e-mail address such as me@example.com';

function isEmail(address: string): boolean {
  return ALERT_CHANNEL_SHAPES.EMAIL.shape.config.safeParse({ address }).success;
}

type Asked =
  | ({ readonly kind: 'answered' } & Answers)
  | { readonly kind: 'ended' }
  | { readonly kind: 'interrupted'; readonly exitCode: number };

/** Asks what no option says. Without a terminal, the defaults are the answers. */
async function askedAnswers(
  given: Partial<Answers>,
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
): Promise<Asked> {
  const { target, every, email } = given;
  const isAllGiven = every !== undefined && email !== undefined;
  if (target !== undefined && (isAllGiven || !canAsk(terminal))) {
    return { kind: 'answered', target, every: every ?? DEFAULT_PERIOD, email: email ?? null };
  }
  const log = createTerminalLog(terminal, 'error');
  const interruption = watchForInterruption(terminal, log, exitNow);
  const questions = openQuestions(terminal, interruption.signal);
  const asking = { questions, stderr: terminal.stderr };
  try {
    const what = target ?? (await answerTo(asking, 'What to check', null, TARGET_FORMS, targetOf));
    const period =
      what === null
        ? null
        : (every ??
          (await answerTo(asking, 'Minutes between runs', DEFAULT_PERIOD, PERIOD_FORM, (text) =>
            PERIODS.includes(text) ? text : null,
          )));
    const address =
      period === null
        ? null
        : (email ??
          (await answerTo(asking, 'E-mail address for alerts', 'none', EMAIL_FORM, (text) =>
            text === 'none' || isEmail(text) ? text : null,
          )));
    if (interruption.exitCode !== null) {
      return { kind: 'interrupted', exitCode: interruption.exitCode };
    }
    if (what === null || period === null || address === null) return { kind: 'ended' };
    const alerted = address === 'none' ? null : address;
    return { kind: 'answered', target: what, every: period, email: alerted };
  } finally {
    questions.close();
    interruption.dispose();
  }
}

const PERIOD_FORM = `one of ${PERIODS.join(', ')}`;

/**
 * Asks until there is a valid answer.
 *
 * @param usual the answer of an empty line; null if there is none
 * @param read null for an invalid answer
 * @returns null at the end of the input, or when the signal aborts
 */
async function answerTo<Answer>(
  { questions, stderr }: { readonly questions: Questions } & Pick<Terminal, 'stderr'>,
  question: string,
  usual: string | null,
  allowed: string,
  read: (text: string) => Answer | null,
): Promise<Answer | null> {
  const shown = usual === null ? `${question} (${allowed}): ` : `${question} [${usual}]: `;
  for (;;) {
    const line = await questions.ask(shown);
    if (line === null) return null;
    const text = line.trim() === '' && usual !== null ? usual : line.trim();
    const answer = read(text);
    if (answer !== null) return answer;
    stderr.write(`It must be ${allowed}.\n`);
  }
}

/** Where an editor finds the schema: in the package beside the file, else at the service. */
function schemaFor(file: string, env: Terminal['env']): string {
  if (existsSync(join(dirname(file), IN_PACKAGE))) return `./${IN_PACKAGE}`;
  const service = schemaServiceIn(env);
  return `${service.origin}${service.pathname.replace(/\/+$/, '')}/${SCHEMA_PATH}`;
}

function doneText(file: string, { target, every, email }: Answers): string {
  const period = every === '1' ? 'every minute' : `every ${every} minutes`;
  const alerts = email === null ? '' : `, alerts to ${email}`;
  return `${file} is written: ${target.checkType} check of ${targetText(target)}, ${period}${alerts}`;
}

function nextText(file: string): string {
  const shown = harmless(file);
  return `Next:
  vedette run ${shown}          runs the check once
  vedette up --file ${shown}    runs it on its schedule, and shows the results in the browser
`;
}
