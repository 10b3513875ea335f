import { describe, expect, it } from 'vitest';
import {
  arrived,
  begun,
  changesOf,
  isEdited,
  isSame,
  saved,
  withMine,
  withTheirs,
} from '../../../../../../src/web/dashboard/parts/forms/edited.ts';

interface Form {
  readonly name: string;
  readonly text: string;
}

const STORED = { form: { name: 'Shop', text: 'stored' }, etag: '"1"' };
const edited = (changes: Partial<Form>) => ({
  ...begun<Form>(STORED),
  form: { ...STORED.form, ...changes },
});

describe('a form whose resource is read again', () => {
  it('follows the resource while nothing is edited', () => {
    const theirs = { form: { name: 'Shop', text: 'theirs' }, etag: '"2"' };
    expect(arrived(begun<Form>(STORED), theirs)).toEqual(begun(theirs));
  });

  it('keeps what is edited, and names what somebody else changed', () => {
    const theirs = { form: { name: 'Store', text: 'theirs' }, etag: '"2"' };
    const after = arrived(edited({ text: 'mine' }), theirs);
    expect(after.form).toEqual({ name: 'Shop', text: 'mine' });
    expect(after.etag).toBe('"1"');
    expect(changesOf(after)).toEqual([
      { name: 'name', isMine: false },
      { name: 'text', isMine: true },
    ]);
    expect(withTheirs(after)).toEqual(begun(theirs));
    expect(withMine(after)).toEqual({
      form: { name: 'Store', text: 'mine' },
      base: theirs.form,
      etag: '"2"',
      theirs: null,
    });
  });

  it('goes on with the new ETag if nothing of the form was changed', () => {
    const after = arrived(edited({ text: 'mine' }), { form: { ...STORED.form }, etag: '"2"' });
    expect(after).toEqual({ ...edited({ text: 'mine' }), etag: '"2"' });
  });

  it('has nothing to save if somebody else has saved the same', () => {
    const same = { form: { name: 'Shop', text: 'mine' }, etag: '"2"' };
    const after = arrived(edited({ text: 'mine' }), same);
    expect(isEdited(after)).toBe(false);
    expect(after.theirs).toBeNull();
  });
});

describe('a form that is saved', () => {
  it('takes over what the server made of it', () => {
    const sent = edited({ name: ' Store ' });
    const answer = { form: { name: 'Store', text: 'stored' }, etag: '"2"' };
    expect(saved(sent, sent.form, answer)).toEqual(begun(answer));
  });

  it('keeps what was typed while it was on its way', () => {
    const sent = edited({ name: ' Store ' });
    const typedOn = { ...sent, form: { ...sent.form, text: 'more' } };
    const after = saved(typedOn, sent.form, {
      form: { name: 'Store', text: 'stored' },
      etag: '"2"',
    });
    expect(after.form).toEqual({ name: 'Store', text: 'more' });
    expect(isEdited(after)).toBe(true);
  });

  it('does not take its own change for one of somebody else', () => {
    const answer = { form: { name: 'Store', text: 'stored' }, etag: '"2"' };
    const sent = edited({ name: ' Store ' });
    const readBefore = arrived(sent, answer);
    expect(saved(readBefore, sent.form, answer).theirs).toBeNull();
  });
});

describe('the values of two forms', () => {
  it('are the same whatever the order of their fields', () => {
    expect(isSame({ a: [{ b: 1, c: null }] }, { a: [{ c: null, b: 1, d: undefined }] })).toBe(true);
  });

  it.each([
    [
      [1, 2],
      [2, 1],
    ],
    [[], {}],
    [[1], [1, undefined]],
    [null, {}],
    ['1', 1],
  ])('differ: %j and %j', (one, other) => {
    expect(isSame(one, other)).toBe(false);
  });
});
