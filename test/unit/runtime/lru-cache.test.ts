import { expect, it } from 'vitest';
import { LruCache } from '../../../src/runtime/lru-cache.ts';

it('evicts the values used longest ago', () => {
  const values = new LruCache<string>(10);
  values.set('a', 'A', 4);
  values.set('b', 'B', 4);
  expect(values.get('a')).toBe('A');
  values.set('c', 'C', 4);
  expect(['a', 'b', 'c'].map((key) => values.get(key))).toEqual(['A', undefined, 'C']);
});

it('replaces the weight of a value when it replaces the value', () => {
  const values = new LruCache<number>(10);
  for (let weight = 1; weight <= 10; weight += 1) values.set('a', weight, weight);
  expect([values.get('a'), values.size]).toEqual([10, 1]);
  values.set('a', 1, 2);
  values.set('b', 2, 8);
  expect(values.size).toBe(2);
  values.delete('a');
  values.set('c', 3, 2);
  expect(['a', 'b', 'c'].map((key) => values.get(key))).toEqual([undefined, 2, 3]);
});

it('does not cache a value heavier than the limit, and evicts all others for it', () => {
  const values = new LruCache<string>(10);
  values.set('a', 'A', 1);
  values.set('b', 'B', 11);
  expect(values.size).toBe(0);
  values.set('c', 'C', 10);
  expect(values.get('c')).toBe('C');
});

it('counts values without weights, and makes those that are missing', () => {
  const values = new LruCache<string>(2);
  const made: string[] = [];
  const get = (key: string): string =>
    values.getOrMake(key, () => {
      made.push(key);
      return key.toUpperCase();
    });
  expect(['a', 'b', 'a', 'c', 'b'].map(get)).toEqual(['A', 'B', 'A', 'C', 'B']);
  expect(made).toEqual(['a', 'b', 'c', 'b']);
  expect(values.size).toBe(2);
});
