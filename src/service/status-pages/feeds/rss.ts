import type { Feed } from './entries.ts';
import { element, xmlText } from './markup.ts';

/** RSS 2.0, with the link to itself that the RSS Best Practices Profile asks for. */
export function rssFeed(feed: Feed, selfUrl: string): string {
  const items = feed.entries.map(
    ({ id, title, url, category, updatedMs, html }) =>
      `<item>${element('guid', id, 'isPermaLink="false"')}${element('title', title)}` +
      `${element('link', url)}${element('pubDate', dateOf(updatedMs))}` +
      `${element('category', category)}${element('description', html)}</item>\n`,
  );
  return (
    '<?xml version="1.0" encoding="utf-8"?>\n' +
    '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>\n' +
    `${element('title', feed.title)}${element('link', feed.url)}` +
    `${element('description', feed.subtitle)}${element('lastBuildDate', dateOf(feed.updatedMs))}` +
    `<atom:link rel="self" type="application/rss+xml" href="${xmlText(selfUrl)}"/>\n` +
    `${items.join('')}</channel></rss>\n`
  );
}

/** RFC 822 with a year of four digits. */
function dateOf(atMs: number): string {
  return new Date(atMs).toUTCString();
}
