// Reads what Vitest's JSON reporter wrote.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * @typedef {{ file: string, name: string | null, message: string }} Failure `name` is null if the file
 *   itself failed: it could not be loaded, or a hook failed
 * @typedef {{ file: string, name: string }} SkippedTest
 * @typedef {{ file: string, seconds: number, passed: number, skipped: SkippedTest[], failures: Failure[] }} FileReport
 */

/** @returns {FileReport[] | null} null if there is no whole report: Vitest broke before it could write one */
export function readTestReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).testResults.map(fileReport);
  } catch (error) {
    if (error instanceof SyntaxError || error.code === 'ENOENT') return null;
    throw error;
  }
}

function fileReport({ name, message, status, startTime, endTime, assertionResults }) {
  const file = relative(process.cwd(), name);
  const skipped = assertionResults
    .filter((test) => test.status !== 'passed' && test.status !== 'failed')
    .map((test) => ({ file, name: test.fullName }));
  const failures = assertionResults
    .filter((test) => test.status === 'failed')
    .map((test) => ({ file, name: test.fullName, message: test.failureMessages.join('\n') }));
  // After a hook that failed its tests count as skipped.
  const isFailedOutside = status === 'failed' && failures.length === 0;
  return {
    file,
    seconds: Math.round((endTime - startTime) / 1000),
    passed: assertionResults.filter((test) => test.status === 'passed').length,
    skipped: isFailedOutside ? [] : skipped,
    failures: isFailedOutside
      ? [{ file, name: null, message: message || 'a hook failed' }]
      : failures,
  };
}
