import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Rows of one height. */
export interface RowBlock {
  readonly key: string;
  readonly length: number;
  /** The height of each row, in pixels. */
  readonly rowHeight: number;
  /** Renders a row: an `<li>` if the block has a label, otherwise any element. */
  readonly row: (index: number) => ComponentChildren;
  /** The label of the rows' list; null if they are no list, such as a heading. */
  readonly label: string | null;
}

/** The range of rows of a block that are shown; `to` is exclusive. */
export interface BlockRange {
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

interface VirtualListProps extends Pick<RowBlock, 'length' | 'rowHeight' | 'row'> {
  readonly label: string;
  /** Called with the range of the shown rows; `to` is exclusive. */
  readonly onRange?: (from: number, to: number) => void;
}

/** Rows are also rendered this many pixels above and below the window, so that scrolling shows no gaps. */
const BEYOND_PX = 640;
/** The assumed height of the window before the position of the list is known. */
const FIRST_PX = 1_600;

/** A long list that scrolls with the window: only the rows near it are in the document. */
export function VirtualList({ onRange, ...block }: VirtualListProps) {
  return (
    <VirtualBlocks
      blocks={[{ ...block, key: 'rows' }]}
      onRanges={(shown) => onRange?.(shown[0]?.from ?? 0, shown[0]?.to ?? 0)}
    />
  );
}

/** Blocks below each other, such as headings and lists, as one long list. */
export function VirtualBlocks({
  blocks,
  onRanges,
}: {
  /** Blocks with different keys. */
  readonly blocks: readonly RowBlock[];
  /** Called with the shown ranges. */
  readonly onRanges?: (shown: readonly BlockRange[]) => void;
}) {
  const root = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ fromPx: 0, toPx: FIRST_PX });
  const { shown, height } = shownIn(blocks, view);
  const now = useRef({ blocks, ranges: textOf(shown) });
  now.current = { blocks, ranges: textOf(shown) };
  const shape = blocks.map(({ key, length, rowHeight }) => `${key} ${length} ${rowHeight}`).join();

  useLayoutEffect(() => {
    let frame: number | null = null;
    const measure = (): void => {
      frame = null;
      const top = root.current?.getBoundingClientRect().top ?? 0;
      const next = { fromPx: -top - BEYOND_PX, toPx: -top + innerHeight + BEYOND_PX };
      const ranges = textOf(shownIn(now.current.blocks, next).shown);
      if (ranges !== now.current.ranges) setView(next);
    };
    const onScroll = (): void => {
      frame ??= requestAnimationFrame(measure);
    };
    measure();
    addEventListener('scroll', onScroll, { passive: true });
    addEventListener('resize', onScroll);
    return () => {
      removeEventListener('scroll', onScroll);
      removeEventListener('resize', onScroll);
      if (frame !== null) cancelAnimationFrame(frame);
    };
  }, [shape]);
  useEffect(
    () => onRanges?.(shown.map(({ block: { key }, from, to }) => ({ key, from, to }))),
    [textOf(shown), shape],
  );

  return (
    <div class="virtual" ref={root} style={{ height: `${height}px` }}>
      {shown.map(({ block, top, from, to }) => {
        const { key, label, row, rowHeight } = block;
        const Rows = label === null ? 'div' : 'ul';
        return (
          <Rows
            key={key}
            class="virtual-rows"
            aria-label={label ?? undefined}
            style={{ transform: `translateY(${top + from * rowHeight}px)` }}
          >
            {Array.from({ length: to - from }, (_, index) => row(from + index))}
          </Rows>
        );
      })}
    </div>
  );
}

interface ShownBlock {
  readonly block: RowBlock;
  /** The block's distance from the top, in pixels. */
  readonly top: number;
  readonly from: number;
  readonly to: number;
}

function shownIn(
  blocks: readonly RowBlock[],
  { fromPx, toPx }: { readonly fromPx: number; readonly toPx: number },
): { readonly shown: readonly ShownBlock[]; readonly height: number } {
  const shown: ShownBlock[] = [];
  let top = 0;
  for (const block of blocks) {
    const { length, rowHeight } = block;
    const from = Math.max(0, Math.floor((fromPx - top) / rowHeight));
    const to = Math.min(length, Math.ceil((toPx - top) / rowHeight));
    if (from < to) shown.push({ block, top, from, to });
    top += length * rowHeight;
  }
  return { shown, height: top };
}

function textOf(shown: readonly ShownBlock[]): string {
  return shown.map(({ block, from, to }) => `${block.key} ${from} ${to}`).join();
}
