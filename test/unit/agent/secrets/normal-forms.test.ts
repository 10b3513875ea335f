import { expect, it } from 'vitest';
import { otherFormsOf } from '../../../../src/agent/secrets/normal-forms.ts';

it.each<[string, readonly string[]]>([
  // In a normal form already.
  ['hunter2-correct', []],
  ['Hunter', []],
  ['/hooks/T0/B1', []],
  // The parts of a url that a target knows, in the form in which they are sent.
  [
    'HTTPS://User:pa%21s5word@Hooks.Example:443/Services/../T0/B1?key=a b#part',
    ['https://hooks.example/T0/B1?key=a%20b', '/T0/B1?key=a%20b', 'pa%21s5word', 'pa!s5word'],
  ],
  ['https://Shop.Example', ['https://shop.example']],
  ['https://shop.example?key=12345678', ['https://shop.example/?key=12345678', '/?key=12345678']],
  // Parts of a host.
  ['Db-1.Shop.Example', ['db-1.shop.example']],
  ['Tenant_12', ['tenant_12']],
  ['bücher-shop.example', ['xn--bcher-shop-9db.example', 'b\ufffdcher-shop.example']],
  // As it is in a url.
  ['ab\\cd\\1234', ['ab/cd/1234']],
  ['s3cret-1#rest', ['s3cret-1']],
  // Without the white space around it, which headers lose.
  [' s3cret\n', ['s3cret']],
  ['  Db.Example ', ['Db.Example', 'db.example']],
  ['pässwört', ['p\ufffdssw\ufffdrt']],
])('%j may also appear as %j', (value, others) => {
  expect(otherFormsOf(value).toSorted()).toEqual(others.toSorted());
});

it.each(['https://[', 'HTTP://', '0X7F000001', 'A#b', 'C:\\x', '', ' ', 'x://Y'])(
  '%j has no other form that is too common to mask',
  (value) => {
    const forms = otherFormsOf(value);
    expect(forms.filter((form) => form.length < 8 && form !== value.trim())).toEqual([]);
    expect(forms).not.toContain('127.0.0.1');
  },
);
