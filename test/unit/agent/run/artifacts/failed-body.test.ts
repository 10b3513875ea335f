import { expect, it } from 'vitest';
import { mediaTypeOf } from '../../../../../src/agent/run/artifacts/failed-body.ts';

it.each([
  ['text/html', 'text/html'],
  [' Application/JSON ; Charset=UTF-8 ; profile="a;b"', 'application/json; charset=utf-8'],
  ['text/plain; charset="iso-8859-1"', 'text/plain; charset=iso-8859-1'],
  ['text/plain; charset=a b', 'text/plain'],
  ['text/html\r\nx: y', 'application/octet-stream'],
  ['text', 'application/octet-stream'],
  ['', 'application/octet-stream'],
  [`text/${'x'.repeat(500)}`, 'application/octet-stream'],
  [null, 'application/octet-stream'],
])('reads the media type of a body from %j', (header, type) => {
  expect(mediaTypeOf(header)).toBe(type);
});
