import { readFileSync } from 'node:fs';
import { errors } from 'undici';
import { describe, expect, it } from 'vitest';
import { classOf, codeOf } from '../../../../src/agent/error-reports/allowed-names.ts';
import { VedetteError } from '../../../../src/runtime/errors.ts';
import { sourceFiles } from '../../../support/module-imports.ts';

function thrownBy(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

describe('classes', () => {
  it.each([
    ['TypeError', new TypeError('no')],
    ['DOMException', AbortSignal.abort().reason],
    ['AggregateError', new AggregateError([])],
    ['ConnectTimeoutError', new errors.ConnectTimeoutError('no')],
    ['VedetteError', new VedetteError('input', 'X', 'no')],
    ['TypeError', thrownBy(() => readFileSync(Object('x')))],
    ['NotAnError', 'hunter2'],
    ['NotAnError', { message: 'no', stack: 'Error: no' }],
    ['NotAnError', null],
    ['NotAnError', undefined],
    ['NotAnError', Object.create(null)],
  ])('%s is reported by its name', (name, thrown) => {
    expect(classOf(thrown)).toBe(name);
  });

  it('of unknown names are reported as the nearest known class above them', () => {
    const made = { hunter2: class extends RangeError {} };
    expect(classOf(new made.hunter2())).toBe('RangeError');
  });

  it('are not taken from an error’s own name', () => {
    const error = Object.assign(new Error('no'), {
      name: 'hunter2',
      constructor: { name: 'hunter2' },
    });
    expect(classOf(error)).toBe('Error');
  });

  it('of the agent are all in the list of known ones', () => {
    const ours = sourceFiles()
      .filter(({ path }) => /^(agent|runtime|wire|model)\//.test(path))
      .flatMap(({ text }) => [...text.matchAll(/class (\w+) extends \w*Error\b/g)])
      .map(([, name = '']) => name);
    expect(ours).toContain('FileProblemsError');
    const known = ours.map((name) => {
      const { [name]: Made = Error } = { [name]: class extends Error {} };
      return classOf(new Made());
    });
    expect(known).toEqual(ours);
  });

  it('of undici are all in the list of known ones', () => {
    const names = Object.values(errors).map(({ name }) => name);
    const known = Object.values(errors).map(({ prototype }) => classOf(Object.create(prototype)));
    expect(names).toContain('ConnectTimeoutError');
    expect(known).toEqual(names);
  });
});

describe('codes', () => {
  it.each([
    ['ENOENT', thrownBy(() => readFileSync('/none/of/it'))],
    ['ERR_INVALID_ARG_TYPE', thrownBy(() => readFileSync(Object('x')))],
    ['UND_ERR_CONNECT_TIMEOUT', new errors.ConnectTimeoutError('no')],
    ['SPOOL_FULL', new VedetteError('environment', 'SPOOL_FULL', 'no')],
    [null, new Error('no')],
    [null, 'ENOENT'],
    [null, null],
    // A DOMException has a number.
    [null, AbortSignal.abort().reason],
  ])('%s', (code, thrown) => {
    expect(codeOf(thrown)).toBe(code);
  });

  it.each(['ENOTFOUND', 'EAI_AGAIN', 'ETIMEOUT', 'ECONNRESET', 'ABORT_ERR', 'HPE_INVALID_EOF'])(
    '%s is known',
    (code) => {
      expect(codeOf(Object.assign(new Error('no'), { code }))).toBe(code);
    },
  );

  it.each(['hunter2', 'AKIAIOSFODNN7EXAMPLE', 'CHECKOUT', 'pl_0123', 'ERR_a b', ''])(
    '%o is not a known one',
    (code) => {
      expect(codeOf(Object.assign(new Error('no'), { code }))).toBeNull();
    },
  );
});
