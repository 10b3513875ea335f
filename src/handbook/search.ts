import { nearestName } from '../runtime/text/nearest-name.ts';
import type { Handbook, Section } from './handbook.ts';
import { type Block, plainText, type Row } from './markdown.ts';
import type { Topic } from './topics.ts';

/** Longer queries are cut. */
export const MAX_QUERY_CHARS = 200;
const MAX_WORDS = 8;
const MAX_HITS = 20;
const EXCERPT_CHARS = 260;
/** How much of an excerpt stands before the first match. */
const LEAD_CHARS = 60;
/** What a word counts in the title of a section or topic, and in a name that a row defines. */
const TITLE_WEIGHT = 6;
const NAME_WEIGHT = 10;
/** What a word counts that only begins like the one searched. */
const PREFIX_WEIGHT = 0.4;
const SHORTEST_PREFIX = 2;
const WORD = /[\p{L}\p{N}_]+/gu;

export interface Hit {
  readonly topic: Topic;
  /** Of the section, or the name that a row of a table defines. */
  readonly title: string;
  readonly anchor: string;
  readonly excerpt: readonly ExcerptPart[];
}

export interface ExcerptPart {
  readonly text: string;
  readonly isMatch: boolean;
}

export interface SearchResult {
  /** Best first: one for each section. */
  readonly hits: readonly Hit[];
  /** Whether each hit has all words of the query. */
  readonly hasAll: boolean;
  /** The words that no section has. */
  readonly missing: readonly string[];
  /** The query with its missing words replaced by the nearest ones; null where there is none. */
  readonly nearest: string | null;
  /** Whether a part of the query was left out. */
  readonly cut: boolean;
}

/** A paragraph, an item or a row: the unit that an excerpt shows. */
interface Passage {
  readonly text: string;
  readonly words: ReadonlyMap<string, number>;
  /** The name that a row defines. */
  readonly name: string | null;
  readonly anchor: string | null;
}

interface Entry {
  readonly topic: Topic;
  readonly section: Section;
  readonly titleWords: ReadonlyMap<string, number>;
  readonly passages: readonly Passage[];
}

/** A full-text index over the sections of the handbook. */
export class HandbookIndex {
  readonly #entries: readonly Entry[];
  /** In how many sections each word is. */
  readonly #frequency = new Map<string, number>();

  constructor({ pages }: Handbook) {
    this.#entries = pages.flatMap(({ topic, sections }) =>
      sections.map((section) => ({
        topic,
        section,
        titleWords: countWords(`${section.title} ${topic.title} ${topic.name}`),
        passages: section.blocks.flatMap(passagesOf),
      })),
    );
    for (const { titleWords, passages } of this.#entries) {
      const words = new Set(
        [titleWords, ...passages.map((each) => each.words)].flatMap((map) => [...map.keys()]),
      );
      for (const word of words) this.#frequency.set(word, (this.#frequency.get(word) ?? 0) + 1);
    }
  }

  search(query: string): SearchResult {
    const bounded = query.slice(0, MAX_QUERY_CHARS);
    const given = [...new Set(bounded.toLowerCase().match(WORD) ?? [])];
    const terms = given.slice(0, MAX_WORDS).map((word) => this.#termOf(word));
    const scored = this.#entries
      .map((entry) => score(entry, terms))
      .filter(({ matched }) => matched > 0);
    const complete = scored.filter(({ matched }) => matched === terms.length);
    const best = (complete.length > 0 ? complete : scored)
      .sort((one, other) => other.matched - one.matched || other.score - one.score)
      .slice(0, MAX_HITS);
    const missing = terms.filter(({ forms }) => forms.size === 0).map(({ word }) => word);
    return {
      hits: best.map(({ entry, passage }) => hitOf(entry, passage, terms)),
      hasAll: complete.length > 0,
      missing,
      nearest: this.#nearest(terms, missing),
      cut: query.length > MAX_QUERY_CHARS || given.length > MAX_WORDS,
    };
  }

  /** The words of the index that a searched word stands for, each with its weight. */
  #termOf(word: string): Term {
    const stem = stemOf(word);
    const forms = new Map<string, number>();
    for (const [known, count] of this.#frequency) {
      const rarity = Math.log(1 + this.#entries.length / count);
      if (stemOf(known) === stem) forms.set(known, rarity);
      else if (word.length >= SHORTEST_PREFIX && known.startsWith(word)) {
        forms.set(known, rarity * PREFIX_WEIGHT);
      }
    }
    return { word, forms };
  }

  #nearest(terms: readonly Term[], missing: readonly string[]): string | null {
    if (missing.length === 0) return null;
    const known = [...this.#frequency.keys()].filter((word) => word.length > 2);
    const words = terms.map(({ word }) =>
      missing.includes(word) ? nearestName(word, known) : word,
    );
    return words.includes(null) ? null : words.join(' ');
  }
}

