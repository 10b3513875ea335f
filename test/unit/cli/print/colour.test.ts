import { describe, expect, it } from 'vitest';
import { paletteFor, wantsColour } from '../../../../src/cli/print/colour.ts';

const TTY = { isTTY: true };
const PIPE = {};

describe('wantsColour', () => {
  it.each([
    ['a terminal', TTY, {}, true],
    ['a pipe', PIPE, {}, false],
    ['NO_COLOR', TTY, { NO_COLOR: '1' }, false],
    ['an empty NO_COLOR, which does not count', TTY, { NO_COLOR: '' }, true],
    ['FORCE_COLOR', PIPE, { FORCE_COLOR: '1' }, true],
    ['FORCE_COLOR over NO_COLOR', PIPE, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
    ['FORCE_COLOR=0', TTY, { FORCE_COLOR: '0' }, false],
    ['a dumb terminal', TTY, { TERM: 'dumb' }, false],
  ])('%s', (_, stream, env, expected) => {
    expect(wantsColour(stream, env)).toBe(expected);
  });
});

describe('paletteFor', () => {
  it('colours a text, or returns it unchanged', () => {
    expect(paletteFor(true).bad('x')).toBe('\u001b[31mx\u001b[39m');
    expect(paletteFor(false).bad('x')).toBe('x');
  });
});
