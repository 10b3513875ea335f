import { useEffect, useState } from 'preact/hooks';
import { CheckIcon } from './icons.tsx';

const SAID_MS = 2_000;

/** A text with a button that copies it. */
export function Copyable({
  text,
  isBlock = false,
  label = 'Copy',
}: {
  readonly text: string;
  /** For commands: several lines with a background. */
  readonly isBlock?: boolean;
  readonly label?: string;
}) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), SAID_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setState('copied');
    } catch {
      // Without HTTPS browsers offer no clipboard, except on localhost.
      setState(copyBySelection(text) ? 'copied' : 'failed');
    }
  };
  return (
    <span class={`copyable${isBlock ? ' block' : ''}`}>
      {/* A long text can be scrolled, also by keyboard. */}
      <code tabIndex={isBlock ? 0 : undefined}>{text}</code>
      <button
        type="button"
        class="button small"
        aria-label={`${label}: ${text.slice(0, 60)}`}
        onClick={() => void copy()}
      >
        {state === 'copied' ? <CheckIcon /> : null}
        {state === 'copied' ? 'Copied' : state === 'failed' ? 'Select and copy it' : label}
      </button>
    </span>
  );
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'visually-hidden';
  // Within the open window, if there is one: the rest of the page cannot be focused.
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  return isCopied;
}
