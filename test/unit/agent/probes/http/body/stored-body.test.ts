import { describe, expect, test } from 'vitest';
import { decodeText } from '../../../../../../src/agent/probes/http/body/decode-text.ts';
import { storedBodyOf } from '../../../../../../src/agent/probes/http/body/stored-body.ts';
import { NOT_SCRUBBED } from '../../../../../../src/agent/secrets/cut-scrubbed.ts';

function stored(bytes: Buffer, contentType: string | null, more: { totalBytes?: number } = {}) {
  return storedBodyOf(
    { bytes, totalBytes: bytes.length, truncated: false, ...more },
    contentType,
    NOT_SCRUBBED,
  );
}

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452000001f4', 'hex');

describe('text', () => {
  test.each<[string, Buffer, string | null, string]>([
    ['nothing', Buffer.alloc(0), 'image/png; x', ''],
    ['UTF-8', Buffer.from('grün'), 'text/plain', 'grün'],
    ['JSON', Buffer.from('{"a":1}'), 'application/problem+json', '{"a":1}'],
    ['no content type', Buffer.from('<p>ok</p>\r\n\t'), null, '<p>ok</p>\r\n\t'],
    ['an unknown content type', Buffer.from('a: 1'), 'application/x-anything', 'a: 1'],
    ['octets that are text', Buffer.from('plain'), 'application/octet-stream', 'plain'],
    ['Latin-1', Buffer.from('grün', 'latin1'), 'text/html; charset=ISO-8859-1', 'grün'],
    ['UTF-16 by its mark', Buffer.from('\ufeffgrün', 'utf16le'), 'text/plain', 'grün'],
    ['UTF-16 by charset', Buffer.from('hi', 'utf16le'), 'text/plain; charset="utf-16le"', 'hi'],
    ['one stray byte', Buffer.from(`${'a'.repeat(50)}\0`), 'text/html', `${'a'.repeat(50)}\0`],
  ])('%s', (_name, bytes, contentType, text) => {
    if (bytes.length === 0) return expect(stored(bytes, null).body).toBe('');
    expect(stored(bytes, contentType)).toEqual({
      body: text,
      bodyEncoding: 'text',
      bodyBytes: bytes.length,
      bodyTruncated: false,
    });
  });

  test('up to 10 KB is whole, longer text keeps its start and says so', () => {
    const whole = stored(Buffer.from('x'.repeat(10_240)), 'text/plain');
    expect(whole).not.toHaveProperty('bodyCut');
    expect(whole.body).toHaveLength(10_240);
    const cut = stored(Buffer.from('x'.repeat(10_241)), 'text/plain');
    expect(cut).toMatchObject({ bodyCut: true, bodyBytes: 10_241 });
    expect(cut.body).toHaveLength(10_240);
  });

  test.each([0, 1, 2, 3])('the cut falls between characters (%i)', (offset) => {
    const text = 'a'.repeat(offset) + '€😀'.repeat(10_000);
    const { body } = stored(Buffer.from(text), 'text/plain');
    expect(text.startsWith(body ?? 'none')).toBe(true);
    expect(body).not.toContain('\ufffd');
    expect(Buffer.byteLength(body ?? '')).toBeGreaterThan(10_240 - 4);
    expect(Buffer.byteLength(body ?? '')).toBeLessThanOrEqual(10_240);
  });

  test('a body that was retained only in part is a cut text', () => {
    const bytes = Buffer.from('short');
    expect(stored(bytes, 'text/plain', { totalBytes: 26_214_400 })).toMatchObject({
      body: 'short',
      bodyCut: true,
      bodyBytes: 26_214_400,
    });
  });
});

describe('binary', () => {
  test.each<[string, Buffer, string | null]>([
    ['an image', PNG, 'image/png'],
    ['an image that looks like text', Buffer.from('GIF89a'), 'image/gif'],
    ['bytes without a type', PNG, null],
    ['bytes of an unknown type', Buffer.from([1, 2, 3]), 'application/x-anything'],
    ['bytes that call themselves text', PNG, 'text/html'],
    ['bytes that are no UTF-8', Buffer.from([0x61, 0xff, 0x62]), null],
  ])('%s is base64', (_name, bytes, contentType) => {
    expect(stored(bytes, contentType)).toEqual({
      body: bytes.toString('base64'),
      bodyEncoding: 'base64',
      bodyBytes: bytes.length,
      bodyTruncated: false,
    });
  });

  test('over 50 KB only its size is stored', () => {
    const bytes = Buffer.alloc(51_200);
    expect(stored(bytes, null).bodyEncoding).toBe('base64');
    expect(stored(Buffer.alloc(51_201), null)).toEqual({
      body: null,
      bodyEncoding: 'omitted',
      bodyBytes: 51_201,
      bodyTruncated: false,
    });
    expect(stored(bytes, null, { totalBytes: 60_000 }).bodyEncoding).toBe('omitted');
  });

  test('a truncated body is marked as truncated', () => {
    const body = { bytes: PNG, totalBytes: 26_214_400, truncated: true };
    expect(storedBodyOf(body, 'image/png', NOT_SCRUBBED)).toMatchObject({
      bodyTruncated: true,
      body: null,
    });
  });
});

describe('decodeText', () => {
  test.each<[Buffer, string | null, string]>([
    [Buffer.from('\ufeffabc'), null, 'abc'],
    [Buffer.from('\ufeffü'), 'text/plain; charset=latin1', 'ü'],
    [Buffer.from([0xfe, 0xff, 0, 0x41]), 'text/plain', 'A'],
    [Buffer.from([0xa4]), 'text/plain; charset=iso-8859-15', '€'],
    [Buffer.from([0x80]), "text/plain; charset='windows-1252'", '€'],
    [Buffer.from([0x82, 0xa0]), 'text/plain;boundary=x; Charset=Shift_JIS', 'あ'],
    [Buffer.from('ü'), 'text/plain; charset=no-such-thing', 'ü'],
    [Buffer.from('ü'), 'text/plain; charset=', 'ü'],
    [Buffer.from([0x61, 0xff]), 'text/plain', 'a\ufffd'],
    [Buffer.alloc(0), null, ''],
  ])('%o as %s', (bytes, contentType, text) => {
    expect(decodeText(bytes, contentType)).toBe(text);
    // The shared decoder must carry nothing over to the next body.
    expect(decodeText(bytes, contentType)).toBe(text);
  });
});
