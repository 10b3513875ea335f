import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../../../../src/agent/source/file/fingerprint.ts';
import { parseCheckFile } from '../../../../../src/agent/source/file/parse-check-file.ts';
import { problemsOf } from '../../../../support/samples/check-file-problems.ts';

const TCP = '{ id: a, checkType: TCP, request: { hostname: localhost, port: 80 } }';

function parse(text: string, file = 'f.yaml') {
  return parseCheckFile(text, file);
}

/** The problems of one check, written as one line of YAML at line 2. */
function problemsOfCheck(check: string): Promise<readonly string[]> {
  return problemsOf(`checks:\n  - ${check}`);
}

describe('a valid check file', () => {
  it('gives checks with their defaults and the id as name', async () => {
    const { checks, clientCertificates } = await parse(`checks:\n  - ${TCP}`);
    expect(checks).toHaveLength(1);
    expect(checks[0]).toMatchObject({
      id: 'a',
      name: 'a',
      checkType: 'TCP',
      frequency: 10,
      maxResponseTime: 5000,
      request: { hostname: 'localhost', port: 80, ipFamily: 'IPv4', data: null },
    });
    expect(clientCertificates).toEqual([]);
  });

  it('may be JSON, also with a byte order mark', async () => {
    const check = { id: 'a', name: 'A', checkType: 'URL', request: { url: 'http://localhost/' } };
    const { checks } = await parse(`\ufeff${JSON.stringify({ checks: [check] }, null, '\t')}`);
    expect(checks[0]).toMatchObject({ id: 'a', name: 'A', maxResponseTime: 5000 });
  });

  it('has the same fingerprint for the same checks, however they are written', async () => {
    const [one, other, different] = await Promise.all([
      parse(`checks: [${TCP}]`),
      parse(`# a comment\nchecks:\n  - ${TCP.replace('TCP,', 'TCP, muted: false,')}`),
      parse(`checks: [${TCP.replace('80', '81')}]`),
    ]);
    expect(await fingerprintOf(other)).toBe(await fingerprintOf(one));
    expect(await fingerprintOf(different)).not.toBe(await fingerprintOf(one));
  });

  it('may use anchors and aliases', async () => {
    const { checks } = await parse(
      [
        'checks:',
        '  - { id: a, checkType: TCP, request: &target { hostname: localhost, port: 80 } }',
        '  - { id: b, checkType: TCP, request: *target }',
      ].join('\n'),
    );
    expect(checks.map(({ request }) => request)).toEqual([
      expect.objectContaining({ port: 80 }),
      expect.objectContaining({ port: 80 }),
    ]);
  });
});

