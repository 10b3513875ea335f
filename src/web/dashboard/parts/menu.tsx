import { type ComponentChildren, createContext } from 'preact';
import { useContext, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CaretIcon, CheckIcon } from './icons.tsx';

const Close = createContext<() => void>(() => {});

interface MenuProps {
  readonly label: ComponentChildren;
  readonly buttonClass?: string;
  readonly position?: 'below' | 'above' | 'below-end';
  readonly isDisabled?: boolean;
  readonly children: ComponentChildren;
}

/** A button with a menu (WAI-ARIA Authoring Practices, Menu Button): arrows move, Escape closes. */
export function Menu({
  label,
  buttonClass = 'button',
  position = 'below',
  isDisabled = false,
  children,
}: MenuProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const items = (): HTMLElement[] => [
    ...(root.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? []),
  ];
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  // A layout effect: the focus must be there before the next key.
  useLayoutEffect(() => {
    if (!isOpen) return;
    const all = items();
    (all.find((item) => item.ariaChecked === 'true') ?? all[0])?.focus();
    const onPress = (event: PointerEvent): void => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener('pointerdown', onPress);
    return () => removeEventListener('pointerdown', onPress);
  }, [isOpen]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const all = items();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at <= 0 ? all.length - 1 : at - 1,
      Home: 0,
      End: all.length - 1,
    }[event.key];
    if (event.key === 'Escape') {
      event.stopPropagation();
      event.preventDefault();
      close();
    } else if (event.key === 'Tab') {
      setOpen(false);
    } else if (to !== undefined) {
      event.preventDefault();
      all[to % all.length]?.focus();
    } else if (event.key.length === 1 && /\S/.test(event.key)) {
      const after = [...all.slice(at + 1), ...all.slice(0, at + 1)];
      const letter = event.key.toLowerCase();
      after.find((item) => item.textContent?.trim().toLowerCase().startsWith(letter))?.focus();
    }
  };
  return (
    <div class="menu" ref={root}>
      <button
        type="button"
        class={buttonClass}
        ref={button}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        disabled={isDisabled}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {label}
        <CaretIcon />
      </button>
      {isOpen && (
        <div
          class={`menu-list ${position}`}
          role="menu"
          id={id}
          tabIndex={-1}
          onKeyDown={onKeyDown}
        >
          <Close.Provider value={close}>{children}</Close.Provider>
        </div>
      )}
    </div>
  );
}

interface ItemProps {
  /** Omitted for an item that is not part of a choice. */
  readonly isChecked?: boolean;
  readonly children: ComponentChildren;
}

function roleOf(isChecked: boolean | undefined) {
  if (isChecked === undefined) return { role: 'menuitem' } as const;
  return { role: 'menuitemradio', 'aria-checked': isChecked } as const;
}

export function MenuItem({
  onSelect,
  isChecked,
  isDanger = false,
  children,
}: ItemProps & { readonly onSelect: () => void; readonly isDanger?: boolean }) {
  const close = useContext(Close);
  return (
    <button
      type="button"
      {...roleOf(isChecked)}
      tabIndex={-1}
      class={`menu-item${isDanger ? ' danger' : ''}`}
      onClick={() => {
        close();
        onSelect();
      }}
    >
      <span class="menu-check">{isChecked === true && <CheckIcon />}</span>
      {children}
    </button>
  );
}

export function MenuLink({
  href,
  isChecked,
  isFullLoad = false,
  children,
}: ItemProps & { readonly href: string; readonly isFullLoad?: boolean }) {
  const close = useContext(Close);
  return (
    <a
      {...roleOf(isChecked)}
      tabIndex={-1}
      class="menu-item"
      href={href}
      // The router ignores links with a target.
      target={isFullLoad ? '_top' : undefined}
      onClick={close}
    >
      <span class="menu-check">{isChecked === true && <CheckIcon />}</span>
      {children}
    </a>
  );
}

export function MenuSeparator() {
  return <hr class="menu-separator" />;
}
