import { htmlEscaped } from '../../runtime/text/html-escaped.ts';
import { VERSION } from '../../runtime/version.ts';
import { MAX_QUERY_CHARS } from '../search/handbook-index.ts';
import { API_GROUP, TOPIC_GROUPS, type TopicGroup } from '../topics.ts';
import { STYLE } from './style.ts';

export interface PageParts {
  readonly title: string;
  /** The name of the topic; `api` on the page of the API, and `front` on the list of topics. */
  readonly current: string | null;
  /** What the search form contains. */
  readonly query?: string;
  /** HTML. */
  readonly main: string;
  /** The path of its script; default: none. */
  readonly script?: string;
  /** The sections in the list of contents beside the text. */
  readonly contents?: readonly { readonly anchor: string; readonly title: string }[];
}

/** The icon of the browser tab, in a colour that is visible on light and dark tabs. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><g stroke="#3f7fd0" fill="none" stroke-width="2" stroke-linejoin="round"><path d="M10 1.5l8 16H2z"/><circle cx="10" cy="11.5" r="1.2" fill="#3f7fd0"/></g></svg>\n';
const LOGO =
  '<svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true"><path d="M10 1l8 17H2z" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round"/><circle cx="10" cy="11" r="2" fill="currentColor"/></svg>';
/** With fewer sections a list of contents would only repeat the page. */
const MIN_CONTENTS = 3;

/** A whole page of the handbook: header, search, topics. It loads only its icon and its script. */
export function pageHtml(parts: PageParts): string {
  const { title, current, query = '', main, script, contents = [] } = parts;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${htmlEscaped(title)} – Vedette</title><link rel="icon" href="/docs/icon.svg"><style>${STYLE}</style>${script === undefined ? '' : `<script src="${htmlEscaped(script)}" defer></script>`}</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header class="top"><a class="brand" href="/docs">${LOGO}Vedette <span>Handbook</span></a>
${headerForm(query)}
<a class="link topics-link" href="${current === 'front' ? '#main' : '#topics'}">Topics</a><a class="link"${here(current === 'api')} href="/docs/api">API<span class="wide"> reference</span></a></header>
<div class="page${current === 'front' ? ' front' : ''}">
<main id="main"><h1>${htmlEscaped(title)}</h1>
<div class="text">${contentsHtml(contents)}<article>${main}</article></div></main>
${current === 'front' ? '' : topicsHtml(current)}
</div>
<footer>Vedette ${htmlEscaped(VERSION)}. On a terminal: <code>vedette help</code></footer>
</body></html>
`;
}

/** The search form in the header of a page. */
function headerForm(query: string): string {
  return `<form class="search" role="search" ${formContent(query, 'search')}</form>`;
}

/** An empty search form within the text of a page. */
export function searchForm(): string {
  return `<form class="search again" ${formContent('', 'search-again')}</form>`;
}

function formContent(query: string, id: string): string {
  return `action="/docs/search" method="get"><label for="${id}">Search the handbook</label><input id="${id}" type="search" name="q" value="${htmlEscaped(query)}" maxlength="${MAX_QUERY_CHARS}" placeholder="Search the handbook" autocomplete="off" required><button>Search</button>`;
}

/** On the page of a topic only its group is open, on all other pages every group. */
function topicsHtml(current: string | null): string {
  const isIn = ({ title, topics }: TopicGroup): boolean =>
    topics.some(({ name }) => name === current) || (title === API_GROUP && current === 'api');
  const opensAll = !TOPIC_GROUPS.some(isIn);
  const groups = TOPIC_GROUPS.map((group) => {
    const links = group.topics.map(
      (topic) =>
        `<li><a${here(topic.name === current)} href="/docs/${topic.name}">${htmlEscaped(topic.title)}</a></li>`,
    );
    const open = opensAll || isIn(group) ? ' open' : '';
    const more = group.title === API_GROUP ? apiLink(current) : '';
    return `<details${open}><summary>${htmlEscaped(group.title)}</summary><ul>${links.join('')}${more}</ul></details>`;
  });
  return `<nav id="topics" class="topics" aria-label="Topics">${groups.join('')}</nav>`;
}

function apiLink(current: string | null): string {
  return `<li><a${here(current === 'api')} href="/docs/api">API reference</a></li>`;
}

function here(isCurrent: boolean): string {
  return isCurrent ? ' aria-current="page"' : '';
}

function contentsHtml(contents: NonNullable<PageParts['contents']>): string {
  if (contents.length < MIN_CONTENTS) return '';
  const links = contents.map(
    ({ anchor, title }) => `<li><a href="#${htmlEscaped(anchor)}">${htmlEscaped(title)}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${links.join('')}</ul></nav>`;
}
