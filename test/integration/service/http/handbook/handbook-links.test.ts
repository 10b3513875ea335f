import { afterAll, expect, it } from 'vitest';
import { loadHandbook } from '../../../../../src/handbook/handbook.ts';
import { TOPICS } from '../../../../../src/handbook/topics.ts';
import { readTags } from '../../../../support/html-tags.ts';
import { emptyService } from '../../../../support/openapi/service-document.ts';

const app = await emptyService(await loadHandbook());
afterAll(() => app.close());

const page = async (path: string): Promise<string> => (await app.inject({ url: path })).body;

it('the handbook links operations that the page of the API has', async () => {
  const api = await page('/docs/api');
  const anchors = new Set([...api.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id));
  const pages = await Promise.all(TOPICS.map(({ name }) => page(`/docs/${name}`)));
  const linked = pages.flatMap((html) =>
    [...html.matchAll(/href="\/docs\/api#([^"]*)"/g)].map(([, anchor]) => anchor),
  );
  expect(linked.length).toBeGreaterThan(100);
  expect(linked.filter((anchor) => !anchors.has(anchor))).toEqual([]);
});

it('the page of the whole API is well-formed, and has each anchor once', async () => {
  const api = await page('/docs/api');
  readTags(api);
  const ids = [...api.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});
