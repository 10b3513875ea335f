import { describe, expect, it } from 'vitest';
import { assertionInput } from '../../../../../src/agent/assertions/assertion-sources.ts';
import {
  evaluateAssertion,
  parseJson,
} from '../../../../../src/agent/assertions/evaluate-assertion.ts';
import { parseCheckFile } from '../../../../../src/agent/source/file/parse-check-file.ts';
import { imported } from '../../../../support/import-sources.ts';

const RIGHT = 'shop.example.\t\t300\tIN\tA\t10.0.0.1';
const OTHER = 'shop.example.\t\t300\tIN\tA\t10.0.0.2';
const WRONG = 'shop.example.\t\t300\tIN\tA\t192.0.2.9';
const ALIAS = 'www.shop.example.\t300\tIN\tCNAME\tshop.example.';

/** An answer as TEXT_ANSWER has it. */
function answerOf(records: readonly string[]): string {
  const answer = records.length === 0 ? [] : [';; ANSWER SECTION:', ...records, ''];
  return [
    ...[';; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: 1', ''],
    ...[';; QUESTION SECTION:', ';shop.example.\t\t\tIN\tA', ''],
    ...answer,
    ...[';; AUTHORITY SECTION:', 'shop.example.\t\t3600\tIN\tNS\tns1.shop.example.', ''],
    ...[';; Query time: 1 msec', ''],
  ].join('\n');
}

function importedModule(rules: object) {
  const dns = { query_name: 'shop.example', query_type: 'A', ...rules };
  const module = `modules:\n  names: { prober: dns, dns: ${JSON.stringify(dns)} }\n`;
  return imported({ 'b.yml': module }, { probeModules: true });
}

async function passes(rules: object, records: readonly string[]): Promise<boolean> {
  const [check] = (await parseCheckFile(importedModule(rules).text, 'checks.yaml')).checks;
  if (check?.checkType !== 'DNS') throw new Error('no check');
  const source = { kind: 'text', text: answerOf(records) } as const;
  return check.request.assertions.every((each) => {
    const { error } = evaluateAssertion(each, assertionInput(each, source), parseJson);
    return error === null;
  });
}

describe('rules about the records of an answer', () => {
  const answer = (rule: string, ...patterns: readonly string[]) => ({
    validate_answer_rrs: { [rule]: patterns },
  });
  const matches = answer('fail_if_matches_regexp', '192\\.0\\.2\\.', '\\tTXT\\t');
  const notMatches = answer('fail_if_not_matches_regexp', '10\\.0\\.0\\.(1|2)');
  const columns = answer('fail_if_not_matches_regexp', '^shop.example.\t.*\tIN\tA\t10.*$');
  const anyCase = answer('fail_if_not_matches_regexp', '(?i)^SHOP\\.example\\.\\t');
  const none = answer('fail_if_none_matches_regexp', '10\\.0\\.0\\.7', '\\t10\\.0\\.0\\.1$');
  const authority = {
    validate_authority_rrs: { fail_if_not_matches_regexp: ['\\tNS\\tns1\\.shop\\.example\\.'] },
  };
  const foreign = { validate_authority_rrs: { fail_if_matches_regexp: ['ns1'] } };
  const additional = { validate_additional_rrs: { fail_if_none_matches_regexp: ['10\\.'] } };

  it.each([
    [matches, [RIGHT, OTHER], true],
    [matches, [RIGHT, WRONG], false],
    [matches, [], true],
    [notMatches, [RIGHT, OTHER], true],
    [notMatches, [RIGHT, WRONG], false],
    [notMatches, [WRONG, RIGHT], false],
    [notMatches, [], false],
    [columns, [RIGHT, OTHER], true],
    [columns, [ALIAS, RIGHT], false],
    [anyCase, [RIGHT, WRONG], true],
    [anyCase, [ALIAS, RIGHT], false],
    [none, [WRONG, RIGHT], true],
    [none, [WRONG, OTHER], false],
    [none, [], false],
    [authority, [], true],
    [foreign, [RIGHT], false],
    [additional, [RIGHT], false],
  ])('%j of %j decide as in the exporter: %j', async (rules, records, isPassed) => {
    expect(await passes(rules, records)).toBe(isPassed);
  });

  it('are reported as compared with the lines of their section, and not as left out', () => {
    const { lines, leftOut } = importedModule({ ...none, ...authority });
    expect(lines).toEqual([
      expect.stringMatching(/validate_answer_rrs: changed: .* each line of the ANSWER SECTION/),
      expect.stringMatching(/validate_authority_rrs: changed: .* the AUTHORITY SECTION/),
    ]);
    expect(leftOut).toBe(0);
  });

  it.each([
    [answer('fail_if_all_match_regexp', '10\\.'), 'assertions have no such rule about records'],
    [answer('fail_if_not_matches_regexp', '\\Qa.b\\E'), 'has no translation to the syntax'],
    [answer('fail_if_none_matches_regexp', '(?i)a', 'b'), 'has no translation to the syntax'],
  ])('without a translation make no check, which would pass always: %j', (rules, why) => {
    const { value, lines, leftOut } = importedModule(rules);
    expect(value).toEqual({ name: 'imported' });
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`left out: .*${why}.*, so the module`)),
    ]);
    expect(leftOut).toBe(1);
  });
});
