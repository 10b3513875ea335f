import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fileToRun } from '../../../../src/cli/up/up-command.ts';

describe('the file of vedette up', () => {
  it('is that of the argument or of --file, and vedette.yaml without both', () => {
    expect(fileToRun('mine.yaml', undefined)).toBe('mine.yaml');
    expect(fileToRun(undefined, 'mine.yaml')).toBe('mine.yaml');
    expect(fileToRun(undefined, undefined)).toBe('vedette.yaml');
    expect(() => fileToRun('a.yaml', 'b.yaml')).toThrow(
      'two files are named, "a.yaml" and "b.yaml"',
    );
  });

  it('may be given to npm start, whose command names none itself', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(scripts.start).toMatch(/ up$/);
  });
});