describe('the text of a check file', () => {
  it.each([
    ['', '1:1: the file is empty; it must be a mapping with a list of checks under the key checks'],
    ['- a', '1:1: the file must be a mapping with a list of checks under the key checks'],
    ['{}', '1:1: checks is missing; it must be a list of one check or more'],
    ['checks:', '1:1: checks must be a list of one check or more'],
    ['checks: []', '1:9: checks must be a list of one check or more'],
    ['variables: [{ key: A, value: b }]', expect.stringContaining('checks is missing')],
    ['name: a b', expect.stringMatching(/^1:7: name must be 1 to 100 letters, .*not "a b"/)],
    [
      'checks: [{ id: a, checkType: TCP, logicalId: b/a, request: { hostname: localhost, port: 80 } }]',
      expect.stringMatching(/^1:35: checks\[0\]\.logicalId of check "a" is made of the name/),
    ],
    ['checks:\n\t- a', expect.stringMatching(/^2:1: not valid YAML: Tabs are not allowed/)],
    ['a: 1\n---\nb: 2', expect.stringMatching(/^2:1: not valid YAML: a second document/)],
    ['a: 1\na: 2', '2:1: the key "a" is given twice'],
    ['? [a]\n: 1', expect.stringMatching(/^1:3: not valid YAML/)],
    [
      'a: *b',
      '1:4: this alias is not defined: no anchor with its name comes before it; put text that starts with * in quotes',
    ],
    ['a: &a [*a]', '1:8: an alias is inside the value that it names'],
    ['a: !secret x', '1:4: not valid YAML: tags such as !name are not supported'],
    ['[1, 2', expect.stringMatching(/^1:6: not valid YAML/)],
    [
      `checks: [${TCP}]\nsettings: []`,
      '2:1: settings is not a known key; known here: name, checks, defaults, variables, clientCertificates, escalationStep, alertChannels, groups, heartbeats, statusServices, statusPages, maintenanceWindows',
    ],
    [`check: [${TCP}]`, '1:1: check is not a known key; did you mean checks?'],
    [`checks: [${TCP}]\n__proto__: 1`, expect.stringMatching(/^2:1: __proto__ is not a known key/)],
    ['a: &b c\n*b : 1', '2:1: not valid YAML: a key must be text'],
    [
      `clientCertificates: {}\nchecks: [${TCP}]`,
      '1:21: clientCertificates must be a list of at most 1000 client certificates',
    ],
  ])('%j is refused', async (text, problem) => {
    expect(await problemsOf(text)).toContainEqual(problem);
  });

  const notIndented = 'not valid YAML: this line is not indented like the lines that it belongs to';
  const keyOnValue =
    'not valid YAML: a key follows on a value here: indent the next line less or, where the text contains a colon, put it in quotes';
  it.each([
    ['checks:\n  - id: a\n  checkType: TCP\n', [`3:1: ${notIndented}`]],
    ['checks:\n  - id: a\n   checkType: TCP\n', [`3:1: ${notIndented}`]],
    ['checks:\n  - id: a\n - id: b\n', [`3:1: ${notIndented}`]],
    ['checks:\n  - id: a\n      name: b\n', [`2:9: ${keyOnValue}`]],
    ['a: b: c\nd: e: f\n', [`1:4: ${keyOnValue}`, `2:4: ${keyOnValue}`]],
    [
      'checks:\n  - id: a\n    request: { hostname: h\n  - id: b\n',
      ['4:3: not valid YAML: a { is not closed by a }, or what it contains is not indented enough'],
    ],
    ['a: @b', ['1:4: not valid YAML: text that starts with @ must be in quotes']],
  ])('%j has each mistake reported once, in plain words', async (text, problems) => {
    expect(await problemsOf(text)).toEqual(problems);
  });

  it('of a .json file is called JSON', async () => {
    expect(await problemsOf('{ "checks": [', 'f.json')).toEqual([
      expect.stringMatching(/^1:14: not valid JSON: a \[ is not closed by a \]/),
    ]);
  });

  it.each([
    ['lists', '['.repeat(30_000)],
    ['mappings', Array.from({ length: 2000 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join('')],
    // Once ended the process, when only a stack overflow stopped the parser.
    ['keys', '? '.repeat(30_000)],
    ['block lists', '- '.repeat(30_000)],
    ['closed lists', `a: ${'['.repeat(60)}${']'.repeat(60)}`],
  ])('nested too deep in %s is refused, not a crash', async (_, text) => {
    expect((await problemsOf(text)).join()).toMatch(/nested deeper than 50 levels/);
  });

  it('may be nested 50 levels deep, and is refused at the value that is deeper', async () => {
    const lists = (depth: number) => `a: ${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect((await problemsOf(lists(50))).join()).not.toContain('nested deeper');
    expect(await problemsOf(lists(51))).toEqual([
      '1:54: the value is nested deeper than 50 levels',
    ]);
  });

  it('whose aliases would write out to billions of values is refused at once', async () => {
    const rows = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let n = 1; n < 12; n += 1) {
      rows.push(`a${n}: &a${n} [${Array.from({ length: 10 }, () => `*a${n - 1}`).join(', ')}]`);
    }
    const [first] = await problemsOf(rows.join('\n'));
    expect(first).toMatch(/this alias makes the file too large: aliases may add 1000000 values/);
  });
});

describe('the checks of a check file', () => {
  it('each report a key that is given twice', async () => {
    const problems = await problemsOf(`checks:\n  - { a: 1, a: 2 }\n  - { a: 1, a: 2 }`);
    expect(problems.filter((problem) => problem.endsWith('twice'))).toEqual([
      '2:13: the key "a" is given twice',
      '3:13: the key "a" is given twice',
    ]);
  });

  it('report a problem of a value that they share by an alias once', async () => {
    const problems = await problemsOf(
      [
        'checks:',
        '  - { id: a, checkType: TCP, request: &target { hostname: localhost, port: 0 } }',
        '  - { id: b, checkType: TCP, request: *target }',
      ].join('\n'),
    );
    expect(problems).toEqual([
      '2:76: checks[0].request.port of check "a" must be a whole number from 1 to 65535, not 0',
    ]);
  });

  it('each report their own problem where the rest equals another check', async () => {
    const problems = await problemsOf(
      [
        'checks:',
        '  - { id: a, checkType: URL, name: A, request: { url: "http://h" } }',
        '  - { id: b, checkType: URL, name: "", request: { url: "http://h" } }',
        '  - { id: c, checkType: URL, name: C, request: "http://h" }',
        '  - { id: d, checkType: URL, name: D, request: { url: "ftp://h" } }',
        '  - { id: e, checkType: URL, name: E, request: { url: "http://h", skipSSL: .nan } }',
      ].join('\n'),
    );
    expect(problems).toEqual([
      '3:36: checks[1].name of check "b" must be text of 1 to 255 characters, not ""',
      expect.stringMatching(/^4:48: checks\[2\]\.request of check "c" must be a mapping/),
      expect.stringMatching(/^5:55: checks\[3\]\.request\.url of check "d" .*, not "ftp:\/\/h"$/),
      '6:76: checks[4].request.skipSSL of check "e" must be true or false, not NaN',
    ]);
  });

  it('are all reported on, in the order of the file', async () => {
    const problems = await problemsOf(
      [
        'checks:',
        '  - id: shop',
        '    checkType: TCP',
        '    request:',
        '      hostname: localhost',
        '      port: 70000',
        '  - id: door',
        '    checkType: URL',
        '    frequency: 3',
        '    request: { url: "http://localhost/" }',
      ].join('\n'),
    );
    expect(problems).toEqual([
      '6:13: checks[0].request.port of check "shop" must be a whole number from 1 to 65535, not 70000',
      '9:16: checks[1].frequency of check "door" must be one of 0, 1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440 (minutes; 0: every frequencyOffset seconds), not 3',
    ]);
  });

  it.each([
    [
      '{ checkType: TCP, request: { hostname: a, port: 1 } }',
      'checks[0].id is missing; it must be',
    ],
    ['{ id: 42, checkType: TCP }', 'not 42; put it in quotes: "42"'],
    ['{ id: "a b", checkType: TCP }', 'start with a letter or digit, not "a b"'],
    ['{ id: a }', 'checkType of check "a" is missing; it must be one of URL, API, TCP, DNS, ICMP'],
    ['{ id: a, checkType: Tcpp }', 'not "Tcpp"; did you mean TCP?'],
    ['{ id: a, checkType: [TCP] }', 'must be one of URL, API, TCP, DNS, ICMP, not a list'],
    ['{ id: a, checkType: HEARTBEAT }', 'is HEARTBEAT, which is passive'],
    ['{ id: a, checkType: BROWSER }', 'is BROWSER, which this agent does not run'],
    ['{ id: a, checkType: MULTI_STEP }', 'is MULTI_STEP, which this agent does not run'],
    ['{ id: a, checkType: PLAYWRIGHT }', 'is PLAYWRIGHT, which this agent does not run'],
    ['{ id: a, checkType: AGENTIC }', 'is AGENTIC, which this agent does not run'],
    ['hello', 'checks[0] must be a mapping with id, checkType and request, not "hello"'],
    ['{ id: a, checkType: TCP }', 'request of check "a" is missing; it must be a mapping'],
    [
      '{ id: a, checkType: TCP, request: { hostname: h, port: 1, hostnam: x } }',
      'checks[0].request.hostnam of check "a" is not a known key; did you mean hostname?',
    ],
    [
      '{ id: a, checkType: TCP, request: { hostname: h, prot: 1 } }',
      'checks[0].request.prot of check "a" is not a known key; did you mean port?',
    ],
    [
      '{ id: a, checkType: TCP, port: 1, request: { hostname: h } }',
      'checks[0].port of check "a" belongs under request',
    ],
    [
      '{ id: a, checkType: TCP, request: { hostname: h, port: 1, frequency: 1 } }',
      'request.frequency of check "a" belongs to the check itself, not under request',
    ],
    [
      '{ id: a, checkType: ICMP, maxResponseTime: 1, request: { hostname: h } }',
      'maxResponseTime of check "a" is not for ICMP checks, only for URL, API, TCP, DNS',
    ],
    [
      '{ id: a, checkType: URL, frequency: 0, frequencyOffset: 12, request: { url: "http://h" } }',
      'frequencyOffset of check "a" must be 10, 15, 20 or 30 (seconds) when frequency is 0, not 12',
    ],
    [
      '{ id: a, checkType: URL, request: { url: "http://h", assertions: [{ source: STATUS_CODE, comparison: EQUALS, target: 200 }] } }',
      'target of check "a" must be text of at most 10000 characters, not 200; put it in quotes: "200"',
    ],
    [
      '{ id: a, checkType: URL, request: { url: "http://h", assertions: [{ source: STATUS, comparison: EQUALS }] } }',
      'source of check "a" must be one of STATUS_CODE, CERTIFICATE, not "STATUS"; did you mean STATUS_CODE?',
    ],
    [
      '{ id: a, checkType: URL, degradedResponseTime: .nan, request: { url: "http://h" } }',
      'must be a number from 0 to 30000 (milliseconds), or null, not NaN',
    ],
    ['{ id: a, id: b }', 'the key "id" is given twice'],
    ...['HTTP', 'https'].map((type) => [
      `{ id: a, checkType: ${type} }`,
      `not "${type}"; did you mean URL or API?`,
    ]),
    ['{ id: a, checkType: PING }', 'not "PING"; did you mean ICMP?'],
    [
      '{ id: a, checkType: URL, request: { url: "http://h:99999/" } }',
      'url of check "a" must have a port from 1 to 65535, not "http://h:99999/"',
    ],
    [
      '{ id: a, checkType: API, request: { url: "http://h", body: {a: 1} } }',
      'not a mapping; write it as text, in quotes or after |',
    ],
    [
      '{ id: a, checkType: API, request: { url: "http://h", headers: {accept: x} } }',
      'headers of check "a" must be a list of {key, value}, not a mapping',
    ],
    [
      '{ id: a, checkType: TCP, request: { hostname: h, port: "80" } }',
      'not "80"; take the quotes off: 80',
    ],
    [
      '{ id: a, checkType: URL, activated: "true", request: { url: "http://h" } }',
      'must be true or false, not "true"; take the quotes off: true',
    ],
    [
      '{ id: a, checkType: URL, muted: "false", request: { url: "http://h" } }',
      'must be true or false, not "false"; take the quotes off: false',
    ],
    [
      '{ id: a, checkType: URL, name: null, request: { url: "http://h" } }',
      'name of check "a" must be text of 1 to 255 characters, not null',
    ],
    [
      '{ id: a, checkType: URL, tags: nightly, request: { url: "http://h" } }',
      'tags of check "a" must be a list, not "nightly"',
    ],
    [
      `{ id: a, checkType: URL, tags: [${'x, '.repeat(101)}], request: { url: "http://h" } }`,
      'tags of check "a" must have at most 100 items',
    ],
    [
      '{ id: a, checkType: URL, groupId: nightly, request: { url: "http://h" } }',
      'groupId of check "a" must name the group by its id in this file, which has no "nightly"; define it under groups',
    ],
    [
      '{ id: a, checkType: URL, groupOrder: -1, request: { url: "http://h" } }',
      'groupOrder of check "a" must be a number of 0 or more, or null, not -1',
    ],
    [
      '{ id: a, checkType: URL, frequencyOffset: 0, request: { url: "http://h" } }',
      'frequencyOffset of check "a" must be a whole number of 1 or more, or null, not 0',
    ],
    [
      '{ id: a, checkType: URL, triggerIncident: { serviceId: "", severity: MINOR, name: A }, request: { url: "http://h" } }',
      'triggerIncident.serviceId of check "a" must be text of 1 character or more, not ""',
    ],
    [
      '{ id: a, checkType: API, request: { url: "http://h", headers: [{ key: accept, valeu: x }] } }',
      'headers[0].valeu of check "a" is not a known key; did you mean value?',
    ],
    [
      '{ id: a, checkType: URL, frequency: "5", request: { url: "http://h" } }',
      'not "5"; take the quotes off: 5',
    ],
    [
      '{ id: a, checkType: DNS, request: { query: h, nameServer: "127.0.0.1:53" } }',
      'not "127.0.0.1:53"; the port goes into port',
    ],
    [
      '{ id: a, checkType: TCP, request: { hostname: "h:80", port: 80 } }',
      'not "h:80"; the port goes into port',
    ],
  ])('%s', async (check, problem) => {
    expect((await problemsOfCheck(check)).join('\n')).toContain(problem);
  });

  it.each([
    ['{ id: a, checktype: API, request: { url: "http://h" } }', '2:14: checks[0].checktype'],
    ['{ id: a, type: API, request: { url: "http://h" } }', '2:14: checks[0].type'],
  ])('with checkType under another key have only that key reported: %s', async (check, place) => {
    expect(await problemsOfCheck(check)).toEqual([
      `${place} of check "a" is not a known key; did you mean checkType?`,
    ]);
  });

  it.each([
    ['{ id: a, checkType: API, request: { url: "http://h", method: FETCH } }'],
    ['{ id: a, checkType: DNS, request: { query: h, recordType: ANY } }'],
    ['{ id: a, checkType: SMTP }'],
  ])('get no suggestion that is not similar: %s', async (check) => {
    const problems = await problemsOfCheck(check);
    expect(problems).toEqual([expect.stringContaining(' must be one of ')]);
    expect(problems[0]).not.toContain('did you mean');
  });

  it.each([
    ['degradedResponseTime: 60000'],
    ['maxResponseTime: -5'],
    ['frequency: 5.5, frequencyOffset: 5000'],
  ])('with %s have one problem, not another one that follows from it', async (field) => {
    const check = `{ id: a, checkType: URL, ${field}, request: { url: "http://h" } }`;
    const [name = ''] = field.split(':');
    expect(await problemsOfCheck(check)).toEqual([expect.stringContaining(`].${name} of check`)]);
  });

  it('report broken rules between fields beside other problems', async () => {
    const check =
      '{ id: a, checkType: URL, degradedResponseTime: 20, maxResponseTime: 10, tags: [""], request: { url: "http://h" } }';
    expect((await problemsOfCheck(check)).join()).toMatch(/must not be over maxResponseTime.*tags/);
  });

  it('have all their problems reported at once, whichever step finds them', async () => {
    const text = `checks:
  - id: a
    checkType: HTTP
    colour: red
    frequency: 0
    request:
      url: "ftp://h"
      assertions: [{ source: TEXT_BODY, comparison: EQUALS, regex: "((" }]
  - id: b
    checkType: TCP
    checkType: TCP
    frequency: 0
    request: { port: 80 }
  - id: c
    request: { query: "no name" }
  - id: d
    checkType: API
    tags: none
    retryStrategy: { type: NEVER, onlyOn: [NETWORK_ERROR] }
    request:
      url: "http://h"
      assertions:
        - { source: STATUS_CODE, comparison: EQUALS, target: ok, more: 1 }
        - { source: JSON_BODY, comparison: IS_NULL, property: "$.a[" }
variables: [{ key: A, value: 1 }, { key: A, value: x }]
`;
    const problems = (await problemsOf(text)).map((problem) => problem.replace(/;.*/, ''));
    expect(problems).toEqual([
      expect.stringMatching(/^2:5: checks\[0\]\.frequencyOffset .* must be 10, 15, 20 or 30/),
      expect.stringMatching(/^3:16: checks\[0\]\.checkType .* must be one of .* not "HTTP"/),
      expect.stringMatching(/^4:5: checks\[0\]\.colour .* is not a known key/),
      expect.stringMatching(/^7:12: checks\[0\]\.request\.url .* must be an http or https URL/),
      expect.stringMatching(
        /^8:\d+: checks\[0\]\.request\.assertions\[0\]\.regex .* is not a valid/,
      ),
      expect.stringMatching(/^9:5: checks\[1\]\.frequencyOffset .* must be 10, 15, 20 or 30/),
      '11:5: the key "checkType" is given twice',
      expect.stringMatching(/^13:14: checks\[1\]\.request\.hostname .* is missing/),
      expect.stringMatching(/^14:5: checks\[2\]\.checkType .* is missing/),
      expect.stringMatching(/^15:23: checks\[2\]\.request\.query .* must be a domain name/),
      expect.stringMatching(/^18:11: checks\[3\]\.tags .* must be/),
      expect.stringMatching(/^19:28: checks\[3\]\.retryStrategy\.type .* must be/),
      expect.stringMatching(/^23:\d+: checks\[3\]\.request\.assertions\[0\]\.target .* a number/),
      expect.stringMatching(/^23:\d+: checks\[3\]\.request\.assertions\[0\]\.more .* not a known/),
      expect.stringMatching(/^24:\d+: .*assertions\[1\]\.property .* is not a valid JSONPath/),
      expect.stringMatching(/^25:\d+: variables\[0\]\.value must be text/),
      expect.stringMatching(/^25:\d+: variables\[1\]\.key must be unique/),
    ]);
  });

  it.each([
    ['URL', 'url: "https://me:********@h/"', 'request.url'],
    [
      'API',
      'url: "http://h", headers: [{ key: X-Api-Key, value: "********" }]',
      'headers[0].value',
    ],
    ['API', 'url: "http://h", headers: [{ key: a, value: "Bearer ********" }]', 'headers[0].value'],
    ['API', 'url: "http://h?a=%2A%2A%2A%2A%2A%2A%2A%2A"', 'request.url'],
    [
      'API',
      'url: "http://h", basicAuth: { username: me, password: "********" }',
      'request.basicAuth.password',
    ],
  ])(
    'of type %s with a masked value from an API response are refused: %s',
    async (type, request, field) => {
      const file = (second: string) =>
        `checks:\n  - { id: a, checkType: ${type}, request: { url: "http://h" } }\n  - ${second}`;
      const [problem, ...others] = await problemsOf(
        file(`{ id: b, checkType: ${type}, request: { ${request} } }`),
      );
      expect(others).toEqual([]);
      expect(problem).toContain(
        `${field} of check "b" must not contain ********: API answers show it in place of a hidden value`,
      );
    },
  );

  it('with the same id are refused, naming the first', async () => {
    expect(await problemsOf(`checks:\n  - ${TCP}\n  - ${TCP}`)).toEqual([
      '3:11: checks[1].id of check "a" must be unique: checks[0] has the id "a" too',
    ]);
  });

  it('may be paths of the API, which only a service refuses', async () => {
    const { checks } = await parse(`checks:\n  - ${TCP.replace('id: a', 'id: tcp')}`);
    expect(checks.map(({ id }) => id)).toEqual(['tcp']);
  });

  it.each([
    ['basicAuth: { username: u, password: 12345678 }'],
    ['headers: [{ key: a, value: "s3cret-value\\u0001" }]'],
    ['queryParameters: [{ key: a, value: [s3cret-value] }]'],
    ['body: [s3cret-value]'],
    ['url: "ftp://me:s3cret-value@h/"'],
    ['url: "ftp://h/?token=s3cret-value"'],
    ['basicAuth: "u:s3cret-value"'],
    ['headers: ["Authorization: s3cret-value"]'],
    ['headers: [{ key: "Authorization: s3cret-value", value: a }]'],
    ['queryParameters: token=s3cret-value'],
    ['ipFamily: "http://me:s3cret-value@proxy/"'],
  ])('never have a possible secret repeated: %s', async (field) => {
    const url = field.startsWith('url') ? '' : ', url: "http://h"';
    const problems = await problemsOfCheck(
      `{ id: a, checkType: API, request: { ${field}${url} } }`,
    );
    expect(problems).toHaveLength(1);
    expect(problems[0]).not.toMatch(/s3cret|12345678/);
  });

  it.each([
    ['{ username: u, password:s3cret-value }', /password:….* put a space after the colon/],
    ['{ username: u, password: *s3cret-value }', /put text that starts with \* in quotes/],
    ['{ username: u, a:s3cret-value, a:s3cret-value }', /the key "a:…" is given twice/],
    ['{ username: u, password: x,s3cret-value,s3cret-value }', /not shown here is given twice/],
    ['\n  username: u\n  password: |s3cret-value\n', /extra characters$/m],
  ])('never have a mistyped secret repeated: basicAuth: %j', async (basicAuth, problem) => {
    const text = `basicAuth: ${basicAuth}`.replaceAll('\n', '\n      ');
    const problems = await problemsOf(
      `checks:\n  - id: a\n    checkType: API\n    request:\n      url: http://h\n      ${text}`,
    );
    expect(problems.join('\n')).toMatch(problem);
    expect(problems.join('\n')).not.toContain('s3cret');
  });

  it('show a long value by its length only', async () => {
    const [problem] = await problemsOfCheck(`{ id: a, checkType: "${'x'.repeat(5000)}" }`);
    expect(problem).toMatch(/not text of 5000 characters$/);
  });

  it('with an invalid pattern in an assertion are refused at its position', async () => {
    const api = (assertion: string) =>
      problemsOfCheck(
        `{ id: a, checkType: API, request: { url: "http://h", assertions: [{ comparison: EQUALS, ${assertion} }] } }`,
      );
    expect((await api('source: TEXT_BODY, regex: "(("')).join()).toMatch(
      /assertions\[0\]\.regex of check "a" .*regular expression/,
    );
    expect((await api('source: TEXT_BODY, property: "(("')).join()).toMatch(
      /assertions\[0\]\.property of check "a" .*regular expression/,
    );
    expect((await api('source: HEADERS, property: "((", regex: "["')).join()).toMatch(
      /assertions\[0\]\.regex of check "a" .*regular expression/,
    );
    expect((await api('source: JSON_BODY, property: "$.a["')).join()).toMatch(
      /assertions\[0\]\.property of check "a" .*JSONPath/,
    );
  });
});
