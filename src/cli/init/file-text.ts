import { CHECK_ID, freeCheckId } from '../../model/ids.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import { hostOf, type Target } from './target.ts';

export interface FirstFile {
  /** The name of the file, for the commands in its comments. */
  readonly file: string;
  readonly target: Target;
  /** One of FREQUENCIES, not 0. */
  readonly everyMinutes: number;
  /** Who gets alerts; null for nobody. */
  readonly email: string | null;
  /** Where editors find the JSON Schema: an address or a path. */
  readonly schema: string;
}

const CHANNEL_ID = 'me';
const CERTIFICATE_ASSERTION =
  '  #   - { source: CERTIFICATE, property: daysRemaining, comparison: GREATER_THAN, target: "14" }';
const ALERTS =
  '# Who is notified of failures. A service sends the alerts; emails need its SMTP_URL and SMTP_FROM.';

/** A check file with one check, and comments about further fields. */
export function firstFileText({ target, everyMinutes, email, ...given }: FirstFile): string {
  const name = hostOf(target);
  // Escaped, so that neither can end its comment.
  const [file, schema] = [terminalSafe(given.file), terminalSafe(given.schema)];
  return `# yaml-language-server: $schema=${schema}
#
# The checks of Vedette. Try them:
#   vedette validate ${file}     finds mistakes
#   vedette run ${file}          runs each check once
#   vedette up ${file}           runs them on their schedule, and shows the results in the browser
# All fields: vedette help checks

defaults: # for every check that does not set the field itself
  frequency: ${everyMinutes} # minutes between runs: 1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720 or 1440
  # A failed run is repeated once, at once. Or: repeat it up to 3 times, after 5, 10 and 15 s.
  # retryStrategy: { type: LINEAR, baseBackoffSeconds: 5, maxRetries: 3 }

checks:
  - id: ${JSON.stringify(idOf(name))}
    checkType: ${target.checkType} # URL, API, TCP, DNS or ICMP
    name: ${JSON.stringify(name)}
    # tags: [web] # to filter, to group, and for vedette trigger --tag
${checkLines(target)
  .map((line) => `    ${line}\n`)
  .join(
    '',
  )}${email === null ? '' : `    alertChannelSubscriptions: [{ alertChannelId: ${CHANNEL_ID} }]\n`}
# Values for {{NAME}} in checks. Keep secrets in another file: vedette run --env-file .env
# variables:
#   - { key: NAME, value: "..." }

${alertLines(email).join('\n')}
`;
}

/** The fields that differ by the type of the check. */
function checkLines(target: Target): readonly string[] {
  switch (target.checkType) {
    case 'URL':
      return [
        'degradedResponseTime: 3000 # ms: a slower response is degraded',
        'maxResponseTime: 5000 # ms: a slower response fails',
        'request:',
        `  url: ${JSON.stringify(target.url)}`,
        '  # Any status below 400 passes. To require more:',
        '  # assertions:',
        '  #   - { source: STATUS_CODE, comparison: EQUALS, target: "200" }',
        // Without TLS there is no certificate.
        ...(/^https:/i.test(target.url) ? [CERTIFICATE_ASSERTION] : []),
      ];
    case 'TCP':
      return [
        'degradedResponseTime: 3000 # ms: a slower connection is degraded',
        'maxResponseTime: 5000 # ms: a slower connection fails',
        'request:',
        `  hostname: ${JSON.stringify(target.hostname)}`,
        `  port: ${target.port}`,
        '  # Connecting is enough to pass. Or: send something, and expect a response.',
        '  # data: "PING\\r\\n"',
        '  # assertions:',
        '  #   - { source: RESPONSE_DATA, comparison: CONTAINS, target: PONG }',
      ];
    case 'ICMP':
      return [
        'degradedPacketLossThreshold: 10 # percent: this much or more is degraded',
        'maxPacketLossThreshold: 20 # percent: this much or more fails',
        'request:',
        `  hostname: ${JSON.stringify(target.hostname)}`,
        '  pingCount: 5',
        '  # assertions:',
        '  #   - { source: LATENCY, property: avg, comparison: LESS_THAN, target: "100" }',
      ];
  }
}

function alertLines(email: string | null): readonly string[] {
  const channel = [
    'alertChannels:',
    `  - id: ${CHANNEL_ID}`,
    '    type: EMAIL # or WEBHOOK, SLACK, TEAMS and others: vedette help alerts',
    `    config: { address: ${JSON.stringify(email ?? 'me@example.com')} }`,
  ];
  if (email !== null) return [ALERTS, ...channel];
  const use = `# Each check then also needs: alertChannelSubscriptions: [{ alertChannelId: ${CHANNEL_ID} }]`;
  return [ALERTS, use, ...channel.map((line) => `# ${line}`)];
}

/** Converts the host to an id: other characters become dashes. */
function idOf(host: string): string {
  const id = host
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 100);
  return CHECK_ID.test(id) ? freeCheckId(id) : 'first';
}
