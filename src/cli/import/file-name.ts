import { basename } from 'node:path';
import { CHECK_ID } from '../../model/ids.ts';
import type { SourceFile } from './common/source-file.ts';
import { kindOf } from './file-kind.ts';

const ENDING = /\.(?:ya?ml|json)$/i;
const MAX_CHARS = 100;

/**
 * The `name` of an imported check file: that of the file to write, else the format of the first source. With a
 * name, `vedette apply` refuses checks that a file with another name has made.
 *
 * @param output the path of the file to write; null for stdout
 */
export function importedFileName(output: string | null, [first]: readonly SourceFile[]): string {
  const ofOutput = output === null ? '' : nameIn(basename(output).replace(ENDING, ''));
  if (CHECK_ID.test(ofOutput)) return ofOutput;
  const kind = first === undefined ? null : kindOf(first);
  return kind === null || kind === 'modules' || kind === 'scrape-jobs' ? 'blackbox' : kind;
}

function nameIn(text: string): string {
  return text
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, MAX_CHARS);
}
