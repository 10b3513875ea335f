import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { VedetteError } from '../../runtime/errors.ts';
import { canAsk } from '../ask.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import { startedAs } from '../started-as.ts';
import { EXIT, type Terminal } from '../terminal.ts';
import { writeNewFile } from '../write-new-file.ts';
import { schemaServiceIn } from './environment.ts';
import { firstFileText } from './file-text.ts';
import { type Answers, askedAnswers, type Given, givenAnswers } from './questions.ts';
import { TARGET_FORMS, targetText } from './target.ts';

export interface InitOptions extends Given {
  /** The address or path of the JSON Schema; null for the usual one. */
  readonly schema: string | null;
  /** Whether an existing file may be replaced. */
  readonly force: boolean;
}

const SCHEMA_PATH = 'schemas/check-file.json';
/** The schema in the package, if it is a dependency of the project with the check file. */
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
  // Checked before the user answers questions in vain.
  if (existsSync(file) && !options.force) throw exists(file);
  const given = givenAnswers(options);
  const schema = options.schema ?? schemaFor(file, env);
  if (given.target === undefined && !canAsk(terminal)) {
    const message = `there is no terminal on which to ask what to check: give --target with ${TARGET_FORMS}`;
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
  stdout.write(
    `${terminalSafe(doneText(file, { target, every, email }))}\n${nextText(file, terminal)}`,
  );
  return EXIT.ok;
}

const ANOTHER = 'name another one';

function exists(file: string): VedetteError {
  const message = `${file} exists; ${ANOTHER}, or add --force to replace it`;
  return new VedetteError('input', 'INIT_NOT_WRITTEN', message);
}

/** Where an editor finds the schema: in the package next to the file, else at the service. */
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

function nextText(file: string, terminal: Terminal): string {
  const [program, shown] = [startedAs(terminal), terminalSafe(file)];
  return `Next:
  ${program} run ${shown}          runs the check once
  ${program} up ${shown}           runs it on its schedule, and shows the results in the browser
`;
}
