import type { FieldProblem } from '../../api/errors.ts';
import { CheckField, problemOf, SelectField, TextField } from '../../parts/field.tsx';
import type { Colors, PageForm } from './page-form.ts';

const THEMES = [
  { value: 'AUTO', label: 'System setting of the reader' },
  { value: 'LIGHT', label: 'Light' },
  { value: 'DARK', label: 'Dark' },
] as const;

export function PageFields({
  form,
  hasPassword,
  problems,
  change,
}: {
  readonly form: PageForm;
  readonly hasPassword: boolean;
  readonly problems: readonly FieldProblem[];
  readonly change: (fields: Partial<PageForm>) => void;
}) {
  const text = (
    name: 'name' | 'url' | 'description' | 'customDomain' | 'logo' | 'favicon' | 'redirectTo',
    label: string,
    hint?: string,
  ) => (
    <TextField
      label={label}
      value={form[name]}
      onValue={(value) => change({ [name]: value })}
      hint={hint}
      problem={problemOf(problems, name)}
      autocomplete="off"
    />
  );
  return (
    <>
      <h2>Page</h2>
      {text('name', 'Name')}
      {text('description', 'Description', 'At most 500 characters.')}
      {text('url', 'Address', `Readers open /status/${form.url}. Links to the old one break.`)}
      {text(
        'customDomain',
        'Domain of your own',
        'For example status.example.com. Save it before you set its record (CNAME) to this service.',
      )}
      <h2>Look</h2>
      {text('logo', 'Logo', 'An http or https URL. The service fetches it and serves it itself.')}
      {text('favicon', 'Icon', 'An http or https URL of the icon in the browser tab.')}
      {text('redirectTo', 'Link on the logo', 'An http or https URL.')}
      <SelectField
        label="Theme"
        value={form.defaultTheme}
        options={THEMES}
        onValue={(theme) => change({ defaultTheme: theme as PageForm['defaultTheme'] })}
      />
      <ThemeColors
        colors={form.themeColors}
        problems={problems}
        onChange={(themeColors) => change({ themeColors })}
      />
      <CheckField
        label="Hide the name of the product"
        isChecked={form.whiteLabel}
        onValue={(whiteLabel) => change({ whiteLabel })}
      />
      <h2>Readers</h2>
      <CheckField
        label="Private"
        hint="Only users of this account, and readers who know the password, see it. Others get a 404."
        isChecked={form.isPrivate}
        onValue={(isPrivate) => change({ isPrivate })}
      />
      {form.isPrivate && (
        <>
          <TextField
            label={hasPassword ? 'New password' : 'Password'}
            type="password"
            value={form.password}
            onValue={(password) => change({ password, removesPassword: false })}
            hint={
              hasPassword
                ? 'Empty: the stored one stays. A new one signs out all readers.'
                : '8 to 256 characters. Empty: only users of this account see the page.'
            }
            problem={problemOf(problems, 'password')}
            autocomplete="new-password"
          />
          {hasPassword && (
            <CheckField
              label="Remove the password"
              isChecked={form.removesPassword}
              onValue={(removesPassword) => change({ removesPassword, password: '' })}
            />
          )}
        </>
      )}
    </>
  );
}

/** `bodyBackgroundColor` becomes `Body background`. */
function labelOf(name: string): string {
  const words = name
    .replace(/Color/, '')
    .replaceAll(/([A-Z])/g, ' $1')
    .toLowerCase();
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function ThemeColors({
  colors,
  problems,
  onChange,
}: {
  readonly colors: Colors;
  readonly problems: readonly FieldProblem[];
  readonly onChange: (colors: Colors) => void;
}) {
  return (
    <details class="status-pages-colors">
      <summary>Colours</summary>
      {(['light', 'dark'] as const).map((theme) => (
        <fieldset key={theme}>
          <legend>{theme === 'light' ? 'Light theme' : 'Dark theme'}</legend>
          {(Object.keys(colors[theme]) as (keyof Colors['light'])[]).map((name) => (
            <TextField
              key={name}
              label={labelOf(name)}
              value={colors[theme][name] ?? ''}
              onValue={(value) =>
                onChange({ ...colors, [theme]: { ...colors[theme], [name]: value } })
              }
              problem={problemOf(problems, `themeColors.${theme}.${name}`)}
              autocomplete="off"
            />
          ))}
        </fieldset>
      ))}
    </details>
  );
}
