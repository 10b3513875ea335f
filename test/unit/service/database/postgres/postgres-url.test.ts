import { describe, expect, it } from 'vitest';
import { readPostgresUrl } from '../../../../../src/service/database/postgres/postgres-url.ts';

describe('readPostgresUrl', () => {
  it('takes out what is about TLS and the session', () => {
    const url =
      'postgresql://me:p%40ss@db.example:6432/main?sslmode=require&application_name=x&options=-c%20work_mem%3D8MB';
    expect(readPostgresUrl(url)).toEqual({
      connectionString: 'postgresql://me:p%40ss@db.example:6432/main',
      ssl: { rejectUnauthorized: false },
      options: '-c work_mem=8MB',
    });
  });

  it.each(['', '?sslmode=disable', '?sslmode='])('uses no TLS with %o', (query) => {
    expect(readPostgresUrl(`postgres://db/main${query}`).ssl).toBe(false);
  });

  it('trusts what Node trusts with verify-full alone, and checks the name', () => {
    for (const query of ['sslmode=verify-full', 'sslmode=verify-full&sslrootcert=system']) {
      expect(readPostgresUrl(`postgres://db/main?${query}`).ssl).toEqual({});
    }
  });

  it.each(['postgres://me@/main?host=/run/postgresql', 'postgres:///main?host=/run/postgresql'])(
    'takes the folder of a socket: %s',
    (url) => {
      expect(readPostgresUrl(url).connectionString).toContain('host=%2Frun%2Fpostgresql');
    },
  );

  it.each([
    ['no URL', 'my secret'],
    ['another scheme', 'mysql://me:secret@db/main'],
    ['a bad port', 'postgres://me:secret@db:port/main'],
    ['a sslmode that falls back', 'postgres://me:secret@db/main?sslmode=prefer'],
    ['a sslmode that is none', 'postgres://me:secret@db/main?sslmode=on'],
    [
      'a file that is not there',
      'postgres://me:secret@db/main?sslmode=require&sslrootcert=/nowhere.pem',
    ],
  ])('refuses %s in one line that does not show the password', (_, url) => {
    const read = (): unknown => readPostgresUrl(url);
    expect(read).toThrow(expect.objectContaining({ kind: 'config', code: 'STORE_URL_INVALID' }));
    expect(read).toThrow(/^DATABASE_URL (?!.*secret)[^\n]+$/);
  });
});