interface Term {
  readonly word: string;
  readonly forms: ReadonlyMap<string, number>;
}

interface Scored {
  readonly entry: Entry;
  /** How many of the terms the section has. */
  readonly matched: number;
  readonly score: number;
  readonly passage: Passage | null;
}

function score(entry: Entry, terms: readonly Term[]): Scored {
  let [matched, total] = [0, 0];
  const ofPassages = new Map<Passage, number>();
  for (const { word, forms } of terms) {
    let inTitle = 0;
    let inText = 0;
    for (const [form, weight] of forms) {
      if (entry.titleWords.has(form)) inTitle = Math.max(inTitle, weight * TITLE_WEIGHT);
      for (const passage of entry.passages) {
        const count = passage.words.get(form);
        if (count === undefined) continue;
        const isName = passage.name?.toLowerCase() === word;
        const value = weight * (isName ? NAME_WEIGHT : 1 + Math.log(count));
        inText = Math.max(inText, value);
        // A passage with all words comes before one that has a single word often.
        ofPassages.set(passage, (ofPassages.get(passage) ?? 0) + value);
      }
    }
    if (inTitle + inText > 0) matched += 1;
    total += inTitle + inText;
  }
  const [best] = [...ofPassages].sort(([, one], [, other]) => other - one);
  return { entry, matched, score: total + (best?.[1] ?? 0), passage: best?.[0] ?? null };
}

function hitOf(
  { topic, section, passages }: Entry,
  best: Passage | null,
  terms: readonly Term[],
): Hit {
  const passage = best ?? passages[0];
  const isNamed = terms.some(({ word }) => passage?.name?.toLowerCase() === word);
  return {
    topic,
    title: isNamed ? (passage?.name ?? section.title) : section.title,
    anchor: best?.anchor ?? section.anchor,
    excerpt: excerptOf(passage?.text ?? '', terms),
  };
}

/** A part of the text around its first match. */
function excerptOf(text: string, terms: readonly Term[]): readonly ExcerptPart[] {
  const forms = new Set(terms.flatMap(({ forms }) => [...forms.keys()]));
  const isMatch = (word: string): boolean => wordForms(word).some((form) => forms.has(form));
  const matches = [...text.matchAll(WORD)].filter(([word]) => isMatch(word));
  const first = matches[0]?.index ?? 0;
  const from = first <= LEAD_CHARS ? 0 : text.indexOf(' ', first - LEAD_CHARS) + 1;
  const space = text.lastIndexOf(' ', from + EXCERPT_CHARS);
  const to =
    text.length - from <= EXCERPT_CHARS || space <= first
      ? Math.min(text.length, Math.max(from + EXCERPT_CHARS, 0))
      : space;
  const parts: ExcerptPart[] = from === 0 ? [] : [{ text: '… ', isMatch: false }];
  let at = from;
  for (const { index, 0: word } of matches) {
    if (index < at || index + word.length > to) continue;
    if (index > at) parts.push({ text: text.slice(at, index), isMatch: false });
    parts.push({ text: word, isMatch: true });
    at = index + word.length;
  }
  parts.push({ text: `${text.slice(at, to)}${to < text.length ? ' …' : ''}`, isMatch: false });
  return parts.filter((part) => part.text !== '');
}

function passagesOf(block: Block): readonly Passage[] {
  switch (block.kind) {
    case 'paragraph':
      return [passage(plainText(block.inlines))];
    case 'code':
      return [passage(block.text.replaceAll(/\s+/g, ' '))];
    case 'quote':
      return block.blocks.flatMap(passagesOf);
    case 'list':
      return block.items.flatMap((item) => item.flatMap(passagesOf));
    case 'table':
      return block.rows.map(rowPassage);
  }
}

function rowPassage({ cells, anchor }: Row): Passage {
  const [first = [], ...others] = cells;
  const name = plainText(first);
  const rest = others.map(plainText).filter((text) => text !== '' && text !== '–');
  return passage(`${name}: ${rest.join(' · ')}`, anchor === null ? null : name, anchor);
}

function passage(text: string, name: string | null = null, anchor: string | null = null): Passage {
  return { text, words: countWords(text), name, anchor };
}

function countWords(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [word] of text.matchAll(WORD)) {
    for (const form of wordForms(word)) counts.set(form, (counts.get(form) ?? 0) + 1);
  }
  return counts;
}

/** A word, and the parts of a name such as RETENTION_DAYS or maxResponseTime, in small letters. */
function wordForms(word: string): readonly string[] {
  const parts = word.split(/_|(?<=[a-z])(?=[A-Z])/).filter((part) => part !== '');
  return [...new Set([word, ...parts].map((part) => part.toLowerCase()))];
}

function stemOf(word: string): string {
  return word.length > 3 && word.endsWith('s') ? word.slice(0, -1) : word;
}
