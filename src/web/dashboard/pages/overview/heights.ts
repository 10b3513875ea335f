import { useEffect, useState } from 'preact/hooks';

/** Pixels, as in overview.css. */
const HEIGHTS = {
  wide: { broken: 76, other: 40, section: 44 },
  narrow: { broken: 136, other: 92, section: 84 },
} as const;
const NARROW = '(max-width: 899px)';

export interface RowHeights {
  readonly broken: number;
  readonly other: number;
  /** The heading of a section. */
  readonly section: number;
}

export function useHeights(): RowHeights {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const onChange = (): void => setNarrow(media.matches);
    media.addEventListener('change', onChange);
    return () => media.removeEventListener('change', onChange);
  }, []);
  return isNarrow ? HEIGHTS.narrow : HEIGHTS.wide;
}
