import type { Check } from './model.ts';

/** The request of a check as a command line that people can run. */
export interface RequestCommand {
  /** Such as `curl`. */
  readonly tool: string;
  readonly text: string;
}

/** The request of a check as a command. Templates and hidden values stay as the API shows them. */
export function commandOf(check: Check): RequestCommand {
  switch (check.checkType) {
    case 'URL':
      return { tool: 'curl', text: urlCommand(check.request) };
    case 'API':
      return { tool: 'curl', text: apiCommand(check.request) };
    case 'TCP':
      return {
        tool: 'nc',
        text: [
          'nc',
          '-vz',
          '-w',
          '5',
          ...family(check.request),
          quoted(check.request.hostname),
          String(check.request.port),
        ].join(' '),
      };
    case 'DNS': {
      const { query, recordType, nameServer, port, protocol, dohPath, dohMethod } = check.request;
      const server = nameServer === null || nameServer === undefined ? [] : [`@${nameServer}`];
      return {
        tool: 'dig',
        text: [
          'dig',
          ...server.map(quoted),
          ...(server.length > 0 && port !== 53 ? ['-p', String(port)] : []),
          ...(protocol === 'TCP' ? ['+tcp'] : []),
          ...(protocol === 'DOT' ? ['+tls'] : []),
          ...(protocol === 'DOH'
            ? [quoted(`+https${dohMethod === 'GET' ? '-get' : ''}=${dohPath}`)]
            : []),
          quoted(query),
          recordType,
        ].join(' '),
      };
    }
    case 'ICMP': {
      const { hostname, pingCount } = check.request;
      return {
        tool: 'ping',
        text: ['ping', ...family(check.request), '-c', String(pingCount), quoted(hostname)].join(
          ' ',
        ),
      };
    }
  }
}

type UrlRequest = Extract<Check, { checkType: 'URL' }>['request'];
type ApiRequest = Extract<Check, { checkType: 'API' }>['request'];

/** Without an option, curl uses the family that connects first, as the agent does for ANY. */
function family({ ipFamily }: Pick<UrlRequest, 'ipFamily'>): readonly string[] {
  if (ipFamily === 'IPv6') return ['-6'];
  return ipFamily === 'IPv4' ? ['-4'] : [];
}

function urlCommand(request: UrlRequest): string {
  return lines([
    ['curl', '-v', ...family(request)],
    ...(request.followRedirects ? [['--location']] : []),
    ...(request.skipSSL ? [['--insecure']] : []),
    [quoted(request.url)],
  ]);
}

function apiCommand(request: ApiRequest): string {
  const { method, headers, queryParameters, basicAuth, auth, body, bodyType } = request;
  const pairs = queryParameters.map(({ key, value }) => `${encoded(key)}=${encoded(value)}`);
  const separator = request.url.includes('?') ? '&' : '?';
  const url = pairs.length === 0 ? request.url : `${request.url}${separator}${pairs.join('&')}`;
  return lines([
    ['curl', '-v', ...family(request)],
    ...(method === 'GET' ? [] : [method === 'HEAD' ? ['--head'] : ['--request', method]]),
    ...(request.followRedirects ? [['--location']] : []),
    ...(request.skipSSL ? [['--insecure']] : []),
    ...headers.map(({ key, value }) => ['--header', quoted(`${key}: ${value}`)]),
    ...(basicAuth === null || basicAuth.username === ''
      ? []
      : [['--user', quoted(`${basicAuth.username}:${basicAuth.password}`)]]),
    ...(auth === null ? [] : [authOptions(auth)]),
    ...(bodyType === 'NONE' || body === '' ? [] : [['--data-raw', quoted(body)]]),
    [quoted(url)],
  ]);
}

function authOptions(auth: NonNullable<ApiRequest['auth']>): readonly string[] {
  switch (auth.type) {
    case 'DIGEST':
      return ['--digest', '--user', quoted(`${auth.username}:${auth.password}`)];
    case 'AWS_SIGV4':
      return [
        '--aws-sigv4',
        quoted(`aws:amz:${auth.region}:${auth.service}`),
        '--user',
        quoted(`${auth.accessKeyId}:${auth.secretAccessKey}`),
      ];
    case 'OAUTH2_CLIENT_CREDENTIALS':
      return ['--header', quoted('Authorization: Bearer ACCESS_TOKEN')];
  }
}

/** Templates stay readable. */
function encoded(text: string): string {
  return text
    .split(/(\{\{.*?\}\})/)
    .map((part, index) => (index % 2 === 1 ? part : encodeURIComponent(part)))
    .join('');
}

function lines(parts: readonly (readonly string[])[]): string {
  return parts.map((words) => words.join(' ')).join(' \\\n  ');
}

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
