import { Document, isCollection, isMap, isScalar } from 'yaml';
import { terminalSafe } from '../../print/terminal-safe.ts';
import { type Draft, type DraftEntry, IMPORTED_DEFAULTS } from './draft.ts';

const INTRODUCTION = [
  'Made by `vedette import`. What it left out or changed stands in its messages. Next:',
  '  vedette validate FILE   finds mistakes',
  '  vedette run FILE        runs each check once',
];

/** Formats the draft as a check file in YAML, with a comment about the origin of each entry. */
export function checkFileText({ checks, groups, heartbeats, wantedVariables }: Draft): string {
  const sections = { groups, heartbeats, checks };
  const filled = Object.entries(sections).filter(([, entries]) => entries.length > 0);
  const content = Object.fromEntries(
    filled.map(([name, entries]) => [name, entries.map(({ entry }) => entry)]),
  );
  const document = new Document(
    { ...(checks.length === 0 ? {} : { defaults: IMPORTED_DEFAULTS }), ...content },
    { aliasDuplicateObjects: false },
  );
  for (const [name, entries] of filled) comment(document.get(name), entries);
  const wanted = wantedVariables.map(({ name, meaning }) => `  ${name}: ${meaning}`);
  const list =
    wanted.length === 0
      ? []
      : [
          '',
          'Set these variables (VARIABLES_FROM_ENV or VARIABLES_DIR of the agent, vedette run --env-file,',
          'or variables of the account); their values are not in this file:',
          ...wanted,
        ];
  document.commentBefore = [...INTRODUCTION, ...list].map(commentLine).join('\n');
  return document.toString({ lineWidth: 0, singleQuote: false });
}

function comment(section: unknown, entries: readonly DraftEntry[]): void {
  if (!isCollection(section)) return;
  for (const [index, { comment: text }] of entries.entries()) {
    const item = section.items[index];
    if (isMap(item) || isScalar(item)) item.commentBefore = commentLine(text);
  }
}

/** Escapes a text so that it cannot end the comment. */
function commentLine(text: string): string {
  return text === '' ? '' : ` ${terminalSafe(text)}`;
}
