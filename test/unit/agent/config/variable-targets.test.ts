import { expect, it } from 'vitest';
import { isAllowed, variableTarget } from '../../../../src/agent/config/variable-targets.ts';

function allows(entry: string, hostname: string, port: number): boolean {
  const parsed = variableTarget(entry);
  if (!parsed.ok) throw new Error(entry);
  return isAllowed([parsed.value], { hostname, port });
}

it.each<[string, string, number]>([
  ['A@db.internal:5432', 'db.internal', 5432],
  ['A@db.internal', 'DB.Internal.', 1],
  ['A@DB.internal.', 'db.internal', 1],
  ['A@*.shop.example', 'a.shop.example', 443],
  ['A@*.shop.example', 'a.b.SHOP.example', 443],
  ['A@*.shop.example:443', 'a.shop.example', 443],
  ['A@10.0.0.1', '10.0.0.1', 80],
  ['A@[2001:db8::1]:80', '[2001:DB8:0:0::1]', 80],
  ['A@[2001:db8::1]', '2001:db8::1', 80],
  ['A@xn--bcher-kva.example', 'bücher.example', 80],
])('%s allows %s:%i', (entry, hostname, port) => {
  expect(allows(entry, hostname, port)).toBe(true);
});

it.each<[string, string, number]>([
  ['A@db.internal:5432', 'db.internal', 5433],
  ['A@db.internal', 'x.db.internal', 5432],
  ['A@db.internal', 'db.internal.evil.example', 5432],
  ['A@*.shop.example', 'shop.example', 443],
  ['A@*.shop.example', 'evilshop.example', 443],
  ['A@*.shop.example', 'a.shop.example.evil.example', 443],
  ['A@*.shop.example:443', 'a.shop.example', 80],
  ['A@10.0.0.1', '10.0.0.10', 80],
  ['A@[2001:db8::1]', '2001:db8::2', 80],
  ['A@[::1]', '', 80],
])('%s does not allow %s:%i', (entry, hostname, port) => {
  expect(allows(entry, hostname, port)).toBe(false);
});
