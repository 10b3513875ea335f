import { patternOf } from './facts.ts';

/**
 * The labels of the fields that the form shows. The other facts about a field come from the OpenAPI document. A
 * test fails for a field of the document that is neither here nor in LEFT_TO_YAML.
 */
export const LABELS: Readonly<Record<string, string>> = {
  name: 'Name',
  description: 'Description',
  'request.url': 'URL',
  'request.method': 'Method',
  'request.hostname': 'Host',
  'request.port': 'Port',
  'request.data': 'Data to send',
  'request.steps[].send': 'Data of the step',
  'request.steps[].expect': 'What the step expects',
  'request.steps[].format': 'Format of the step',
  'request.tls': 'TLS',
  'request.startTlsProtocol': 'Protocol of STARTTLS',
  'request.alpnProtocols': 'Application protocols (ALPN)',
  'request.query': 'Name to look up',
  'request.recordType': 'Record type',
  'request.nameServer': 'Name server',
  'request.protocol': 'Protocol',
  'request.serverName': 'Name in the certificate',
  'request.dohPath': 'Path',
  'request.dohMethod': 'Method',
  'request.compareSerials': 'Compare the serials of several name servers',
  'request.compareServers': 'Name servers to compare',
  'request.pingCount': 'Echo requests',
  'request.ipFamily': 'Address family',
  'request.followRedirects': 'Follow redirects',
  'request.traceparent': 'Send traceparent',
  'request.skipSSL': 'Accept any certificate',
  shouldFail: 'Expect it to fail',
  'request.headers[].key': 'Name of the header',
  'request.headers[].value': 'Value of the header',
  'request.queryParameters[].key': 'Name of the parameter',
  'request.queryParameters[].value': 'Value of the parameter',
  'request.bodyType': 'Body',
  'request.body': 'Text of the body',
  'request.basicAuth.username': 'User name',
  'request.basicAuth.password': 'Password',
  'request.auth.type': 'Kind of authentication',
  'request.auth.username': 'User name',
  'request.auth.password': 'Password',
  'request.auth.accessKeyId': 'Access key id',
  'request.auth.secretAccessKey': 'Secret access key',
  'request.auth.sessionToken': 'Session token',
  'request.auth.region': 'Region',
  'request.auth.service': 'Service',
  'request.auth.tokenUrl': 'Token endpoint',
  'request.auth.clientId': 'Client id',
  'request.auth.clientSecret': 'Client secret',
  'request.auth.scope': 'Scope',
  'request.auth.audience': 'Audience',
  'request.auth.clientAuthentication': 'Id and secret are sent in',
  'request.assertions[].source': 'Source',
  'request.assertions[].property': 'Property',
  'request.assertions[].comparison': 'Comparison',
  'request.assertions[].target': 'Target',
  'request.assertions[].regex': 'Pattern',
  frequency: 'Every',
  frequencyOffset: 'Offset of the slots',
  privateLocations: 'Locations',
  runParallel: 'Run in all locations at once',
  degradedResponseTime: 'Degraded above',
  maxResponseTime: 'Failed above',
  degradedPacketLossThreshold: 'Degraded from',
  maxPacketLossThreshold: 'Failed from',
  'retryStrategy.type': 'Retry a failed run',
  'retryStrategy.baseBackoffSeconds': 'Base of the delay',
  'retryStrategy.maxRetries': 'At most',
  'retryStrategy.maxDurationSeconds': 'Time limit of all retries',
  'retryStrategy.sameRegion': 'Retry in the same location',
  'retryStrategy.onlyOn': 'Retry only if there was no response',
  'variables[].key': 'Name of the variable',
  'variables[].value': 'Value of the variable',
  'variables[].secret': 'secret',
  setupScript: 'Before the request',
  setupSnippetId: 'Snippet before the request',
  teardownScript: 'After the response',
  teardownSnippetId: 'Snippet after the response',
  groupId: 'Group',
  groupOrder: 'Position in the group',
  tags: 'Tags',
  activated: 'The check runs',
  muted: 'Muted: it sends no alerts',
  'alertChannelSubscriptions[].alertChannelId': 'Channels that are notified',
  dependsOn: 'Depends on',
  useGlobalAlertSettings: 'Use the alert settings of the account',
  'alertSettings.escalationType': 'Alert after',
  'alertSettings.runBasedEscalation.failedRunThreshold': 'Number of runs',
  'alertSettings.timeBasedEscalation.minutesFailingThreshold': 'Time of failing',
  'alertSettings.reminders.amount': 'Reminders',
  'alertSettings.reminders.interval': 'Between reminders',
  'alertSettings.parallelRunFailureThreshold.enabled':
    'Fail only if a share of several locations fails',
  'alertSettings.parallelRunFailureThreshold.percentage': 'Share of the locations',
  'triggerIncident.serviceId': 'Service of status pages',
  'triggerIncident.severity': 'Severity',
  'triggerIncident.name': 'Title of the incident',
  'triggerIncident.description': 'Text of the incident',
  'triggerIncident.notifySubscribers': 'Notify the subscribers',
};

