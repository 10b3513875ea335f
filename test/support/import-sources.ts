import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { checkFileText } from '../../src/cli/import/common/check-file-text.ts';
import { parseSourceText } from '../../src/cli/import/common/source-file.ts';
import { importFiles } from '../../src/cli/import/import-files.ts';

const SOURCES = join(import.meta.dirname, 'import-sources');

/** The path of a configuration of another program, written for tests. */
export function importSource(name: string): string {
  return join(SOURCES, name);
}

export function importSourceText(name: string): string {
  return readFileSync(importSource(name), 'utf8');
}

/** The values of the check file that the sources should become. */
export function expectedImport(format: string): unknown {
  return parse(importSourceText(`${format}.expected.yaml`));
}

/** The output of `vedette import` for texts, by the names of their files. */
export function imported(
  texts: Readonly<Record<string, string>>,
  { probeModules = false }: { readonly probeModules?: boolean } = {},
) {
  const files = Object.entries(texts).map(([name, text]) => parseSourceText(text, name));
  const draft = importFiles(files, { format: null, probeModules });
  const text = checkFileText(draft, 'imported');
  return {
    text,
    value: parse(text) as unknown,
    lines: draft.report.lines(),
    leftOut: draft.report.leftOutCount,
    variables: draft.wantedVariables,
  };
}

/** The same of the sources with these names. */
export function importedSources(...names: readonly string[]) {
  return imported(Object.fromEntries(names.map((name) => [name, importSourceText(name)])));
}
