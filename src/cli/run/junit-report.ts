import type { Check } from '../../model/check/check.ts';
import { adviceOf } from '../../model/result/advice.ts';
import { MISSED_REASONS, type MissedSlots } from '../../model/result/missed-slots.ts';
import { reasonsOf } from '../../model/result/reasons.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { detailOf } from '../../model/result/result-summary.ts';
import { type RunResult, runResultOf } from '../../model/result/run-result.ts';
import { shortenedToBytes } from '../../runtime/text/cut-text.ts';
import { errorBodyOf } from '../print/pretty-result.ts';
import { xmlElement, xmlText } from './xml-text.ts';

/** The outcomes of test cases that consumers count. */
type Outcome = 'passed' | 'failures' | 'errors' | 'skipped';

interface TestCase {
  readonly outcome: Outcome;
  readonly xml: string;
}

interface Ended {
  readonly outcome: Outcome;
  readonly durationMs: number;
  /** Elements of its test case. */
  readonly content: readonly string[];
}

export interface JunitSuite {
  /** The check file. */
  readonly name: string;
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  /** All checks that may have results, including skipped ones. */
  readonly checks: readonly Check[];
}

const MAX_MESSAGE_BYTES = 1_000;
const MAX_TEXT_BYTES = 20_000;
const MAX_REASON_BYTES = 16_000;

/**
 * Collects the results of a run for a JUnit XML report: one test suite with a test case for each check.
 * A check that failed is a failure; one that could not be judged, was cancelled or missed is an error;
 * a degraded one passes.
 */
export class JunitReport {
  readonly #suite: JunitSuite;
  readonly #checks: ReadonlyMap<string, Check>;
  readonly #cases: TestCase[] = [];

  constructor(suite: JunitSuite) {
    this.#suite = suite;
    this.#checks = new Map(suite.checks.map((check) => [check.id, check]));
  }

  /** Adds a result. Ignores attempts that are retried. */
  result(result: CheckResult): void {
    if (result.resultType !== 'FINAL') return;
    const check = this.#checks.get(result.checkId);
    const ended = runResultOf(result);
    // Another type under the same id is another check.
    const same = check?.checkType === result.checkType ? check : null;
    const reasons = ended === 'passed' ? [] : reasonsOf(result, ended, same);
    const durationMs = result.responseTime;
    this.#add(result.checkId, result.name, { ...endOf(result, ended, reasons), durationMs });
  }

  missed({ checkId, reason }: MissedSlots): void {
    const name = this.#checks.get(checkId)?.name ?? checkId;
    const content = [problem('error', reason, [MISSED_REASONS[reason]])];
    this.#add(checkId, name, { outcome: 'errors', durationMs: 0, content });
  }

  /** Checks that are not activated. */
  skipped(checks: readonly Check[]): void {
    for (const { id, name } of checks) {
      const content = [xmlElement('skipped', { message: 'it is not activated' })];
      this.#add(id, name, { outcome: 'skipped', durationMs: 0, content });
    }
  }

  /** @param durationMs the duration of the whole run */
  xml(durationMs: number): string {
    const count = (outcome: Outcome): number =>
      this.#cases.filter((each) => each.outcome === outcome).length;
    const { name, startedAtMs } = this.#suite;
    const counts = {
      tests: this.#cases.length,
      failures: count('failures'),
      errors: count('errors'),
      skipped: count('skipped'),
      time: secondsOf(durationMs),
    };
    const timestamp = new Date(startedAtMs).toISOString().slice(0, 19);
    const cases = this.#cases.map(({ xml }) => `\n    ${xml}`);
    const suite = xmlElement('testsuite', { name, ...counts, timestamp }, [...cases, '\n  ']);
    const suites = xmlElement('testsuites', { name: 'vedette', ...counts }, [`\n  ${suite}\n`]);
    return `<?xml version="1.0" encoding="UTF-8"?>\n${suites}\n`;
  }

  #add(checkId: string, name: string, { outcome, durationMs, content }: Ended): void {
    const attributes = { name, classname: checkId, time: secondsOf(durationMs) };
    this.#cases.push({ outcome, xml: xmlElement('testcase', attributes, content) });
  }
}

/** How consumers count the outcome of a run, and the text that they show. */
function endOf(
  result: CheckResult,
  ended: RunResult,
  reasons: readonly string[],
): Pick<Ended, 'outcome' | 'content'> {
  const code = detailOf(result)?.requestErrorCode ?? ended.toUpperCase();
  switch (ended) {
    case 'passed':
      return { outcome: 'passed', content: [] };
    case 'degraded':
      return { outcome: 'passed', content: [xmlElement('system-out', {}, [textOf(reasons)])] };
    case 'failed':
      return { outcome: 'failures', content: [problem('failure', code, reasons, factsOf(result))] };
    case 'error':
    case 'cancelled':
      return { outcome: 'errors', content: [problem('error', code, reasons, factsOf(result))] };
  }
}

/** @param facts further lines of the text; CI systems often show nothing else about the run */
function problem(
  element: 'failure' | 'error',
  type: string,
  reasons: readonly string[],
  facts: readonly string[] = [],
): string {
  const message = shortenedToBytes(reasons[0] ?? '', MAX_MESSAGE_BYTES);
  // Cut, so that the facts fit after long reasons.
  const why = shortenedToBytes(reasons.join('\n'), MAX_REASON_BYTES);
  return xmlElement(element, { message, type }, [textOf([why, ...facts])]);
}

/** The target, the location, the beginning of an error response, and what to try. */
function factsOf(result: CheckResult): readonly string[] {
  const ended = runResultOf(result);
  const facts = [
    ['body', ended === 'failed' ? errorBodyOf(result) : null],
    ['target', targetOf(result)],
    ['location', result.runLocation],
    ['try', adviceOf(result)?.advice ?? null],
  ] as const;
  return facts.flatMap(([name, text]) =>
    text === null ? [] : [`${name}: ${shortenedToBytes(text, MAX_MESSAGE_BYTES)}`],
  );
}

function targetOf(result: CheckResult): string | null {
  const { apiCheckResult, tcpCheckResult, dnsCheckResult, icmpCheckResult } = result;
  if (apiCheckResult !== null)
    return `${apiCheckResult.request.method} ${apiCheckResult.request.url}`;
  if (tcpCheckResult !== null) {
    const { hostname, port } = tcpCheckResult.request;
    return `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
  }
  if (dnsCheckResult !== null) {
    const { query, recordType } = dnsCheckResult.request;
    return `${query} ${recordType}`;
  }
  return icmpCheckResult?.request.hostname ?? null;
}

function textOf(lines: readonly string[]): string {
  return xmlText(shortenedToBytes(lines.join('\n'), MAX_TEXT_BYTES));
}

function secondsOf(durationMs: number): string {
  return (durationMs / 1000).toFixed(6);
}
