import { describe, expect, it } from 'vitest';
import { changedFields, fieldChanges } from '../../../../src/cli/apply/field-changes.ts';
import { comparable } from '../../../../src/cli/apply/normal-form.ts';
import { MASK } from '../../../../src/model/credentials/mask.ts';
import { type CheckFields, checkOf } from '../../../support/samples/checks.ts';

const api = (fields: CheckFields) => checkOf('API', fields);

function changesOf(before: CheckFields, after: CheckFields): readonly string[] {
  return fieldChanges(...comparable(api(before), api(after), true)).map(
    (change) => `${change.path}: ${change.before} -> ${change.after}`,
  );
}

describe('fieldChanges', () => {
  it('names the fields that differ, as deep as they do', () => {
    const assertion = { source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' };
    expect(
      changesOf(
        { tags: ['a'], request: { assertions: [assertion] } },
        {
          tags: ['b', 'c'],
          request: { assertions: [{ ...assertion, target: '201' }, assertion] },
        },
      ),
    ).toEqual([
      'tags: ["a"] -> ["b","c"]',
      'request.assertions[0].target: "200" -> "201"',
      expect.stringMatching(/^request\.assertions\[1\]: \(none\) -> \{.*"target":"200"/),
    ]);
  });

  it('treats equivalent checks as equal', () => {
    expect(changesOf({}, { alertSettings: { reminders: {} }, triggerIncident: null })).toEqual([]);
    expect(changesOf({ retryStrategy: null }, { retryStrategy: { type: 'NO_RETRIES' } })).toEqual(
      [],
    );
    expect(changesOf({}, { doubleCheck: false })).toEqual(['doubleCheck: true -> false']);
    const single = { type: 'SINGLE_RETRY', baseBackoffSeconds: 0, sameRegion: false };
    expect(changesOf({}, { retryStrategy: single })).toEqual([]);
  });

  it('cuts a long text', () => {
    const [change = ''] = changesOf({}, { description: 'x'.repeat(500) });
    expect(change.length).toBeLessThan(120);
  });

  it.each([
    'http://u:hunter2@h/',
    'http://u:hun@hunter2@h/',
    '{{SCHEME}}://u:hunter2@h/',
    '{{SCHEME}}://hunter2@h/',
    '{{{SCHEME}}}://{{USER}}:hunter2@{{HOST}}/',
    '{{BASE}}u:hunter2@h/',
    '{{BASE}}hunter2@h/',
    '{{SCHEME}}{{REST}}://u:hunter2@h/',
    'http{{S}}://u:hunter2@h/',
    '{{SCHEME}}://h/?token=hunter2',
    '{{SCHEME}}://h{{PATH}}?token=hunter2#x',
  ])('masks the user, password and query of %s', (url) => {
    const other = { request: { url: 'http://h/' } };
    const texts = [
      ...changesOf(other, { request: { url } }),
      ...changesOf({ request: { url } }, other),
    ];
    expect(texts).not.toEqual([]);
    for (const text of texts) {
      expect(text).not.toContain('hunter2');
      expect(text).toContain(MASK);
    }
  });

  it('masks possible secrets in every field', () => {
    const secret = 'hunter2';
    const request = {
      url: `http://u:${secret}@h/?t=${secret}`,
      basicAuth: { username: 'u', password: secret },
      bodyType: 'JSON',
      body: secret,
      headers: [
        { key: 'Cookie', value: secret },
        { key: 'X-Api-Key', value: secret },
        { key: 'x', value: secret, locked: true },
      ],
      queryParameters: [{ key: 'q', value: secret }],
    };
    const alone = { url: `http://${secret}@h/`, basicAuth: { username: secret, password: '' } };
    const other = { url: 'http://h/', basicAuth: { username: 'u', password: '' } };
    for (const text of [
      ...changesOf({}, { request }),
      ...changesOf({ request }, {}),
      ...changesOf({ request: other }, { request: alone }),
    ]) {
      expect(text).not.toContain(secret);
    }
  });

  it('masks texts that are secret themselves, and those that they replace', () => {
    const pair = (value: string) => ({ key: 'X-Routing-Key', value });
    const [old, fresh] = ['before-1', 'hunter2'];
    const before = { name: old, headers: [pair(old)], url: `https://a.example/${old}`, chatId: 1 };
    const after = {
      name: fresh,
      headers: [pair(fresh), pair(`a ${fresh}`)],
      url: `https://a.example/${fresh}`,
      chatId: 2,
      more: { list: [fresh] },
    };
    const changes = fieldChanges({ config: before }, { config: after }, (text) =>
      text.includes(fresh),
    );
    const texts = changes.map(({ path, before: one, after: other }) => `${path} ${one} ${other}`);
    expect(texts).toEqual([
      `config.name "${MASK}" "${MASK}"`,
      `config.headers[0] X-Routing-Key: ${MASK} X-Routing-Key: ${MASK}`,
      `config.headers[1] (none) X-Routing-Key: ${MASK}`,
      `config.url "https://a.example/${MASK}" "https://a.example/${MASK}"`,
      'config.chatId 1 2',
      `config.more (none) {"list":["${MASK}"]}`,
    ]);
  });
});

it('masks the headers of an alert channel, whatever their names', () => {
  const config = (value: string) => ({ config: { headers: [{ key: 'X-Routing-Key', value }] } });
  expect(fieldChanges(config('hunter1'), config('hunter2'))).toMatchObject([
    { before: `X-Routing-Key: ${MASK}`, after: `X-Routing-Key: ${MASK}` },
  ]);
});

describe('changedFields', () => {
  it('names the top fields alone', () => {
    const before = api({ request: { url: 'http://a/' } });
    const after = api({ request: { url: 'http://b/' }, muted: true });
    expect(changedFields(before, after)).toEqual(['muted', 'request']);
    expect(changedFields(after, after)).toEqual([]);
  });
});
