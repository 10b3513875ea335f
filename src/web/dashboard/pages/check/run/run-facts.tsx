import { bytes, counted, responseTime } from '../../../parts/formats.ts';
import { TimeText } from '../../../parts/time-text.tsx';
import { detailOf, type Result } from '../model.ts';
import type { Fact } from '../panel.tsx';

/** The facts about a run, without its phases. */
export function factsOf(result: Result): readonly (Fact | null)[] {
  const {
    apiCheckResult: http,
    tcpCheckResult,
    dnsCheckResult: dns,
    icmpCheckResult: icmp,
  } = result;
  const detail = detailOf(result);
  const response = http?.response ?? null;
  const tcp = http?.tcp ?? tcpCheckResult?.tcp ?? null;
  const lateMs = Date.parse(result.startedAt) - result.checkRunId;
  return [
    [
      'Slot',
      <>
        <TimeText at={result.checkRunId} form="full" />
        {result.attempts === 0 && lateMs >= 0 && `, started ${responseTime(lateMs)} later`}
      </>,
    ],
    ['Location', result.runLocation],
    response === null ? null : ['Status', `${response.status} ${response.statusText}`],
    response === null ? null : ['Resolved to', `${response.ip}, ${response.ipFamily}`],
    response === null ? null : ['Protocol', `HTTP/${response.httpVersion}`],
    tcpCheckResult?.response
      ? ['Resolved to', `${tcpCheckResult.response.address}, port ${tcpCheckResult.response.port}`]
      : null,
    dns?.response ? ['Response code', dns.response.responseCode] : null,
    dns?.response
      ? [
          'Name server',
          `${dns.response.nameServer.host}, port ${dns.response.nameServer.port}, ${dns.response.nameServer.protocol}`,
        ]
      : null,
    icmp?.response
      ? ['Resolved to', `${icmp.response.resolvedIp}, ${icmp.response.ipFamily}`]
      : null,
    icmp?.response ? ['Packet loss', `${icmp.response.packetLoss} %`] : null,
    icmp?.response ? ['Average latency', responseTime(icmp.response.latency.avg)] : null,
    ...familyFacts(http?.families ?? tcpCheckResult?.families ?? icmp?.families ?? []),
    tcp === null
      ? null
      : [
          tcp.peer === 'proxy' ? 'TCP to the proxy' : 'TCP',
          `round trip ${responseTime(tcp.rttMs)}, ${counted(tcp.retransmits, 'retransmission')}`,
        ],
    response === null ? null : ['Body', bytes(response.bodyBytes)],
    detail?.timing === undefined
      ? null
      : [
          'Clock',
          `${detail.timing.clock}${detail.timing.uncertaintyMs > 0 ? `, up to ${responseTime(detail.timing.uncertaintyMs)} too long` : ''}`,
        ],
  ];
}

type Families = NonNullable<NonNullable<Result['apiCheckResult']>['families']>;

/** The outcome of each address family, for a check with ANY or BOTH. */
function familyFacts(families: Families): readonly Fact[] {
  return families.map(({ ipFamily, address, outcome, responseTime: timeMs, requestError }) => {
    const took = timeMs === null || requestError !== null ? '' : ` in ${responseTime(timeMs)}`;
    const text = `${outcome}${took}`;
    const where = address === null ? text : `${text}, ${address}`;
    return [`Over ${ipFamily}`, requestError === null ? where : `${text}: ${requestError}`];
  });
}
