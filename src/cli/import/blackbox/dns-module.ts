import type { RawMapping } from '../../../agent/source/common/raw-mapping.ts';
import type { Assertion } from '../../../model/check/assertions/assertion.ts';
import { DNS_RECORD_TYPES } from '../../../model/check/request/dns.ts';
import { assertion } from '../common/assertions.ts';
import { isTrue, mappingOf, type Reason, reportOthers, textOf, textsOf } from '../common/fields.ts';
import { hostAndPort } from '../common/probe.ts';
import { below } from '../common/source-file.ts';
import {
  type ModuleContext,
  type ModuleReader,
  patternOf,
  SHARED_REASONS,
  TLS_REASONS,
} from './module-parts.ts';

const SECTION: Reason = [
  'assertions match patterns with the whole answer, not with records of one section',
  'assert on JSON_ANSWER, for example $.Authority[0].data',
];
const REASONS: Readonly<Record<string, Reason>> = {
  ...SHARED_REASONS,
  validate_authority_rrs: SECTION,
  validate_additional_rrs: SECTION,
  query_class: ['checks ask for the class IN', 'no check asks for another class'],
};
const EACH_RECORD: Reason = [
  'assertions match patterns with the whole answer, not with each record',
  'assert on JSON_ANSWER with $.Answer[*].data, which all records must meet',
];

export const dnsModule: ModuleReader = (section, context) => {
  const { origin, draft } = context;
  const { report } = draft;
  reportOthers(section, origin, report, {
    handled: [
      ...['preferred_ip_protocol', 'ip_protocol_fallback', 'transport_protocol', 'dns_over_tls'],
      ...['query_name', 'query_type', 'valid_rcodes', 'validate_answer_rrs', 'tls_config'],
      ...['recursion_desired', ...(section.query_class === 'IN' ? ['query_class'] : [])],
    ],
    reasons: REASONS,
  });
  if (section.recursion_desired !== undefined && !isTrue(section.recursion_desired)) {
    const why = 'the questions of checks desire recursion';
    report.leftOut(below(origin, 'recursion_desired'), why, 'nothing is needed for most servers');
  }
  const tls = mappingOf(section.tls_config);
  reportOthers(tls, below(origin, 'tls_config'), report, {
    handled: ['insecure_skip_verify', 'server_name'],
    reasons: TLS_REASONS,
  });
  const recordType = (textOf(section.query_type) ?? 'ANY').toUpperCase();
  if (!DNS_RECORD_TYPES.some((known) => known === recordType)) {
    const why = `checks do not ask for the record type ${recordType.slice(0, 20)}, so the module makes no checks`;
    report.leftOut(
      below(origin, 'query_type'),
      why,
      'choose one of the record types of DNS checks',
    );
    return null;
  }
  const isTls = isTrue(section.dns_over_tls);
  const protocol = isTls
    ? 'DOT'
    : (textOf(section.transport_protocol) ?? 'udp').toUpperCase().slice(0, 3);
  const serverName = textOf(tls.server_name);
  const assertions = [...codeAssertions(section), ...answerAssertions(section, context)];
  return (target) => {
    const parsed = hostAndPort(target);
    if (parsed === null) return { why: 'its target is not a name server' };
    const request = {
      query: textOf(section.query_name) ?? '',
      recordType,
      nameServer: parsed.hostname,
      ...(parsed.port === null ? {} : { port: parsed.port }),
      ...(protocol === 'UDP' ? {} : { protocol }),
      ...(isTls && serverName !== null ? { serverName } : {}),
      ...(isTls && isTrue(tls.insecure_skip_verify) ? { skipSSL: true } : {}),
    };
    return { target: { type: 'DNS', request }, assertions, shouldFail: false, ipFamily: 'ANY' };
  };
};

function codeAssertions(section: RawMapping): readonly Assertion[] {
  const codes = textsOf(section.valid_rcodes).map((code) => code.toUpperCase());
  const [only] = codes;
  if (only === undefined || (codes.length === 1 && only === 'NOERROR')) return [];
  if (codes.length === 1) return [assertion('RESPONSE_CODE', 'EQUALS', only)];
  const list = codes.filter((code) => /^\w+$/.test(code)).join('|');
  return [assertion('RESPONSE_CODE', 'NOT_NULL', '', { regex: `^(?:${list})$` })];
}

function answerAssertions(section: RawMapping, context: ModuleContext): readonly Assertion[] {
  const { origin, draft } = context;
  const field = 'validate_answer_rrs';
  const rules = mappingOf(section[field]);
  reportOthers(rules, below(origin, field), draft.report, {
    handled: ['fail_if_matches_regexp', 'fail_if_none_matches_regexp'],
    reasons: { fail_if_all_match_regexp: EACH_RECORD, fail_if_not_matches_regexp: EACH_RECORD },
  });
  const of = (rule: string, comparison: 'IS_NULL' | 'NOT_NULL') =>
    textsOf(rules[rule]).flatMap((text, index) => {
      const path = [field, rule, index];
      // The answer of a check has the layout of dig, with more than one tab between columns.
      if (/[\t^$]|\\t/.test(text)) {
        draft.report.leftOut(below(origin, ...path), ...EACH_RECORD);
        return [];
      }
      const regex = patternOf(text, path, context);
      if (regex === null) return [];
      draft.report.changed(
        below(origin, ...path),
        'the pattern is compared with the whole answer as dig prints it',
      );
      return [assertion('TEXT_ANSWER', comparison, '', { regex })];
    });
  return [
    ...of('fail_if_matches_regexp', 'IS_NULL'),
    ...of('fail_if_none_matches_regexp', 'NOT_NULL'),
  ];
}
