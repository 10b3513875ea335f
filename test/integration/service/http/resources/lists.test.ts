import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer, json } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { FastifyPluginAsync } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import { StoreError } from '../../../../../src/service/database/store-errors.ts';
import { sendSlices } from '../../../../../src/service/http/json/list-in-slices.ts';
import { boundedList } from '../../../../../src/wire/v1/fields.ts';
import { KEYS, type ServiceApp, startServiceApp } from '../../../../support/service/service-app.ts';

const ITEM = z.object({ id: z.number(), text: z.string() });
type Item = z.output<typeof ITEM>;

/** A schema with lists, as in answers. */
const BATCH = z.object({
  name: z.string(),
  items: boundedList(ITEM, 40_000),
  more: z.array(z.string()),
  note: z.string().optional(),
  late: boundedList(z.int(), 40_000).default([]),
});

function listRoutes(items: readonly Item[]): FastifyPluginAsync {
  return async (app) => {
    const config = { role: 'read' } as const;
    const few = z.object({ items: boundedList(ITEM, 200) });
    const batch = {
      name: 'a batch',
      secret: 'hunter2',
      late: items.map(({ id }) => id),
      note: undefined,
      more: ['"é"'],
      items,
    };
    const answer = async () => batch;
    app.get('/v1/batch', {
      config,
      schema: { response: { 200: BATCH } },
      handler: answer,
    });
    app.get('/v1/few-in-batch', { config, schema: { response: { 200: few } } }, answer);
    app.get('/v1/batches', { config, schema: { response: { 200: z.array(BATCH) } } }, async () => [
      batch,
      { ...batch, items: [] },
    ]);
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
    ['megabytes', many(8, '漢"'.repeat(100_000))],
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

  it('with an item that does not match its schema is an internal error that shows nothing of the item', async () => {
    const wrong = { id: 'hunter2', text: 'a' } as unknown as Item;
    const { ask } = await start([...many(20, 'x'.repeat(100_000)), wrong]);
    const reply = await ask('/v1/items');
    expect(reply.status).toBe(500);
    expect(reply.text).not.toContain('hunter2');
    expect(reply.text).not.toContain('xxx');
  });

  it('is checked by the rules of its own schema', async () => {
    const { ask } = await start(many(3, 'a'));
    expect((await ask('/v1/few')).status).toBe(500);
    expect((await ask('/v1/items')).status).toBe(200);
  });

  it('is made item by item, and yields to other requests in between', async () => {
    const { items, order } = watchedItems(3);
    const { ask } = await start(items, { clock: SLOW_CLOCK });
    expect((await ask('/v1/items')).json).toHaveLength(3);
    expect(order.slice(0, 5)).toEqual(['item 1', 'another', 'item 2', 'another', 'item 3']);
  });
});

/** Items that record when each is serialized, and what ran after it. */
function watchedItems(count: number): { items: readonly Item[]; order: string[] } {
  const order: string[] = [];
  const items = Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    get text() {
      order.push(`item ${index + 1}`);
      setImmediate(() => order.push('another'));
      return 'a';
    },
  }));
  return { items, order };
}

let slowMs = 0;
/** A clock that advances by a second at each reading. */
const SLOW_CLOCK = {
  ...systemClock,
  monotonicMs: (): number => {
    slowMs += 1_000;
    return slowMs;
  },
};

/** Slices of one item each, and the reading state. */
function sliced(count: number, text: string, failsAt = Number.POSITIVE_INFINITY) {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const seen = { read: 0, ended };
  async function* slices() {
    try {
      for (let id = 0; id < count; id += 1) {
        if (id === failsAt) throw new StoreError('unavailable', 'STORE_DOWN', 'the store is down');
        seen.read += 1;
        yield [{ id, text, secret: 'hunter2' }];
      }
    } finally {
      end();
    }
  }
  const routes: FastifyPluginAsync = async (app) => {
    const config = { role: 'read' } as const;
    const schema = { response: { 200: z.array(ITEM) } };
    app.get('/v1/sliced', { config, schema }, async (_request, reply) =>
      sendSlices(reply, slices(), (item) => item),
    );
  };
  return { seen, routes };
}

