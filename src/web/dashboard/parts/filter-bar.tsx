import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useUrlState } from '../shell/url-state.ts';
import { Button } from './button.tsx';
import { Menu, MenuItem } from './menu.tsx';

export interface FilterChoice {
  readonly value: string;
  readonly label: string;
}

export interface Filter {
  /** In the query of the address. */
  readonly name: string;
  readonly label: string;
  /** The name of the choice without a value. Default: any. */
  readonly any?: string;
  readonly choices: readonly FilterChoice[];
}

const TYPING_MS = 200;

/** Filters that are bound to the address: a link shows a colleague the same. */
export function FilterBar({
  filters,
  search,
  children,
}: {
  readonly filters: readonly Filter[];
  /** The label of the field that searches by `search` in the address; left out: none. `/` leads to it. */
  readonly search?: string;
  /** At the end of the bar. */
  readonly children?: ComponentChildren;
}) {
  const state = useUrlState();
  const names = [...filters.map(({ name }) => name), ...(search === undefined ? [] : ['search'])];
  const isFiltered = names.some((name) => state.get(name) !== null);
  return (
    <search class="filters" aria-label="Filters">
      {search !== undefined && <SearchField label={search} />}
      {filters.map(({ name, label, any = 'any', choices }) => {
        const value = state.get(name);
        const chosen = choices.find((choice) => choice.value === value)?.label ?? value;
        return (
          <Menu
            key={name}
            buttonClass={`button${value === null ? '' : ' chosen'}`}
            label={
              <span class="filter-label">
                {label}: {chosen ?? any}
              </span>
            }
          >
            <MenuItem isChecked={value === null} onSelect={() => state.set({ [name]: null })}>
              {any.slice(0, 1).toUpperCase() + any.slice(1)}
            </MenuItem>
            {choices.map((choice) => (
              <MenuItem
                key={choice.value}
                isChecked={choice.value === value}
                onSelect={() => state.set({ [name]: choice.value })}
              >
                {choice.label}
              </MenuItem>
            ))}
          </Menu>
        );
      })}
      {isFiltered && (
        <Button
          kind="plain"
          onClick={() => state.set(Object.fromEntries(names.map((name) => [name, null])))}
        >
          Clear filters
        </Button>
      )}
      <span class="grow" />
      {children}
    </search>
  );
}

function SearchField({ label }: { readonly label: string }) {
  const state = useUrlState();
  const given = state.get('search') ?? '';
  const [text, setText] = useState(given);
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    // Back, or a link to other filters.
    if (document.activeElement !== input.current || given === '') setText(given);
  }, [given]);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      const { activeElement } = document;
      if (activeElement?.matches('input, textarea, select, [contenteditable]')) return;
      if (document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    addEventListener('keydown', onKeyDown);
    return () => {
      removeEventListener('keydown', onKeyDown);
      clearTimeout(timer.current);
    };
  }, []);
  return (
    <label class="search">
      <span class="visually-hidden">{label}</span>
      <input
        type="search"
        ref={input}
        value={text}
        placeholder={label}
        aria-keyshortcuts="/"
        onInput={(event) => {
          const { value } = event.currentTarget;
          setText(value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => state.set({ search: value.trim() || null }), TYPING_MS);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          if (text === '') input.current?.blur();
          setText('');
          clearTimeout(timer.current);
          state.set({ search: null });
        }}
      />
      <kbd>/</kbd>
    </label>
  );
}
