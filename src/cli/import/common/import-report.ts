import { pathText } from '../../../agent/source/common/file-problem.ts';
import type { Origin } from './source-file.ts';

/** More would not be read; the rest is counted. */
const MAX_LINES = 1000;

/**
 * What an import did not carry over, or changed. Texts name fields, hosts and types; they never
 * repeat a value that may be a secret.
 */
export class ImportReport {
  readonly #lines = new Set<string>();
  #omitted = 0;
  #leftOut = 0;

  /** The number of things that are not in the check file. */
  get leftOutCount(): number {
    return this.#leftOut;
  }

  /** @param why continues `left out: `; @param advice what the user can do instead */
  leftOut(origin: Origin, why: string, advice: string): void {
    if (this.#add(origin, `left out: ${why}; ${advice}`)) this.#leftOut += 1;
  }

  /** Something that is in the check file, but not exactly as it was. */
  changed(origin: Origin, what: string): void {
    this.#add(origin, `changed: ${what}`);
  }

  /** Something that never was a check, or for which nothing is needed. */
  note(origin: Origin, what: string): void {
    this.#add(origin, `note: ${what}`);
  }

  /** In the order in which they were found. */
  lines(): readonly string[] {
    if (this.#omitted === 0) return [...this.#lines];
    return [...this.#lines, `and ${this.#omitted} more`];
  }

  /** False if the same line is known: many targets share what was left out of their module. */
  #add({ file, path }: Origin, text: string): boolean {
    const line = file.lineAt(path);
    const at = line === null ? file.name : `${file.name}:${line}`;
    const entry = path.length === 0 ? `${at}: ${text}` : `${at}: ${pathText(path)}: ${text}`;
    if (this.#lines.has(entry)) return false;
    if (this.#lines.size < MAX_LINES) this.#lines.add(entry);
    else this.#omitted += 1;
    return true;
  }
}
