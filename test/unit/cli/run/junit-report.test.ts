import { describe, expect, it } from 'vitest';
import { JunitReport } from '../../../../src/cli/run/junit-report.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { HTTP_DETAIL, resultOf } from '../../../support/samples/http-results.ts';
import { childrenOf, type XmlElement, xmlTree } from '../../../support/xml-tree.ts';

const CHECKS = ['shop', 'mail', 'off'].map((id) => checkOf('URL', { id, name: `The ${id}` }));
const [, , OFF] = CHECKS;
const START = Date.UTC(2026, 0, 31, 12, 0, 0);

const started = () => new JunitReport({ name: 'checks.yaml', startedAtMs: START, checks: CHECKS });
const suiteOf = (report: JunitReport): XmlElement => {
  const [suite] = childrenOf(xmlTree(report.xml(1_234.5)), 'testsuite');
  if (suite === undefined) throw new Error('there is no suite');
  return suite;
};
const REFUSED = {
  ...HTTP_DETAIL,
  response: null,
  requestError: 'it refused the connection',
  requestErrorCode: 'CONNECT_REFUSED' as const,
};

describe('the JUnit report of a run', () => {
  it('counts each check once, by how it ended', () => {
    const report = started();
    report.result(resultOf({ resultType: 'ATTEMPT', hasFailures: true }));
    report.result(resultOf({ attempts: 1 }));
    report.result(resultOf({ isDegraded: true }));
    report.result(resultOf({ hasFailures: true, apiCheckResult: REFUSED }));
    report.result(resultOf({ hasErrors: true, apiCheckResult: REFUSED }));
    report.result(resultOf({ isCancelled: true }));
    report.missed({ checkId: 'mail', slot: 0, lastSlot: 0, count: 1, reason: 'agent_starved' });
    report.skipped(OFF === undefined ? [] : [OFF]);
    const suite = suiteOf(report);
    expect(suite.attributes).toEqual({
      ...{ name: 'checks.yaml', tests: '7', failures: '1', errors: '3', skipped: '1' },
      ...{ time: '1.234500', timestamp: '2026-01-31T12:00:00' },
    });
    const cases = childrenOf(suite, 'testcase');
    expect(cases.map(({ children }) => children.map(({ name }) => name))).toEqual([
      [],
      ['system-out'],
      ['failure'],
      ['error'],
      ['error'],
      ['error'],
      ['skipped'],
    ]);
    expect(cases[0]?.attributes).toEqual({ name: 'Shop', classname: 'shop', time: '0.011750' });
    expect(cases[2]?.children[0]).toMatchObject({
      attributes: {
        message: 'CONNECT_REFUSED: it refused the connection',
        type: 'CONNECT_REFUSED',
      },
      text: expect.stringMatching(/^CONNECT_REFUSED: it refused the connection\ntarget: /),
    });
    expect(cases[4]?.children[0]?.attributes.message).toBe('the run was cancelled');
    expect(cases[5]?.attributes.name).toBe('The mail');
    expect(cases[5]?.children[0]?.attributes.type).toBe('agent_starved');
  });

  it('is well-formed whatever a target answers, and has none of its control characters', () => {
    const evil = `]]>&amp;<a b="c'\u0000\u0007\u001b[2J\u007f\u009b\ud800\ufffe\uffff\n😀${'x'.repeat(50_000)}`;
    const report = started();
    const apiCheckResult = { ...REFUSED, requestError: evil };
    report.result(resultOf({ name: evil, hasFailures: true, apiCheckResult }));
    const [only] = childrenOf(suiteOf(report), 'testcase');
    expect(only?.attributes.name?.startsWith(`]]>&amp;<a b="c'[2J\n😀xxx`)).toBe(true);
    const failure = only?.children[0];
    expect(failure?.text).toMatch(/^CONNECT_REFUSED: \]\]>&amp;<a b="c'\[2J\n😀x+…/u);
    expect(failure?.text.length).toBeLessThan(20_100);
    expect(failure?.text).toMatch(/…\ntarget: .*\nlocation: .*\ntry: .*$/);
    expect(failure?.attributes.message?.length).toBeLessThan(1_100);
  });

  it('is complete for a run without checks', () => {
    expect(suiteOf(started()).attributes).toMatchObject({ tests: '0', failures: '0' });
  });
});
