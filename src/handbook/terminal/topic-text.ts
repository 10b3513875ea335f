import type { DocumentSection, TopicPage } from '../handbook.ts';
import type { Block, ListBlock } from '../markdown.ts';
import { markdownTableLines } from './markdown-table.ts';
import { paint, spansOf, type TextStyle, wrap } from './spans.ts';

const INDENT = '  ';
const CODE_INDENT = '    ';
const LONG_ITEM_LINES = 3;

interface Page {
  readonly topic: string;
  readonly style: TextStyle;
}

/** A topic for a terminal. Code is never wrapped, so that it can be copied. */
export function topicText({ topic, sections }: TopicPage, width: number, style: TextStyle): string {
  const page = { topic: topic.name, style };
  const lines = sections.flatMap((section) => sectionLines(section, width, page));
  return `${[style.strong(topic.title), ...lines].join('\n')}\n`;
}

function sectionLines(
  { heading, blocks }: DocumentSection,
  width: number,
  page: Page,
): readonly string[] {
  const plain = { ...page.style, codeMark: '' };
  const title =
    heading === null
      ? []
      : wrap(spansOf(heading, page.topic, plain, 'strong'), width).map((line) =>
          page.style.strong(line.map(({ text }) => text).join('')),
        );
  const body = blocks.flatMap((block) => [
    '',
    ...indented(blockLines(block, width - INDENT.length, page), INDENT),
  ]);
  return [
    ...(title.length === 0 ? [] : ['', ...title]),
    ...(title.length === 0 ? body : body.slice(1)),
  ];
}

function blockLines(block: Block, width: number, page: Page): readonly string[] {
  switch (block.kind) {
    case 'paragraph':
      return wrap(spansOf(block.inlines, page.topic, page.style), width).map((line) =>
        paint(line, page.style),
      );
    case 'code':
      return indented(block.text.split('\n'), CODE_INDENT);
    case 'quote':
      return indented(blocksLines(block.blocks, width - INDENT.length, page), INDENT);
    case 'list':
      return listLines(block, width, page);
    case 'table':
      return markdownTableLines(block, width, page.topic, page.style);
  }
}

/** Blocks with empty lines between them. */
function blocksLines(blocks: readonly Block[], width: number, page: Page): readonly string[] {
  return blocks.flatMap((block, index) => {
    const lines = blockLines(block, width, page);
    // A list inside an item continues its text.
    return index === 0 || block.kind === 'list' ? lines : ['', ...lines];
  });
}

/** Items that take several lines have empty lines between them. */
function listLines({ ordered, items }: ListBlock, width: number, page: Page): readonly string[] {
  const texts = items.map((item, index) => {
    const mark = ordered ? `${index + 1}. ` : '- ';
    const [first = '', ...rest] = blocksLines(item, width - mark.length, page);
    return [`${mark}${first}`, ...indented(rest, ' '.repeat(mark.length))];
  });
  const isLong = texts.some(({ length }) => length >= LONG_ITEM_LINES);
  return texts.flatMap((lines, index) => (isLong && index > 0 ? ['', ...lines] : lines));
}

function indented(lines: readonly string[], indent: string): readonly string[] {
  return lines.map((line) => (line === '' ? '' : `${indent}${line}`));
}
