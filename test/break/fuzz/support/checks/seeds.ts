import { readFileSync } from 'node:fs';

/** The value of a secret variable: no message may contain it or a part of it. */
export const MARK = 'q7ZkW3xT';

/** Whether a text contains the secret, or half of it. */
export function showsMark(text: string): boolean {
  return ['q7Zk', 'ZkW3', 'W3xT'].some((part) => text.includes(part));
}

type FileValue = Readonly<Record<string, unknown>>;

const VARIABLES = [
  { key: 'SITE', value: 'here' },
  { key: 'TOKEN', value: MARK, secret: true },
];

/** Files as values: small ones, because reading takes most of the time. */
export const VALUES: readonly FileValue[] = [
  {
    variables: VARIABLES,
    checks: [
      {
        id: 'shop',
        checkType: 'API',
        name: 'Shop',
        frequency: 0,
        frequencyOffset: 20,
        variables: [{ key: 'OWN', value: `${MARK}-own`, secret: true }],
        request: {
          method: 'POST',
          url: 'https://shop.test/a?b={{SITE}}',
          headers: [{ key: 'authorization', value: 'Bearer {{TOKEN}}' }],
          queryParameters: [{ key: 'page', value: '1' }],
          body: '{"a": 1}',
          bodyType: 'JSON',
          basicAuth: { username: 'me', password: 'hidden' },
        },
      },
      {
        id: 'orders',
        checkType: 'API',
        request: {
          url: 'https://shop.test/orders',
          auth: {
            type: 'OAUTH2_CLIENT_CREDENTIALS',
            tokenUrl: 'https://login.test/token',
            clientId: 'me',
            clientSecret: '{{TOKEN}}',
          },
          assertions: [
            { source: 'JSON_SCHEMA', comparison: 'EQUALS', target: '{"required": ["a"]}' },
          ],
        },
      },
    ],
  },
  {
    defaults: {
      frequency: 5,
      tags: ['all'],
      request: { ipFamily: 'IPv4', skipSSL: false },
      retryStrategy: { type: 'FIXED', maxRetries: 1, baseBackoffSeconds: 2 },
    },
    checks: [
      {
        id: 'page',
        checkType: 'URL',
        degradedResponseTime: 500,
        maxResponseTime: 2000,
        retryStrategy: { type: 'EXPONENTIAL', onlyOn: ['NETWORK_ERROR'] },
        request: { url: 'http://127.0.0.1:8080/' },
      },
      { id: 'page-2', checkType: 'URL', request: { url: 'http://127.0.0.2:8080/' } },
    ],
  },
  {
    variables: VARIABLES,
    checks: [
      {
        id: 'a',
        checkType: 'API',
        request: {
          url: 'http://a.test/',
          followRedirects: true,
          assertions: [
            { source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' },
            { source: 'JSON_BODY', property: '$.a[0]', comparison: 'GREATER_THAN', target: '1' },
            { source: 'TEXT_BODY', regex: '^a+b', comparison: 'EQUALS', target: 'ab' },
          ],
        },
      },
    ],
  },
  {
    checks: [
      {
        id: 'port',
        checkType: 'TCP',
        shouldFail: true,
        description: null,
        alertSettings: {
          escalationType: 'RUN_BASED',
          runBasedEscalation: { failedRunThreshold: 2 },
        },
        request: { hostname: '::1', port: 22, data: 'hello', ipFamily: 'IPv6' },
      },
    ],
  },
  {
    variables: VARIABLES,
    checks: [
      {
        id: 'name',
        checkType: 'DNS',
        request: { query: 'a.test', recordType: 'MX', nameServer: '127.0.0.1', protocol: 'TCP' },
      },
      {
        id: 'host',
        checkType: 'ICMP',
        degradedPacketLossThreshold: 10,
        maxPacketLossThreshold: 20,
        request: { hostname: 'localhost', pingCount: 3 },
      },
    ],
  },
];

/** Written as people write them. The secret is only in the value of a variable. */
export const TEXTS: readonly string[] = [
  readFileSync(new URL('../../../../../vedette.yaml', import.meta.url), 'utf8'),
  ...VALUES.map((value) => JSON.stringify(value)),
  `variables:
  - { key: TOKEN, value: ${MARK}, secret: true }
checks:
  - id: a
    checkType: API
    name: One
    request:
      url: http://localhost/
      headers: [{ key: accept, value: "{{TOKEN}}" }]
      body: |
        line one
        line two
      assertions:
        - { source: STATUS_CODE, comparison: EQUALS, target: "200" }
`,
  `defaults: &all
  frequency: 1
  request: { ipFamily: IPv4 }
checks:
  - &first { id: a, checkType: TCP, request: &request { hostname: h, port: 1 } }
  - { id: b, checkType: TCP, request: *request, tags: &tags [x, 'y'] }
  - { id: c, checkType: TCP, request: *request, tags: *tags }
`,
  `checks:
- id: "a\\u0062"
  checkType: DNS
  description: >-
    folded
    text

  request: {query: example.test, recordType: TXT} # a comment
- id: 'it'
  checkType: ICMP
  request:
    hostname: 127.0.0.1
`,
  '{"checks":[{"id":"a","checkType":"URL","request":{"url":"http://a/"}}]}',
];
