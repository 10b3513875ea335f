import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../api/errors.ts';
import { useUrlState } from '../shell/url-state.ts';
import { Button } from './button.tsx';
import { Menu, MenuItem } from './menu.tsx';

/** Choices that a hook reads. */
export interface ReadChoices {
  /** Null before they are read. */
  readonly choices: readonly FilterChoice[] | null;
  /** The error of the last reading. */
  readonly error: ApiError | null;
  readonly retry: () => void;
}

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
  /** The choices, or a hook that reads them when they are first shown. */
  readonly choices: readonly FilterChoice[] | (() => ReadChoices);
  /** The names that each choice removes from the query of the address. */
  readonly resets?: readonly string[];
}

const TYPING_MS = 200;

/** Filters whose state is in the address, so that a link shows the same to colleagues. */
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
      {filters.map((filter) => (
        <FilterMenu key={filter.name} {...filter} />
      ))}
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

/** A choice whose state is in the address. */
export function FilterMenu({ name, label, any = 'any', choices, resets = [] }: Filter) {
  const state = useUrlState();
  const value = state.get(name);
  const choose = (next: string | null): void =>
    state.set({ ...Object.fromEntries(resets.map((each) => [each, null])), [name]: next });
  return (
    <Menu
      buttonClass={`button${value === null ? '' : ' chosen'}`}
      label={
        <span class="filter-label">
          {label}: {value === null ? any : <ChosenLabel value={value} choices={choices} />}
        </span>
      }
    >
      <MenuItem isChecked={value === null} onSelect={() => choose(null)}>
        {any.slice(0, 1).toUpperCase() + any.slice(1)}
      </MenuItem>
      <Choices choices={choices} value={value} choose={choose} />
    </Menu>
  );
}

type ChoicesOf = Pick<Filter, 'choices'>;

function readOf(choices: Filter['choices']): ReadChoices {
  return typeof choices === 'function' ? choices() : { choices, error: null, retry: () => {} };
}

function ChosenLabel({ value, choices }: ChoicesOf & { readonly value: string }) {
  const { choices: known } = readOf(choices);
  return <>{known?.find((choice) => choice.value === value)?.label ?? value}</>;
}

function Choices({
  choices,
  value,
  choose,
}: ChoicesOf & { readonly value: string | null; readonly choose: (value: string) => void }) {
  const { choices: known, error, retry } = readOf(choices);
  if (known === null && error !== null) {
    return (
      <>
        <div role="menuitem" aria-disabled="true" tabIndex={-1} class="menu-item failing">
          The choices could not be read: {error.message}
        </div>
        <button
          type="button"
          role="menuitem"
          tabIndex={-1}
          class="menu-item"
          onClick={({ currentTarget }) => {
            // The button disappears when the choices are read, and the menu stays open.
            currentTarget.closest<HTMLElement>('[role=menu]')?.focus();
            retry();
          }}
        >
          Try again
        </button>
      </>
    );
  }
  if (known === null) {
    return (
      <div role="menuitem" aria-disabled="true" tabIndex={-1} class="menu-item muted">
        Loading…
      </div>
    );
  }
  return (
    <>
      {known.map((choice) => (
        <MenuItem
          key={choice.value}
          isChecked={choice.value === value}
          onSelect={() => choose(choice.value)}
        >
          {choice.label}
        </MenuItem>
      ))}
    </>
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
