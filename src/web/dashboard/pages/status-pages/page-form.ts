import type { Changes, StatusPage } from './queries.ts';

export interface CardForm {
  /** Null for a new card. */
  readonly id: string | null;
  /** Identifies cards while they are moved. */
  readonly key: string;
  readonly name: string;
  readonly services: readonly string[];
}

export type Colors = StatusPage['themeColors'];

export interface PageForm {
  readonly name: string;
  readonly url: string;
  readonly description: string;
  readonly customDomain: string;
  readonly logo: string;
  readonly favicon: string;
  readonly redirectTo: string;
  readonly defaultTheme: StatusPage['defaultTheme'];
  readonly themeColors: Colors;
  readonly whiteLabel: boolean;
  readonly isPrivate: boolean;
  /** Empty to keep the stored one. */
  readonly password: string;
  readonly removesPassword: boolean;
  readonly cards: readonly CardForm[];
}

export const FIELD_NAMES = [
  'name',
  'url',
  'description',
  'customDomain',
  'logo',
  'favicon',
  'redirectTo',
  'password',
];

export function formOf(page: StatusPage): PageForm {
  return {
    name: page.name,
    url: page.url,
    description: page.description ?? '',
    customDomain: page.customDomain ?? '',
    logo: page.logo ?? '',
    favicon: page.favicon ?? '',
    redirectTo: page.redirectTo ?? '',
    defaultTheme: page.defaultTheme,
    themeColors: page.themeColors,
    whiteLabel: page.whiteLabel,
    isPrivate: page.isPrivate,
    password: '',
    removesPassword: false,
    cards: page.cards.map(({ id, name, services }) => ({
      id,
      key: id,
      name,
      services: services.map((service) => service.id),
    })),
  };
}

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());

export function bodyOf(form: PageForm): Changes {
  const password =
    form.password !== ''
      ? { password: form.password }
      : form.removesPassword
        ? { password: null }
        : {};
  return {
    name: form.name.trim(),
    url: form.url.trim(),
    description: orNull(form.description),
    customDomain: orNull(form.customDomain),
    logo: orNull(form.logo),
    favicon: orNull(form.favicon),
    redirectTo: orNull(form.redirectTo),
    defaultTheme: form.defaultTheme,
    themeColors: form.themeColors,
    whiteLabel: form.whiteLabel,
    isPrivate: form.isPrivate,
    ...password,
    cards: form.cards.map(({ id, name, services }) => ({
      ...(id === null ? {} : { id }),
      name,
      services: [...services],
    })),
  };
}

/** The list with one entry moved to another position. */
export function movedTo<Entry>(list: readonly Entry[], from: number, to: number): Entry[] {
  const rest = list.filter((_, index) => index !== from);
  const entry = list[from];
  if (entry === undefined) return [...list];
  const at = Math.max(0, Math.min(rest.length, to));
  return [...rest.slice(0, at), entry, ...rest.slice(at)];
}
