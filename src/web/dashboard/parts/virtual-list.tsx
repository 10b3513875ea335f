import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface VirtualListProps {
  readonly length: number;
  /** Of each row, in pixels. */
  readonly rowHeight: number;
  /** An `<li>`. */
  readonly row: (index: number) => ComponentChildren;
  /** Called with the rows that are shown, the last one excluded. */
  readonly onRange?: (from: number, to: number) => void;
  readonly label: string;
}

/** Rows above and below the window, so that scrolling shows no gaps. */
const BEYOND = 12;

/** A long list that scrolls with the window: only the rows near it are in the document. */
export function VirtualList(props: VirtualListProps) {
  const { length, rowHeight, row, onRange, label } = props;
  const root = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState({ from: 0, to: Math.min(length, 30) });

  useLayoutEffect(() => {
    let frame: number | null = null;
    const measure = (): void => {
      frame = null;
      const top = root.current?.getBoundingClientRect().top ?? 0;
      const first = Math.floor(-top / rowHeight);
      const inView = Math.ceil(innerHeight / rowHeight);
      const from = Math.max(0, Math.min(length, first - BEYOND));
      const to = Math.max(0, Math.min(length, first + inView + BEYOND));
      setRange((old) => (old.from === from && old.to === to ? old : { from, to }));
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
  }, [length, rowHeight]);
  useEffect(() => onRange?.(range.from, range.to), [range.from, range.to, length]);

  const to = Math.min(range.to, length);
  return (
    <div class="virtual" ref={root} style={{ height: `${length * rowHeight}px` }}>
      <ul
        class="virtual-rows"
        aria-label={label}
        style={{ transform: `translateY(${range.from * rowHeight}px)` }}
      >
        {Array.from({ length: Math.max(0, to - range.from) }, (_, index) =>
          row(range.from + index),
        )}
      </ul>
    </div>
  );
}
