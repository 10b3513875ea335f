import { messageOf, VedetteError } from '../../runtime/errors.ts';
import { replaceFile } from '../../runtime/files/replace-file.ts';
import { exportAccountOfService } from '../../service/operator/account-commands.ts';
import { prepareService } from '../commands/service-command.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import { EXIT, type Terminal } from '../terminal.ts';

const MAX_LINE_CHARS = 2000;
const HEADING = [
  '# An account of Vedette, for vedette apply. It contains addresses to which anybody can send, such as',
  '# those of Slack channels: keep it as secret as a key. It does not contain:',
];

/**
 * Writes the resources of an account as a check file to stdout, or to a file that only its owner may read.
 * Prints on stderr what the file does not contain.
 *
 * @param output null for stdout
 * @throws VedetteError where a variable, the database, the account or the file is unusable
 */
export async function exportAccountCommand(
  idOrName: string,
  output: string | null,
  terminal: Terminal,
): Promise<number> {
  const { stdout, stderr } = terminal;
  const { text, missing } = await exportAccountOfService(prepareService(terminal), idOrName);
  const lines = missing.map((line) => terminalSafe(line, MAX_LINE_CHARS));
  const comments = [...HEADING, ...lines.map((line) => `# - ${line}`)];
  const file = `${comments.join('\n')}\n\n${text}`;
  if (output === null) stdout.write(file);
  else await save(output, file);
  for (const line of lines) stderr.write(`vedette: not exported: ${line}\n`);
  return EXIT.ok;
}

async function save(path: string, text: string): Promise<void> {
  try {
    await replaceFile(path, text, { durable: false });
  } catch (error) {
    throw new VedetteError(
      'environment',
      'OUTPUT_FAILED',
      `--output ${path} cannot be written: ${messageOf(error)}`,
      { cause: error },
    );
  }
}
