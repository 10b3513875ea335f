/** The shapes of states: each differs from the others without its colour. */
export const STATE_SHAPES = {
  failing: (
    <>
      <circle cx="7" cy="7" r="7" fill="currentColor" />
      <path
        d="M4.6 4.6l4.8 4.8M9.4 4.6L4.6 9.4"
        stroke="var(--surface)"
        stroke-width="1.8"
        stroke-linecap="round"
      />
    </>
  ),
  degraded: (
    <>
      <path d="M7 .8l6.6 12H.4z" fill="currentColor" />
      <path
        d="M7 5v3.6M7 10.6v.2"
        stroke="var(--surface)"
        stroke-width="1.6"
        stroke-linecap="round"
      />
    </>
  ),
  passing: (
    <>
      <circle cx="7" cy="7" r="6.2" fill="none" stroke="currentColor" stroke-width="1.6" />
      <path
        d="M4.3 7.2l1.9 1.9 3.6-4"
        fill="none"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </>
  ),
  unknown: (
    <>
      <circle
        cx="7"
        cy="7"
        r="6.2"
        fill="none"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-dasharray="2.4 2"
      />
      <path
        d="M5.4 5.6a1.7 1.7 0 1 1 2.4 1.6c-.5.3-.8.6-.8 1.2M7 10.3v.1"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
        stroke-linecap="round"
      />
    </>
  ),
  paused: (
    <>
      <circle cx="7" cy="7" r="6.2" fill="none" stroke="currentColor" stroke-width="1.6" />
      <path
        d="M5.4 4.8v4.4M8.6 4.8v4.4"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
      />
    </>
  ),
} as const;

export function CheckIcon() {
  return (
    <svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">
      <path d="M2.5 7.5l3 3 6-7" fill="none" stroke="currentColor" stroke-width="1.8" />
    </svg>
  );
}

export function CrossIcon() {
  return (
    <svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">
      <path d="M3 3l8 8M11 3l-8 8" stroke="currentColor" stroke-width="1.6" />
    </svg>
  );
}

export function CaretIcon() {
  return (
    <svg class="caret" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
      <path d="M1.5 3.5L5 7l3.5-3.5" fill="none" stroke="currentColor" stroke-width="1.5" />
    </svg>
  );
}
