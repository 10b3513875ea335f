import type { CheckFile } from '../../agent/source/file/check-file.ts';
import type { OwnVariable } from '../../model/check/variable.ts';
import type { FileEntry } from '../../model/check-file/sections.ts';
import { VedetteError } from '../../runtime/errors.ts';

const PLACEHOLDER = /\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}/g;
/** A Handlebars template of a webhook: its names are those of notices. */
const TEMPLATE = 'template';

/**
 * Fills in what `vedette apply --env-file` gives: `{{NAME}}` in the config of alert channels, except the
 * template of a webhook, and in secret values of the account's variables. So the file itself needs no secret.
 *
 * @param given the values of the env file
 * @throws VedetteError of kind `input`, code ENV_FILE_LACKS, with all names that have no value
 */
export function filledSecrets(
  checkFile: CheckFile,
  given: readonly OwnVariable[],
  envFile: string,
): CheckFile {
  const values = new Map(given.map(({ key, value }) => [key, value]));
  const lacking = new Set<string>();
  const fill = (text: string): string =>
    text.replace(PLACEHOLDER, (placeholder, name: string) => {
      const value = values.get(name);
      if (value === undefined) lacking.add(name);
      return value ?? placeholder;
    });
  const { variables, resources } = checkFile;
  const filled: CheckFile = {
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
  if (lacking.size === 0) return filled;
  const message = `${envFile} has no value for ${[...lacking].join(', ')}: the file has {{NAME}} of them in alert channels or secret variables`;
  throw new VedetteError('input', 'ENV_FILE_LACKS', message);
}

function filledChannel(entry: FileEntry, fill: (text: string) => string): FileEntry {
  return { ...entry, fields: { ...entry.fields, config: filledTexts(entry.fields.config, fill) } };
}

function filledTexts(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((each) => filledTexts(each, fill));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      key === TEMPLATE ? child : filledTexts(child, fill),
    ]),
  );
}
