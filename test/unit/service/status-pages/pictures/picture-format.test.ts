import { expect, it } from 'vitest';
import { formatOf } from '../../../../../src/service/status-pages/pictures/picture-format.ts';

it.each([
  ['png', '89504e470d0a1a0a0000000d'],
  ['jpeg', 'ffd8ffe000104a464946'],
  ['gif', '4749463839610100'],
  ['webp', '52494646240000005745425056503820'],
  ['ico', '000001000100'],
])('recognises a %s file by its first bytes', (format, hex) => {
  expect(formatOf(Buffer.from(hex, 'hex'))).toEqual({ ok: true, format });
});

it.each([
  ['', 'the response was empty'],
  ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'SVG files are not accepted: use a PNG'],
  ['<?xml version="1.0"?>\n<!-- logo -->\n<SVG/>', 'SVG files are not accepted'],
  ['<!DOCTYPE html><title>Sign in</title>', 'the response was a web page'],
  ['BM\u0000\u0000', 'the response was not a PNG, JPEG, GIF, WebP or ICO file'],
  ['RIFF\u0000\u0000\u0000\u0000WAVE', 'the response was not a PNG'],
])('refuses the file %j and says why', (text, problem) => {
  expect(formatOf(Buffer.from(text))).toEqual({
    ok: false,
    problem: expect.stringContaining(problem),
  });
});
