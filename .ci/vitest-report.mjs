// Reads what Vitest's JSON reporter wrote.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * @typedef {{ name: string, file: string, message: string }} Failure `name` is null where the file itself
 *   failed: it could not be loaded, or a hook failed
 * @typedef {{ passed: number, skipped: number, failures: Failure[] }} TestReport
 */

/** @returns {TestReport | null} null where there is no report, since Vitest broke before it could write one */
export function readTestReport(path) {
  if (!existsSync(path)) return null;
  const report = JSON.parse(readFileSync(path, 'utf8'));
  const files = report.testResults.map(({ name, message, status, assertionResults }) => ({
    file: relative(process.cwd(), name),
    message,
    hasFailed: status === 'failed',
    failures: assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => ({ name: test.fullName, message: test.failureMessages.join('\n') })),
  }));
  return {
    passed: report.numPassedTests,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: files.flatMap(({ file, message, hasFailed, failures }) => {
      const own = hasFailed && failures.length === 0 ? [{ name: null, message }] : failures;
      return own.map((failure) => ({ file, ...failure }));
    }),
  };
}
