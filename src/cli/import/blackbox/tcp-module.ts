import type { RawMapping } from '../../../agent/source/common/check-defaults.ts';
import type { StartTlsProtocol } from '../../../model/check/request/tcp.ts';
import { isTrue, listOf, mappingOf, reportOthers, textOf } from '../common/fields.ts';
import { lineInText, patternFromGo } from '../common/patterns.ts';
import { hostAndPort } from '../common/probe.ts';
import { below } from '../common/source-file.ts';
import {
  familyOf,
  type ModuleContext,
  type ModuleReader,
  SHARED_REASONS,
  TLS_REASONS,
} from './module-parts.ts';

interface Step {
  send: string | null;
  expect: string | null;
}

/** By what a probe sends or expects before TLS begins. */
const UPGRADES: readonly (readonly [RegExp, StartTlsProtocol])[] = [
  [/\b(?:EHLO|HELO|LHLO)\b|ESMTP/i, 'SMTP'],
  [/AUTH TLS/i, 'FTP'],
  [/\bSTLS\b/i, 'POP3'],
  [/jabber|xmpp/i, 'XMPP'],
  [/\bSTARTTLS\b/i, 'IMAP'],
];

export const tcpModule: ModuleReader = (section, context) => {
  const { origin, draft } = context;
  reportOthers(section, origin, draft.report, {
    handled: [
      'preferred_ip_protocol',
      'ip_protocol_fallback',
      'query_response',
      'tls',
      'tls_config',
    ],
    reasons: SHARED_REASONS,
  });
  const tls = mappingOf(section.tls_config);
  reportOthers(tls, below(origin, 'tls_config'), draft.report, {
    handled: ['insecure_skip_verify', 'server_name'],
    reasons: TLS_REASONS,
  });
  const conversation = readConversation(section, context);
  if (conversation === null) return null;
  const { steps, startTlsProtocol } = conversation;
  const serverName = textOf(tls.server_name);
  const tlsFields =
    startTlsProtocol !== null
      ? { tls: 'STARTTLS', startTlsProtocol }
      : isTrue(section.tls)
        ? { tls: 'ON' }
        : {};
  const request = {
    ...tlsFields,
    ...(serverName === null || serverName === '' ? {} : { serverName }),
    ...(isTrue(tls.insecure_skip_verify) ? { skipSSL: true } : {}),
    ...(steps.length === 0 ? {} : { steps: steps.map(shortStep) }),
  };
  return (target) => {
    const parsed = hostAndPort(target);
    if (parsed?.port === undefined || parsed.port === null) {
      return { why: 'its target has no port' };
    }
    const { hostname, port } = parsed;
    return {
      target: { type: 'TCP', request: { hostname, port, ...request } },
      assertions: [],
      shouldFail: false,
      ipFamily: familyOf(section),
    };
  };
};

function shortStep({ send, expect }: Step): object {
  return { ...(send === null ? {} : { send }), ...(expect === null ? {} : { expect }) };
}

/**
 * The steps of `query_response`. There a step expects first and sends then; here it is the other way
 * round. What stands before `starttls` is the upgrade, which the check makes itself.
 *
 * @returns null where the conversation cannot be carried over, which is reported
 */
function readConversation(
  section: RawMapping,
  context: ModuleContext,
): { readonly steps: readonly Step[]; readonly startTlsProtocol: StartTlsProtocol | null } | null {
  const { name, origin, draft } = context;
  const { report, variables } = draft;
  let steps: Step[] = [];
  let startTlsProtocol: StartTlsProtocol | null = null;
  for (const [index, raw] of listOf(section.query_response).entries()) {
    const at = below(origin, 'query_response', index);
    const given = mappingOf(raw);
    reportOthers(given, at, report, {
      handled: ['expect', 'send', 'starttls'],
      reasons: { labels: ['results have no labels', 'the job log shows what arrived'] },
    });
    const expect = textOf(given.expect);
    const send = textOf(given.send);
    if (expect !== null && expect !== '') {
      const pattern = patternFromGo(expect);
      if (pattern === null) {
        const why = 'the regular expression has no translation to the syntax of steps, JavaScript';
        report.leftOut(at, `${why}, so the module makes no checks`, 'write the check by hand');
        return null;
      }
      const last = steps.at(-1);
      if (last === undefined || last.expect !== null) steps.push({ send: null, expect: pattern });
      else last.expect = pattern;
    }
    if (send !== null && send !== '') {
      if (/\$(?:\d|\{)/.test(send)) {
        const why = 'steps cannot send what arrived before';
        report.leftOut(at, `${why}, so the module makes no checks`, 'write the check by hand');
        return null;
      }
      // The exporter ends each text with a line feed.
      steps.push({ send: `${variables.text(send, `${name}_SEND`)}\n`, expect: null });
    }
    if (isTrue(given.starttls)) {
      const said = steps.map((step) => `${step.expect ?? ''} ${step.send ?? ''}`).join('\n');
      startTlsProtocol = UPGRADES.find(([sign]) => sign.test(said))?.[1] ?? null;
      if (startTlsProtocol === null) {
        const why = 'the protocol of the upgrade to TLS is not recognised';
        report.leftOut(at, `${why}, so the module makes no checks`, 'set startTlsProtocol by hand');
        return null;
      }
      steps = [];
    }
  }
  const inText = steps.map(({ send, expect }) => ({
    send,
    expect: expect === null ? null : lineInText(expect),
  }));
  return { steps: inText, startTlsProtocol };
}
