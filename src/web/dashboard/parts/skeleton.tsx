/** Shown in place of lines that are being loaded, so that nothing moves when they arrive. */
export function Skeleton({
  lines,
  height = 20,
  label = 'Loading',
}: {
  readonly lines: number;
  /** The height of a line, in pixels. */
  readonly height?: number;
  readonly label?: string;
}) {
  return (
    <div class="skeleton" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, index) => (
        <div class="skeleton-line" style={{ height: `${height}px` }} key={index}>
          <i style={{ width: `${60 + ((index * 17) % 35)}%` }} />
        </div>
      ))}
    </div>
  );
}
