import type { Command } from 'commander';
import { loadHandbook, pageOf } from '../../handbook/handbook.ts';
import { nearestTopics } from '../../handbook/nearest-topics.ts';
import type { TextStyle } from '../../handbook/terminal/spans.ts';
import { topicText } from '../../handbook/terminal/topic-text.ts';
import { TOPIC_GROUPS, TOPICS } from '../../handbook/topics.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { nearestName } from '../../runtime/text/nearest-name.ts';
import { paletteFor, wantsColour } from '../print/colour.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import type { Terminal } from '../terminal.ts';

/** Maximum width, because longer lines are hard to read. Also the width of output to a file or a pipe. */
const MAX_COLUMNS = 100;
const MIN_COLUMNS = 40;
const MAX_SHOWN_CHARS = 60;
const MAX_HINTS = 3;

/**
 * Prints the help of a command, a topic of the handbook, or the list of both.
 *
 * @param names a command with its subcommands, or a topic
 * @throws CommanderError after the help of a command, with exit code 0
 * @throws VedetteError where there is neither such a command nor such a topic
 */
export async function helpCommand(
  names: readonly string[],
  program: Command,
  { stdout, env }: Pick<Terminal, 'stdout' | 'env'>,
): Promise<void> {
  const isColoured = wantsColour(stdout, env);
  const { strong, faint, good } = paletteFor(isColoured);
  if (names.length === 0) {
    stdout.write(`${program.helpInformation()}\n${topicList(strong)}`);
    return;
  }
  const command = commandOf(program, names);
  if (command !== null) command.help();
  const [name = ''] = names;
  if (names.length > 1 || TOPICS.every((topic) => topic.name !== name)) {
    throw unknownName(names, program);
  }
  const page = pageOf(await loadHandbook(), name);
  const style: TextStyle = { strong, faint, code: good, codeMark: isColoured ? '' : '`' };
  const columns = stdout.isTTY === true ? (stdout.columns ?? MAX_COLUMNS) : MAX_COLUMNS;
  const width = Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, columns));
  if (page !== null) stdout.write(topicText(page, width, style));
}

function commandOf(program: Command, names: readonly string[]): Command | null {
  let command: Command | undefined = program;
  for (const name of names) {
    command = command.commands.find((each) => each.name() === name);
    if (command === undefined) return null;
  }
  return command;
}

function topicList(strong: (text: string) => string): string {
  const width = Math.max(
    ...TOPIC_GROUPS.flatMap(({ topics }) => topics.map(({ name }) => name.length)),
  );
  const groups = TOPIC_GROUPS.map(({ title, topics }) => {
    const rows = topics.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
    return [strong(`${title}:`), ...rows].join('\n');
  });
  return `Topics of the handbook, which \`vedette help TOPIC\` prints:\n\n${groups.join('\n\n')}\n`;
}

function unknownName(names: readonly string[], program: Command): VedetteError {
  const given = names.join(' ');
  const commands = program.commands.map((command) => command.name());
  const command = nearestName(given, commands);
  const topics = names.length > 1 ? [] : nearestTopics(given).map(({ name }) => name);
  const nearest = [...(command === null ? [] : [command]), ...topics].slice(0, MAX_HINTS);
  const hint = nearest.length === 0 ? '' : ` (did you mean ${nearest.join(' or ')}?)`;
  return new VedetteError(
    'usage',
    'UNKNOWN_TOPIC',
    `no command or topic is named '${terminalSafe(given, MAX_SHOWN_CHARS)}'${hint}; vedette help lists them all`,
  );
}
