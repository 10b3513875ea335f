import { isTrue, mappingOf, reportOthers, textOf } from '../common/fields.ts';
import { hostAndPort } from '../common/probe.ts';
import { below } from '../common/source-file.ts';
import { familyOf, type ModuleReader, SHARED_REASONS, TLS_REASONS } from './module-parts.ts';
import { readConversation } from './query-response.ts';

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
    ...(steps.length === 0 ? {} : { steps }),
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
