import { type DocumentPath, type ProblemList, pathText } from '../common/file-problem.ts';
import type { SourceDocument } from './document/document.ts';

/** Adds problems with their positions in a document. */
export interface ProblemReporter {
  /** @param of what the path belongs to, for example ` of check "shop"` */
  value(path: DocumentPath, of: string, message: string): void;
  /** The same for a key rather than for its value. */
  key(path: DocumentPath, of: string, message: string): void;
  /** The same for a key that must not be shown: the message follows the parent's path. */
  hiddenKey(path: DocumentPath, of: string, message: string): void;
}

export function createProblemReporter(
  document: SourceDocument,
  problems: ProblemList,
): ProblemReporter {
  return {
    value: (path, of, message) =>
      problems.add(pathText(path), of, message, () => document.locate(path)),
    key: (path, of, message) =>
      problems.add(pathText(path), of, message, () => document.locateKey(path)),
    hiddenKey: (path, of, message) =>
      problems.add(pathText(path.slice(0, -1)), of, message, () => document.locateKey(path)),
  };
}