describe('a list that is read as it is sent', () => {
  const startSliced = async (routes: FastifyPluginAsync): Promise<ServiceApp> => {
    service = await startServiceApp([routes, listRoutes([])], {
      config: { rateLimitPerMinute: 100_000, trustedProxies: [] },
    });
    return service;
  };
  const headers = { authorization: `Bearer ${KEYS.read}` };
  /** The response, of which nothing is read as yet. */
  const begun = async ({ port }: ServiceApp): Promise<IncomingMessage> => {
    const sent = request({ host: '127.0.0.1', port, path: '/v1/sliced', headers, agent: false });
    sent.end();
    const [response] = await once(sent, 'response');
    return response;
  };

  it.each([
    ['nothing', 0, ''],
    ['one item', 1, 'é'],
    ['a few', 3, '"漢😀"'],
    ['megabytes', 8, '漢"'.repeat(100_000)],
    ['thousands', 30_000, 'é 😀 a text of some length'],
  ])('of %s has what its schema declares', async (_what, count, text) => {
    const { routes } = sliced(count, text);
    const { ask } = await startSliced(routes);
    const reply = await ask('/v1/sliced');
    expect(reply).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
    const items = Array.from({ length: count }, (_, id) => ({ id, text }));
    expect(reply.text === JSON.stringify(items)).toBe(true);
    expect(await ask('/v1/sliced', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  it('is read only as far as the client receives it', async () => {
    const { seen, routes } = sliced(80, 'x'.repeat(1_000_000));
    const app = await startSliced(routes);
    const response = await begun(app);
    for (let before = -1; seen.read !== before; ) {
      before = seen.read;
      for (let round = 0; round < 20; round += 1) await app.ask('/v1/items');
    }
    // About as many as the sockets buffer.
    expect(seen.read).toBeLessThan(50);
    expect(await json(response)).toHaveLength(80);
    expect(seen.read).toBe(80);
  });

  it('is read no further when the client is gone', async () => {
    const { seen, routes } = sliced(200, 'x'.repeat(1_000_000));
    const app = await startSliced(routes);
    (await begun(app)).destroy();
    await seen.ended;
    expect(seen.read).toBeLessThan(200);
    expect(JSON.stringify(app.logs.records())).not.toContain('broken off');
  });

  it('is an error response if it fails before its first byte', async () => {
    const { routes } = sliced(5, 'x', 3);
    const { ask } = await startSliced(routes);
    expect((await ask('/v1/sliced')).status).toBe(503);
  });

  it('is aborted if it fails later, so that no client treats it as complete', async () => {
    const { routes } = sliced(5, 'x'.repeat(1_000_000), 4);
    const app = await startSliced(routes);
    await expect(buffer(await begun(app))).rejects.toThrow('aborted');
    expect(JSON.stringify(app.logs.records())).toContain('an answer was aborted half-way');
  });
});

describe('an object with lists', () => {
  const shapedOf = (items: readonly Item[]) => {
    return {
      name: 'a batch',
      items: items.map(({ id, text }) => ({ id, text })),
      more: ['"é"'],
      late: items.map(({ id }) => id),
    };
  };

  it.each([
    ['no item', many(0, '')],
    ['a few items', many(100, 'é')],
    ['many items', many(101, '"漢😀\ud800"')],
    ['megabytes', many(150, '漢"'.repeat(2_000))],
    ['thousands of items', many(10_000, 'é 😀 a text of some length')],
  ])('of %s has what its schema declares, in its order, and says its length', async (_, items) => {
    const { ask } = await start(items);
    const shaped = shapedOf(items);
    const answers = { '/v1/batch': shaped, '/v1/batches': [shaped, { ...shaped, items: [] }] };
    for (const [path, answer] of Object.entries(answers)) {
      const body = JSON.stringify(answer);
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(Buffer.byteLength(body)),
      };
      const reply = await ask(path);
      expect(reply).toMatchObject({ status: 200, headers });
      expect(reply.text === body).toBe(true);
    }
  });

  it.each([
    ['a few items', many(3, 'é'.repeat(2_000))],
    ['many items', many(200, 'é')],
    ['megabytes', many(150, '漢"'.repeat(2_000))],
  ])('of %s is packed where that is asked for', async (_, items) => {
    const { port } = await start(items);
    const headers = { authorization: `Bearer ${KEYS.read}`, 'accept-encoding': 'gzip' };
    const sent = request({ host: '127.0.0.1', port, path: '/v1/batch', headers });
    sent.end();
    const [response] = await once(sent, 'response');
    expect(response.headers).toMatchObject({
      'content-encoding': 'gzip',
      vary: 'accept-encoding',
    });
    const text = gunzipSync(await buffer(response)).toString();
    expect(text === JSON.stringify(shapedOf(items))).toBe(true);
  });

  it('with an item that does not match its schema is an internal error that shows nothing of the item', async () => {
    const wrong = { id: 'hunter2', text: 'a' } as unknown as Item;
    const { ask } = await start([...many(200, 'xxx'), wrong]);
    for (const path of ['/v1/batch', '/v1/batches']) {
      const reply = await ask(path);
      expect(reply.status).toBe(500);
      expect(reply.text).not.toMatch(/hunter2|xxx/);
    }
  });

  it('is checked by the limits of its length', async () => {
    const { ask } = await start(many(201, 'a'));
    expect((await ask('/v1/few-in-batch')).status).toBe(500);
    expect((await ask('/v1/batch')).status).toBe(200);
  });

  it.each(['/v1/batch', '/v1/batches'])('is made item by item at %s', async (path) => {
    const { items, order } = watchedItems(101);
    const { ask } = await start(items, { clock: SLOW_CLOCK });
    expect((await ask(path)).status).toBe(200);
    expect(order.slice(0, 5)).toEqual(['item 1', 'another', 'item 2', 'another', 'item 3']);
  });
});
