import type { FastifyPluginAsync } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../../src/runtime/clock.ts';
import { type ServiceApp, startServiceApp } from '../../support/service-app.ts';

const ITEM = z.object({ id: z.number(), text: z.string() });
type Item = z.output<typeof ITEM>;

function listRoutes(items: readonly Item[]): FastifyPluginAsync {
  return async (app) => {
    const config = { role: 'read' } as const;
    const answers = { '/v1/items': z.array(ITEM), '/v1/few': z.array(ITEM).max(2) };
    for (const [path, answer] of Object.entries(answers)) {
      app.get(path, { config, schema: { response: { 200: answer } } }, async () => items);
    }
  };
}

let service: ServiceApp | null = null;

async function start(
  items: readonly Item[],
  options: Parameters<typeof startServiceApp>[1] = {},
): Promise<ServiceApp> {
  service = await startServiceApp([listRoutes(items)], options);
  return service;
}

afterEach(async () => {
  await service?.close();
  service = null;
});

const many = (count: number, text: string): readonly Item[] =>
  Array.from({ length: count }, (_, id) => ({ id, text, secret: 'hunter2' }));

describe('a list', () => {
  it.each([
    ['nothing', many(0, '')],
    ['one item', many(1, 'é')],
    ['a few', many(3, '"漢😀\ud800"')],
    ['megabytes', many(20, '漢"'.repeat(100_000))],
    ['thousands', many(30_000, 'é 😀 a text of some length')],
  ])('of %s has what its schema declares, and says its length', async (_what, items) => {
    const { ask } = await start(items);
    const body = JSON.stringify(items.map(({ id, text }) => ({ id, text })));
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
    };
    const reply = await ask('/v1/items');
    expect(reply).toMatchObject({ status: 200, headers });
    expect(reply.text === body).toBe(true);
    expect(await ask('/v1/items', { method: 'HEAD' })).toMatchObject({ headers, text: '' });
  });

  it('with an item that does not fit its schema is a fault of ours, and nothing of it is shown', async () => {
    const wrong = { id: 'hunter2', text: 'a' } as unknown as Item;
    const { ask } = await start([...many(20, 'x'.repeat(100_000)), wrong]);
    const reply = await ask('/v1/items');
    expect(reply.status).toBe(500);
    expect(reply.text).not.toContain('hunter2');
    expect(reply.text).not.toContain('xxx');
  });

  it('is held to a rule of its own', async () => {
    const { ask } = await start(many(3, 'a'));
    expect((await ask('/v1/few')).status).toBe(500);
    expect((await ask('/v1/items')).status).toBe(200);
  });

  it('is made item by item, and others go on in between', async () => {
    const order: string[] = [];
    const items = [1, 2, 3].map((id) => ({
      id,
      get text() {
        order.push(`item ${id}`);
        setImmediate(() => order.push('another'));
        return 'a';
      },
    }));
    let nowMs = 0;
    // It takes a second between any two looks at it.
    const monotonicMs = (): number => {
      nowMs += 1_000;
      return nowMs;
    };
    const { ask } = await start(items, { clock: { ...systemClock, monotonicMs } });
    expect((await ask('/v1/items')).json).toHaveLength(3);
    expect(order.slice(0, 5)).toEqual(['item 1', 'another', 'item 2', 'another', 'item 3']);
  });
});
