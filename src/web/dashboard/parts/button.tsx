import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';

type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'kind'> & {
  /** `primary`: the one thing that a page is for; `danger`: something is lost. Default: a usual one. */
  readonly kind?: 'primary' | 'danger' | 'plain';
  /** While it works it cannot be pressed again, and says so. */
  readonly isBusy?: boolean;
  readonly children: ComponentChildren;
};

export function Button({ kind, isBusy = false, children, class: given, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      class={['button', kind, given].filter(Boolean).join(' ')}
      disabled={rest.disabled === true || isBusy}
      aria-busy={isBusy || undefined}
    >
      {children}
    </button>
  );
}
