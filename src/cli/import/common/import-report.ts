import { pathText } from '../../../agent/source/common/file-problem.ts';
import type { Origin } from './source-file.ts';

/** Maximum number of lines; further ones are only counted. */
const MAX_LINES = 1000;

/**
 * Collects what an import left out or changed. Texts name fields, hosts and types, but never contain a value
 * that may be a secret.
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

  /** Reports something that was imported with a change. */
  changed(origin: Origin, what: string): void {
    this.#add(origin, `changed: ${what}`);
  }

  /** Reports something that is not a check, or that needs no action. */
  note(origin: Origin, what: string): void {
    this.#add(origin, `note: ${what}`);
  }

  /** In the order in which they were found. */
  lines(): readonly string[] {
    if (this.#omitted === 0) return [...this.#lines];
    return [...this.#lines, `and ${this.#omitted} more`];
  }

  /** Returns false for a repeated line, since many targets share a module. */
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
