import { describe, expect, it } from 'vitest';
import { tagsIn, tagsText } from '../../../../../../src/web/dashboard/parts/forms/tags.ts';

describe('the text of tags', () => {
  it.each([
    [['shop', 'production'], 'shop, production'],
    [['Berlin, Mitte', 'shop'], '"Berlin, Mitte", shop'],
    [['3" pipe', ' spaced '], '"3"" pipe", " spaced "'],
    [['"', ','], '"""", ","'],
    [[], ''],
  ])('is read as the tags that it was written from: %j', (tags, text) => {
    expect(tagsText(tags)).toBe(text);
    expect(tagsIn(text)).toEqual(tags);
  });

  it.each([
    [' a ,b, ,', ['a', 'b']],
    ['a"b', ['a"b']],
    ['"a, b', ['a, b']],
    ['"a"x, b', ['ax', 'b']],
    ['"', []],
  ])('is read while it is being typed: %j', (text, tags) => {
    expect(tagsIn(text)).toEqual(tags);
  });
});
