import { describe, expect, it } from 'vitest';
import { loadHandbook } from '../../../../src/handbook/handbook.ts';
import {
  indexHtml,
  searchHtml,
  topicHtml,
  unknownTopicHtml,
} from '../../../../src/handbook/html/pages.ts';
import { HandbookIndex } from '../../../../src/handbook/search/handbook-index.ts';
import { TOPICS } from '../../../../src/handbook/topics.ts';
import { handbookOf, topicOf } from '../../../support/handbook.ts';
import { readTags } from '../../../support/html-tags.ts';

const handbook = await loadHandbook();
const index = new HandbookIndex(handbook);
const HOSTILE = '"><script>alert(1)</script>\'&amp;';
const pages = new Map([
  ['/docs', indexHtml()],
  ...handbook.pages.map((page) => [`/docs/${page.topic.name}`, topicHtml(page)] as const),
]);
const all = new Map([
  ...pages,
  ['search', searchHtml('retention', index.search('retention'))],
  ['search of nothing', searchHtml('', index.search(''))],
  ['search without a hit', searchHtml('qqqqqqq', index.search('qqqqqqq'))],
  ['hostile search', searchHtml(HOSTILE, index.search(`${HOSTILE} port`))],
  ['unknown topic', unknownTopicHtml(HOSTILE, TOPICS.slice(0, 2))],
]);

const idsOf = (html: string): readonly string[] =>
  [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id);

describe('the pages of the handbook', () => {
  it.each([...all])('%s is well-formed, and has no script', (_path, html) => {
    const { names } = readTags(html);
    const forbidden = ['script', 'img', 'iframe', 'object', 'base', 'svg onload'];
    expect(
      [...names].filter((name) => forbidden.includes(name) || /src| on|style$/.test(name)),
    ).toEqual(['style'].filter((name) => names.has(name)));
    expect(html.match(/<h1>/g)).toHaveLength(1);
    expect(html).toContain('action="/docs/search"');
    expect(html).toContain('href="/docs/api"');
  });

  it.each([...all])('%s has each id once', (_path, html) => {
    const ids = idsOf(html);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  it.each([...all])('%s has links that lead to a page and a heading in it', (_path, html) => {
    const broken = [...html.matchAll(/href="([^"]*)"/g)]
      .map(([, href = '']) => href)
      .filter((href) => !/^https?:|^\/docs\/(?:api$|api#|search\?|icon\.svg$)/.test(href))
      .filter((href) => {
        const [path = '', anchor] = href.split('#');
        const page = path === '' ? html : pages.get(path);
        return page === undefined || (anchor !== undefined && !idsOf(page).includes(anchor));
      });
    expect(broken).toEqual([]);
  });

  it('are small', () => {
    const sizes = [...pages.values()].map((html) => html.length);
    expect(Math.max(...sizes)).toBeLessThan(120_000);
  });

  it('show a word of the query as text, whatever it contains', () => {
    const html = all.get('hostile search') ?? '';
    expect(html).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;amp;"');
    expect(html).not.toContain('<script>');
  });

  it('say what to do where the search finds nothing', () => {
    expect(all.get('search without a hit')).toContain('Try fewer or other words');
    expect(all.get('search of nothing')).toContain('Enter one or more words');
  });

  it('say that a query was cut', () => {
    expect(searchHtml('x', index.search('port '.repeat(100)))).toContain('The query was too long');
  });

  it('show HTML of a document as text', () => {
    const text = '# Guide\n\n<b onclick="x()">bold</b> `<i>`\n\n| A |\n| --- |\n| <td> |\n';
    const [page] = handbookOf(text, [topicOf('guide', ['Guide'])]).pages;
    if (page === undefined) throw new Error('no page');
    const html = topicHtml(page);
    readTags(html);
    expect(html).toContain(
      '&lt;b onclick=&quot;x()&quot;&gt;bold&lt;/b&gt; <code>&lt;i&gt;</code>',
    );
    expect(html).toContain('<td data-title="A">&lt;td&gt;</td>');
  });

  it('link code that names an operation, except inside another link', () => {
    const text =
      '# Guide\n\n`PUT /v1/checks/{id}` and [`GET /v1/x`](https://example.com) and `GET …/x`\n';
    const [page] = handbookOf(text, [topicOf('guide', ['Guide'])]).pages;
    expect(page === undefined ? '' : topicHtml(page)).toContain(
      '<a href="/docs/api#put-v1-checks-id"><code>PUT /v1/checks/{id}</code></a> and <a href="https://example.com"><code>GET /v1/x</code></a> and <code>GET …/x</code>',
    );
  });

  it('lead from each topic to the one before and the one after', () => {
    const [first, second, third] = TOPICS;
    const html = pages.get(`/docs/${second?.name}`) ?? '';
    expect(html).toMatch(new RegExp(`class="before" href="/docs/${first?.name}"`));
    expect(html).toMatch(new RegExp(`class="after" href="/docs/${third?.name}"`));
  });
});
