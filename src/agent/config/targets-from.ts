import { extname } from 'node:path';
import { CHECK_ID } from '../../model/ids.ts';
import { listParser, type Parsed } from '../../runtime/config/parsers.ts';
import type { Variable } from '../../runtime/config/variable.ts';
import { percentDecoded } from '../../runtime/text/percent-decoded.ts';

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
/** Shorter values in the query of a URL are words, such as the name of a team. */
const SHORTEST_KEY_CHARS = 16;

export const TARGETS_FROM_VARIABLE: Variable<readonly TargetsFrom[]> = {
  name: 'TARGETS_FROM',
  default: null,
  whenUnset: [],
  meaning:
    'Checks of CHECKS_FILE whose targets come from documents of Prometheus (file_sd, http_sd): one check is made for each target. Only with CHECKS_FILE.',
  allowed: `a list of at most ${MAX_DOCUMENTS} CHECK=PATH or CHECK=URL, separated by commas or spaces, with the id of a check, and a path that ends with .json, .yml or .yaml and may have * in its name, for example shops=/etc/targets/*.json`,
  secret: false,
  parse: (text) => {
    const parsed = listParser(targetsFrom, MAX_DOCUMENTS)(text);
    // URLs may contain keys, also in what a comma separates from them by mistake.
    if (parsed.ok || !text.includes('://')) return parsed;
    const { checkId } = partsOf(parsed.culprit);
    return { ok: false, culprit: CHECK_ID.test(checkId) ? `${checkId}=…` : '…' };
  },
};

/** The extensions that Prometheus accepts. */
const EXTENSIONS: readonly string[] = ['.json', '.yml', '.yaml'];

/** Values in the queries of URLs that may be keys, as written and decoded. */
export function secretsOfTargetsFrom(rules: readonly TargetsFrom[]): readonly string[] {
  const values = rules.flatMap(({ document }) => {
    if (document.kind === 'file') return [];
    const written = document.url.search.slice(1).split('&');
    return written.map((pair) => pair.slice(pair.indexOf('=') + 1));
  });
  const keys = values.flatMap((value) => [value, percentDecoded(value.replaceAll('+', ' '))]);
  return [...new Set(keys)].filter(({ length }) => length >= SHORTEST_KEY_CHARS);
}

/** `CHECK=PATH` or `CHECK=URL`. */
function targetsFrom(text: string): Parsed<TargetsFrom> {
  const refused = { ok: false, culprit: text } as const;
  const { checkId, rest } = partsOf(text);
  if (!CHECK_ID.test(checkId)) return refused;
  if (/^https?:\/\//i.test(rest)) {
    const url = URL.canParse(rest) ? new URL(rest) : null;
    // Credentials in it would be logged.
    if (url === null || url.username !== '' || url.password !== '') return refused;
    return { ok: true, value: { checkId, document: { kind: 'url', url } } };
  }
  const folder = rest.slice(0, rest.lastIndexOf('/') + 1);
  const isRight =
    EXTENSIONS.includes(extname(rest)) && !folder.includes('*') && !rest.includes('\0');
  if (!isRight) return refused;
  return { ok: true, value: { checkId, document: { kind: 'file', path: rest } } };
}

function partsOf(text: string): { readonly checkId: string; readonly rest: string } {
  const at = text.indexOf('=');
  return { checkId: text.slice(0, Math.max(0, at)), rest: text.slice(at + 1) };
}
