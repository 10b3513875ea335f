import type { RawMapping } from '../../../agent/source/common/raw-mapping.ts';
import type { Assertion } from '../../../model/check/assertions/assertion.ts';
import { DNS_RECORD_TYPES } from '../../../model/check/request/dns.ts';
import { assertion } from '../common/assertions.ts';
import { isTrue, mappingOf, type Reason, reportOthers, textOf, textsOf } from '../common/fields.ts';
import { hostAndPort } from '../common/probe.ts';
import { below } from '../common/source-file.ts';
import { RECORD_FIELDS, recordAssertions } from './dns-records.ts';
import { type ModuleReader, SHARED_REASONS, TLS_REASONS } from './module-parts.ts';

const REASONS: Readonly<Record<string, Reason>> = {
  ...SHARED_REASONS,
  query_class: ['checks ask for the class IN', 'no check asks for another class'],
};

export const dnsModule: ModuleReader = (section, context) => {
  const { origin, draft } = context;
  const { report } = draft;
  reportOthers(section, origin, report, {
    handled: [
      ...['preferred_ip_protocol', 'ip_protocol_fallback', 'transport_protocol', 'dns_over_tls'],
      ...['query_name', 'query_type', 'valid_rcodes', ...RECORD_FIELDS, 'tls_config'],
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
  const ofRecords = recordAssertions(section, context);
  if (ofRecords === null) return null;
  const assertions = [...codeAssertions(section), ...ofRecords];
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
