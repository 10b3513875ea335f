import type { Traceroute, TracerouteHop } from '../../../model/result/traceroute.ts';

/** Longer names push the columns of their own line to the right. */
const MAX_SOURCE_CHARS = 48;

/**
 * A trace as text: a title, headings, a line per hop, and how it ended. Times are in milliseconds;
 * `*` and `-` mean no answer.
 */
export function tracerouteText(traceroute: Traceroute): string {
  const { hostname, resolvedIp, hops } = traceroute;
  const target = hostname === resolvedIp ? resolvedIp : `${hostname} (${resolvedIp})`;
  const longest = Math.max(4, ...hops.map((hop) => sourceText(hop).length));
  const width = Math.min(longest, MAX_SOURCE_CHARS);
  const rows = hops.map((hop) =>
    rowText(String(hop.hop), sourceText(hop).padEnd(width), cells(hop)),
  );
  const headings = rowText('hop', 'from'.padEnd(width), HEADINGS);
  return `${[`traceroute to ${target}`, headings, ...rows, endText(traceroute)].join('\n')}\n`;
}

const HEADINGS = ['loss', 'sent', 'last ms', 'avg', 'best', 'worst', 'stddev'] as const;
const WIDTHS = [6, 4, 9, 9, 9, 9, 9] as const;

function rowText(number: string, source: string, texts: readonly string[]): string {
  const padded = texts.map((text, index) => text.padStart(WIDTHS[index] ?? 0));
  return [number.padStart(3), source, ...padded].join(' ');
}

function sourceText({ address, host }: TracerouteHop): string {
  if (address === null) return '*';
  return host === null ? address : `${host} (${address})`;
}

function cells(hop: TracerouteHop): readonly string[] {
  const times = [hop.lastMs, hop.avgMs, hop.bestMs, hop.worstMs, hop.stdDevMs];
  return [
    `${Math.round(hop.lossPercent)}%`,
    String(hop.sent),
    ...times.map((time) => (time === null ? '-' : time.toFixed(3))),
  ];
}

function endText({ destinationReached, truncationReason }: Traceroute): string {
  if (destinationReached) return 'the destination answers';
  return `ends before the destination: ${truncationReason ?? 'unknown'}`;
}
