import { htmlEscaped } from '../../runtime/text/html-escaped.ts';
import type { TopicPage } from '../handbook.ts';
import type { Hit, SearchResult } from '../search/handbook-index.ts';
import { API_GROUP, TOPIC_GROUPS, TOPICS, type Topic } from '../topics.ts';
import { hrefOf, sectionHtml } from './content.ts';
import { pageHtml, searchForm } from './page.ts';

/** The list of all topics. */
export function indexHtml(): string {
  const groups = TOPIC_GROUPS.map(
    ({ title, topics }) =>
      `<section class="group"><h2>${htmlEscaped(title)}</h2><ul>${topics.map(topicItem).join('')}${title === API_GROUP ? API_ITEM : ''}</ul></section>`,
  );
  return pageHtml({
    title: 'Handbook',
    current: 'front',
    main: `<p class="lead">How to monitor from inside your network with Vedette: checks, agents, the service and its API.</p>
<p class="start"><a class="button primary" href="/docs/start">Getting started</a> <a class="button" href="/docs/api">API reference</a></p>
<div class="groups">${groups.join('\n')}</div>`,
  });
}

const API_ITEM =
  '<li><a href="/docs/api">API reference</a> <span>every operation with its fields and answers</span></li>';

function topicItem({ name, title, summary }: Topic): string {
  return `<li><a href="/docs/${name}">${htmlEscaped(title)}</a> <span>${htmlEscaped(summary)}</span></li>`;
}

export function topicHtml({ topic, sections }: TopicPage): string {
  const contents = sections.filter(({ heading, level }) => heading !== null && level <= 3);
  const index = TOPICS.indexOf(topic);
  const [before, after] = [TOPICS[index - 1], TOPICS[index + 1]];
  const onwards = [
    before === undefined ? '' : onwardLink(before, 'before', 'Previous'),
    after === undefined ? '' : onwardLink(after, 'after', 'Next'),
  ];
  return pageHtml({
    title: topic.title,
    current: topic.name,
    contents,
    main: `${sections.map(sectionHtml).join('\n')}
<nav class="onward" aria-label="Next topics">${onwards.join('')}</nav>`,
  });
}

function onwardLink({ name, title }: Topic, side: string, label: string): string {
  return `<a class="${side}" href="/docs/${name}"><span>${label}</span> ${htmlEscaped(title)}</a>`;
}

/** @param query the query as it was searched, cut to MAX_QUERY_CHARS */
export function searchHtml(query: string, result: SearchResult): string {
  return pageHtml({
    title: 'Search',
    current: null,
    query,
    main: resultHtml(query, result),
  });
}

function resultHtml(query: string, { hits, cut, hasAll, nearest }: SearchResult): string {
  if (query === '') {
    return '<p>Enter one or more words, such as a variable, an error code or a field.</p>';
  }
  const notes = [
    cut ? 'The query was too long: only its beginning was searched.' : '',
    hits.length > 0 && !hasAll ? 'No section has all these words. These have some of them.' : '',
    nearest === null
      ? ''
      : `Did you mean <a href="/docs/search?q=${encodeURIComponent(nearest)}">${htmlEscaped(nearest)}</a>?`,
  ].filter((note) => note !== '');
  const note = notes.length === 0 ? '' : `<p class="note">${notes.join(' ')}</p>`;
  if (hits.length > 0) return `${note}<ol class="hits">${hits.map(hitHtml).join('\n')}</ol>`;
  return `<p>Nothing in the handbook matches <strong>${htmlEscaped(query)}</strong>.</p>${note}
<ul><li>Try fewer or other words, or the beginning of a word.</li>
<li>Look for fields and endpoints in the <a href="/docs/api">API reference</a>.</li>
<li>Choose from <a href="/docs">all topics</a>.</li></ul>`;
}

function hitHtml({ topic, title, anchor, excerpt }: Hit): string {
  const text = excerpt.map(({ text, isMatch }) =>
    isMatch ? `<mark>${htmlEscaped(text)}</mark>` : htmlEscaped(text),
  );
  const href = hrefOf({ kind: 'topic', topic: topic.name, anchor });
  const where = title === topic.title ? '' : `<span>${htmlEscaped(topic.title)}</span> `;
  return `<li>${where}<a href="${htmlEscaped(href)}">${htmlEscaped(title)}</a><p>${text.join('')}</p></li>`;
}

/** @param nearest the topics with the most similar names */
export function unknownTopicHtml(name: string, nearest: readonly Topic[]): string {
  const list =
    nearest.length === 0
      ? ''
      : `<p>Did you mean one of these?</p><ul class="nearest">${nearest.map(topicItem).join('')}</ul>`;
  return pageHtml({
    title: 'There is no such page',
    current: null,
    main: `<p>The handbook has no topic <strong>${htmlEscaped(name)}</strong>.</p>${list}
<p>Search the handbook, or choose from <a href="/docs">all topics</a>.</p>${searchForm()}`,
  });
}
