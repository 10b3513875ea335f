import type { Feed } from './entries.ts';
import { element, xmlText } from './markup.ts';

/** RFC 4287. */
export function atomFeed(feed: Feed, selfUrl: string): string {
  const entries = feed.entries.map(
    ({ id, title, url, category, publishedMs, updatedMs, html }) =>
      `<entry>${element('id', id)}${element('title', title)}${element('published', isoOf(publishedMs))}` +
      `${element('updated', isoOf(updatedMs))}<link rel="alternate" type="text/html" href="${xmlText(url)}"/>` +
      `<category term="${xmlText(category)}"/>${element('content', html, 'type="html"')}</entry>\n`,
  );
  return (
    `<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n` +
    `${element('id', feed.id)}${element('title', feed.title)}${element('subtitle', feed.subtitle)}` +
    `${element('updated', isoOf(feed.updatedMs))}<author>${element('name', feed.title)}</author>` +
    `<link rel="self" type="application/atom+xml" href="${xmlText(selfUrl)}"/>` +
    `<link rel="alternate" type="text/html" href="${xmlText(feed.url)}"/>\n` +
    `${entries.join('')}</feed>\n`
  );
}

function isoOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