/** @param path of one field, or of all entries of a list */
export function labelOf(path: string): string {
  const pattern = patternOf(path);
  // Entries of a list of plain values have the label of the list.
  return LABELS[pattern] ?? LABELS[pattern.replace(/\[\]$/, '')] ?? path;
}

/** The fields that the form does not show, each with the reason. */
export const LEFT_TO_YAML: Readonly<Record<string, string>> = {
  checkType: 'The type is chosen before the form opens, and does not change.',
  doubleCheck: 'Deprecated: `Retry a failed run` replaces it.',
  locations: 'Public locations are stored, but no agent serves them.',
  runtimeId: 'Stored but not used.',
  logicalId: 'Belongs to `vedette apply`.',
  'request.headers[].locked': 'It changes nothing for checks.',
  'request.queryParameters[].locked': 'It changes nothing for checks.',
  'alertChannelSubscriptions[].activated':
    'The list of channels sets it: false for those of all checks that are not chosen.',
};

/** Whether the problem of a path is shown at its field. Problems of a list are shown above its entries. */
export function isShown(pattern: string): boolean {
  if (LABELS[pattern] !== undefined || LISTS.has(pattern)) return true;
  return /\[\]$/.test(pattern) && LABELS[pattern.slice(0, -2)] !== undefined;
}

const LISTS: ReadonlySet<string> = new Set([
  'request.headers',
  'request.queryParameters',
  'request.assertions',
  'request.steps',
  'variables',
  'alertChannelSubscriptions',
  // The API reports at this path that no location is chosen.
  'locations',
]);

/** Texts for values of the API that are not clear by themselves. */
const WORDS: Readonly<Record<string, string>> = {
  DIGEST: 'digest',
  AWS_SIGV4: 'AWS signature',
  OAUTH2_CLIENT_CREDENTIALS: 'OAuth2 token',
  HEADER: 'the Authorization header',
  BODY: 'the body',
  FIXED: 'after the same delay each',
  LINEAR: 'after delays that grow evenly',
  EXPONENTIAL: 'after delays that grow by powers',
  SINGLE_RETRY: 'once',
  NO_RETRIES: 'none',
  RUN_BASED: 'a number of failed runs',
  TIME_BASED: 'a time of failing',
  CRITICAL: 'critical',
  MAJOR: 'major',
  MEDIUM: 'medium',
  MINOR: 'minor',
};

/** `GREATER_THAN` becomes `greater than`; abbreviations stay in capitals. */
export function wordsOf(value: string | number): string {
  const text = String(value);
  return WORDS[text] ?? (/_/.test(text) ? text.toLowerCase().replaceAll('_', ' ') : text);
}
