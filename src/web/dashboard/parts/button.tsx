import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';

type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'kind'> & {
  /** `primary`: the main action of a page; `danger`: deletes something. Default: a plain button. */
  readonly kind?: 'primary' | 'danger' | 'plain';
  /** While the action runs: the button is disabled and shows the progress. */
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
