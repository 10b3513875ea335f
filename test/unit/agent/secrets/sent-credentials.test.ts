import { expect, it } from 'vitest';
import { sentCredentialsOf } from '../../../../src/agent/secrets/sent-credentials.ts';
import { checkOf } from '../../../support/samples/checks.ts';

const NONE = { parts: [], wholes: [] };
const url = 'http://e.test/';

function header(key: string, value: string): object {
  return { url, headers: [{ key, value }] };
}

function base64(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  return Buffer.from(text, encoding).toString('base64');
}

it.each([
  [header('Authorization', 'Bearer  a b '), { parts: ['a b'], wholes: ['Bearer  a b'] }],
  [header('authorization', 'raw-token'), { parts: ['raw-token'], wholes: [] }],
  [
    header('Authorization', `basic ${base64('u:p:w')}`),
    { parts: [base64('u:p:w'), 'p:w'], wholes: [`basic ${base64('u:p:w')}`, 'u:p:w'] },
  ],
  [
    header('Authorization', `Basic ${base64('ü:ß', 'latin1')}`),
    expect.objectContaining({ parts: [base64('ü:ß', 'latin1'), 'ß'] }),
  ],
  [
    header('Authorization', 'Basic no-base64!'),
    { parts: ['no-base64!'], wholes: ['Basic no-base64!'] },
  ],
  [
    header('Cookie', 'a=1%202; b="q=r";c;d='),
    {
      parts: ['1%202', '1%202', '1 2', '"q=r"', 'q=r', 'q=r', 'c', 'c', 'c'],
      wholes: ['a=1%202; b="q=r";c;d='],
    },
  ],
  [header('X-API-Key', ' key '), { parts: ['key'], wholes: [] }],
  [header('X-API-Key', ''), NONE],
  [header('X-Team', 'Bearer abcd'), NONE],
  [
    { url, basicAuth: { username: 'u', password: 'p' } },
    { parts: ['p'], wholes: ['u:p'] },
  ],
  [
    { url, basicAuth: { username: 'token', password: '' } },
    { parts: ['token'], wholes: ['token:'] },
  ],
  [{ url, basicAuth: { username: '', password: '' } }, NONE],
  [{ url: 'http://u:p%40w@e.test/' }, { parts: ['p%40w', 'p@w', 'p@w'], wholes: ['u:p@w'] }],
  [{ url: 'http://e.test/a@b' }, NONE],
])('the credentials of %j are %j', (request, credentials) => {
  expect(sentCredentialsOf(checkOf('API', { request }))).toEqual(credentials);
});

it('finds credentials in the url of a URL check, and none in checks of other types', () => {
  const request = { url: 'http://token@e.test/' };
  expect(sentCredentialsOf(checkOf('URL', { request })).parts).toContain('token');
  expect(sentCredentialsOf(checkOf('TCP', {}))).toEqual(NONE);
});
