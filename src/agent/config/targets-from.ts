import { extname } from 'node:path';
import { CHECK_ID } from '../../model/ids.ts';
import { listParser, type Parsed } from '../../runtime/config/parsers.ts';
import type { Variable } from '../../runtime/config/variable.ts';

/** A check of the file, and the document with its targets. */
export interface TargetsFrom {
  readonly checkId: string;
  readonly document: TargetDocument;
}

export type TargetDocument =
  /** file_sd of Prometheus; `*` in the name stands for any text. */
  | { readonly kind: 'file'; readonly path: string }
  /** http_sd of Prometheus. */
  | { readonly kind: 'url'; readonly url: URL };

const MAX_DOCUMENTS = 100;

export const TARGETS_FROM_VARIABLE: Variable<readonly TargetsFrom[]> = {
  name: 'TARGETS_FROM',
  default: null,
  whenUnset: [],
  meaning:
    'Checks of CHECKS_FILE whose targets come from documents of Prometheus (file_sd, http_sd): one check is made for each target. Only with CHECKS_FILE.',
  allowed: `a list of at most ${MAX_DOCUMENTS} CHECK=PATH or CHECK=URL, separated by commas or spaces, with the id of a check, and a path that ends with .json, .yml or .yaml and may have * in its name, for example shops=/etc/targets/*.json`,
  secret: false,
  parse: listParser(targetsFrom, MAX_DOCUMENTS),
};

/** The files that Prometheus takes, too. */
const EXTENSIONS: readonly string[] = ['.json', '.yml', '.yaml'];

/** `CHECK=PATH` or `CHECK=URL`. */
function targetsFrom(text: string): Parsed<TargetsFrom> {
  const at = text.indexOf('=');
  const [checkId, rest] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
  if (!CHECK_ID.test(checkId)) return { ok: false, culprit: text };
  if (/^https?:\/\//i.test(rest)) {
    const url = URL.canParse(rest) ? new URL(rest) : null;
    // Credentials in it would be logged.
    if (url === null || url.username !== '' || url.password !== '') {
      return { ok: false, culprit: `${checkId}=…` };
    }
    return { ok: true, value: { checkId, document: { kind: 'url', url } } };
  }
  const folder = rest.slice(0, rest.lastIndexOf('/') + 1);
  const isRight =
    EXTENSIONS.includes(extname(rest)) && !folder.includes('*') && !rest.includes('\0');
  if (!isRight) return { ok: false, culprit: text };
  return { ok: true, value: { checkId, document: { kind: 'file', path: rest } } };
}
