import type { CheckSet } from '../../agent/source/check-source.ts';
import type { CheckFile } from '../../agent/source/file/parse-check-file.ts';
import { compileTemplate, fillTemplate, namesIn } from '../../model/check/template.ts';
import type { OwnVariable } from '../../model/check/variable.ts';
import type { FileEntry } from '../../model/check-file/sections.ts';
import { VedetteError } from '../../runtime/errors.ts';

/** The field of a webhook's Handlebars template, whose names are filled in for each notice. */
export const TEMPLATE = 'template';
const MAX_NAMED = 20;

/** Where `vedette apply --env-file` fills in `{{NAME}}`, for messages. */
const WHERE = 'alert channels or secret variables';

/** A shorter value is no useful secret, and occurs in many texts. */
const MIN_SECRET_CHARS = 4;

/** The values of `--env-file`. */
export interface EnvFile {
  readonly path: string;
  readonly values: readonly OwnVariable[];
}

export interface FilledFile {
  readonly checkFile: CheckFile;
  /** Whether a text contains a value of the env file; all of these are secret. */
  readonly isSecret: (text: string) => boolean;
  /** The names without a value, which stay in the file as they are. */
  readonly lacking: readonly string[];
}

/**
 * Fills in the values of `vedette apply --env-file`: `{{NAME}}` in the config of alert channels, except in the
 * template of a webhook, and in secret values of the account's variables. The file itself then needs no secret.
 *
 * @param env null without the option: `{{NAME}}` is then an error, because it would replace the service's secret
 * @param isOptional whether a missing option is accepted although the file needs values, because nothing is written
 * @throws VedetteError of kind `input`, code ENV_FILE_LACKS, with the names that have no value
 */
export function filledSecrets(
  file: string,
  checkFile: CheckFile,
  env: EnvFile | null,
  { isOptional = false }: { readonly isOptional?: boolean } = {},
): FilledFile {
  const values = new Map((env?.values ?? []).map(({ key, value }) => [key, value]));
  const lacking = namesToFill(checkFile).filter((name) => !values.has(name));
  if (env === null && isOptional) return { checkFile, isSecret: () => false, lacking };
  if (lacking.length > 0) {
    const message =
      env === null
        ? `${file} has ${bracedText(lacking)} in ${WHERE}: give the values with --env-file`
        : `${env.path} has no value for ${listText(lacking)}, which ${WHERE} of ${file} need`;
    throw new VedetteError('input', 'ENV_FILE_LACKS', message);
  }
  const filledTexts = new Set<string>();
  const fill = (text: string): string => {
    const template = compileTemplate(text);
    if (template === null) return text;
    const filled = fillTemplate(template, ({ name }) => values.get(name) ?? '') ?? text;
    filledTexts.add(filled);
    return filled;
  };
  const secrets = [...values.values()].filter(({ length }) => length >= MIN_SECRET_CHARS);
  const isSecret = (text: string): boolean =>
    filledTexts.has(text) || secrets.some((secret) => text.includes(secret));
  return { checkFile: filledFile(checkFile, fill), isSecret, lacking };
}

/** The note about names without a value in a plan that is not written; null if there are none. */
export function notComparedNote(lacking: readonly string[]): string | null {
  if (lacking.length === 0) return null;
  const [have, they, them] =
    lacking.length === 1 ? ['has no value', 'it is', 'it'] : ['have no values', 'they are', 'them'];
  return `${bracedText(lacking)} in ${WHERE} ${have}: ${they} not compared; give ${them} with --env-file to compare ${them}`;
}

/** Whether the config of a channel, or a text of it, has names to fill in. */
export function hasNames(config: unknown): boolean {
  return textsIn(config).some((text) => namesIn(text).length > 0);
}

function filledFile(checkFile: CheckFile, fill: (text: string) => string): CheckFile {
  const { variables, resources } = checkFile;
  return {
    ...checkFile,
    variables: variables.map((variable) =>
      variable.secret ? { ...variable, value: fill(variable.value) } : variable,
    ),
    resources: {
      ...resources,
      sections: {
        ...resources.sections,
        alertChannels: resources.sections.alertChannels.map((entry) => filledChannel(entry, fill)),
      },
    },
  };
}

/** A note about a file whose values are not filled in; null if it needs none. */
export function unfilledNote(file: Pick<CheckSet, 'variables' | 'resources'>): string | null {
  const names = namesToFill(file);
  if (names.length === 0) return null;
  return `${bracedText(names)} in ${WHERE} of the file: only vedette apply --env-file gives values to them`;
}

/** The names that `filledSecrets` needs, each once. */
function namesToFill({
  variables,
  resources,
}: Pick<CheckSet, 'variables' | 'resources'>): readonly string[] {
  const channels = resources?.sections.alertChannels ?? [];
  const texts = [
    ...variables.flatMap(({ secret, value }) => (secret ? [value] : [])),
    ...channels.flatMap(({ fields }) => textsIn(fields.config)),
  ];
  return [...new Set(texts.flatMap(namesIn))];
}

function textsIn(value: unknown): readonly string[] {
  const texts: string[] = [];
  mappedTexts(value, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}

function filledChannel(entry: FileEntry, fill: (text: string) => string): FileEntry {
  return { ...entry, fields: { ...entry.fields, config: mappedTexts(entry.fields.config, fill) } };
}

/** Changes all texts in a value, except the template of a webhook. */
function mappedTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => mappedTexts(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      key === TEMPLATE ? child : mappedTexts(child, change),
    ]),
  );
}

function bracedText(names: readonly string[]): string {
  return listText(names.map((name) => `{{${name}}}`));
}

function listText(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return `${names.slice(0, MAX_NAMED).join(', ')}${more}`;
}
