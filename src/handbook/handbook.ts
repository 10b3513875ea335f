import { readDocuments } from './documents.ts';
import {
  anchorOf,
  type Block,
  blocksOf,
  headingInlines,
  type Inline,
  type LinkTarget,
  type MarkdownContext,
  plainText,
  type SourceSection,
  sectionsOf,
} from './markdown.ts';
import { TOPICS, type Topic } from './topics.ts';

export interface DocumentSection {
  readonly anchor: string;
  /** Null for the text under the title of the topic. */
  readonly heading: readonly Inline[] | null;
  readonly title: string;
  /** 2 for the sections of a topic, 3 for those below them, and so on. */
  readonly level: number;
  readonly blocks: readonly Block[];
}

export interface TopicPage {
  readonly topic: Topic;
  readonly sections: readonly DocumentSection[];
}

/** The users' parts of the documents, divided into topics. */
export interface Handbook {
  /** In the order of TOPICS. */
  readonly pages: readonly TopicPage[];
}

/** @throws VedetteError where a document is missing */
export async function loadHandbook(): Promise<Handbook> {
  return createHandbook(await readDocuments());
}

/**
 * Its pages are rendered when they are first read: that takes 0.2 s of CPU time, which a service
 * without readers of the handbook saves.
 *
 * @param documents the texts of the documents by their paths in the package
 * @param topics instead of the topics of Vedette, for tests
 */
export function createHandbook(
  documents: ReadonlyMap<string, string>,
  topics: readonly Topic[] = TOPICS,
): Handbook {
  let pages: readonly TopicPage[] | null = null;
  return {
    get pages() {
      pages ??= createPages(documents, topics);
      return pages;
    },
  };
}

function createPages(
  documents: ReadonlyMap<string, string>,
  topics: readonly Topic[],
): readonly TopicPage[] {
  const placed = [...documents].flatMap(([document, text]) =>
    placeSections(document, text, topics),
  );
  const byAddress = new Map<string, LinkTarget>();
  for (const { topic, source, document } of placed) {
    const anchor = anchorOf(source);
    byAddress.set(`${document}#${anchor}`, { kind: 'topic', topic, anchor });
  }
  return topics.map((topic) => {
    const sections = placed.filter((each) => each.topic === topic.name);
    const resolve = (href: string): LinkTarget | null =>
      linkTarget(href, topic.document, byAddress, topics);
    return { topic, sections: pageSections(sections, topic, resolve) };
  });
}

/** The page of a topic by its name; null if there is none. */
export function pageOf({ pages }: Handbook, name: string): TopicPage | null {
  return pages.find(({ topic }) => topic.name === name) ?? null;
}

interface PlacedSection extends SourceSection {
  readonly document: string;
  readonly topic: string;
}

/** The sections that belong to a topic: see TOPIC_GROUPS. */
function placeSections(
  document: string,
  text: string,
  topics: readonly Topic[],
): readonly PlacedSection[] {
  const mine = topics.filter((topic) => topic.document === document);
  /** The topics of the headings above, by level. */
  const above: (string | undefined)[] = [];
  return sectionsOf(text).flatMap((section) => {
    const { level, source } = section;
    const named = mine.find(({ headings }) => headings.includes(source))?.name;
    const topic = named ?? (level > 2 ? above[level - 1] : undefined);
    above[level] = topic;
    above.length = level + 1;
    return topic === undefined ? [] : [{ ...section, document, topic }];
  });
}

/**
 * The first section of a topic has the topic's title as its heading, except where others of its level
 * follow. So has the title of a document, and the section below it that is named like the topic.
 */
function pageSections(
  sections: readonly PlacedSection[],
  { title }: Topic,
  resolve: MarkdownContext['resolve'],
): readonly DocumentSection[] {
  const top = Math.min(...sections.map(({ level }) => level));
  const isAlone = sections.filter(({ level }) => level === top).length === 1;
  const opens = ({ level, source }: PlacedSection, index: number): boolean =>
    (index === 0 && (isAlone || level === 1)) || (index === 1 && source === title);
  const shown = sections.filter((section, index) => !opens(section, index));
  const shift = Math.min(...shown.map(({ level }) => level)) - 2;
  const anchors = new Set(sections.map(({ source }) => anchorOf(source)));
  return sections.map((section, index) => {
    const anchor = anchorOf(section.source);
    const heading = opens(section, index) ? null : headingInlines(section.source);
    const anchorFor = (name: string): string | null => {
      const free = [name, `${anchor}-${name}`].find((each) => !anchors.has(each)) ?? null;
      if (free !== null) anchors.add(free);
      return free;
    };
    return {
      anchor,
      heading,
      title: heading === null ? title : plainText(heading),
      level: heading === null ? 1 : section.level - shift,
      blocks: blocksOf(section.tokens, { resolve, anchorFor }),
    };
  });
}

function linkTarget(
  href: string,
  document: string,
  byAddress: ReadonlyMap<string, LinkTarget>,
  topics: readonly Topic[],
): LinkTarget | null {
  // The root of the URL represents the root of the package.
  const base = `file:///${document}`;
  if (!URL.canParse(href, base)) return null;
  const url = new URL(href, base);
  if (/^https?:$/.test(url.protocol)) return { kind: 'outside', url: href };
  if (url.protocol !== 'file:') return null;
  const path = decodeURIComponent(url.pathname.slice(1));
  if (url.hash !== '') {
    return byAddress.get(`${path}#${decodeURIComponent(url.hash.slice(1))}`) ?? null;
  }
  const first = topics.find((topic) => topic.document === path);
  return first === undefined ? null : { kind: 'topic', topic: first.name, anchor: null };
}
