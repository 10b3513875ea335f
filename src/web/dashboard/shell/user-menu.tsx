import { api } from '../api/client.ts';
import { asApiError } from '../api/errors.ts';
import { session } from '../api/signed-in-user.ts';
import { Menu, MenuItem, MenuLink, MenuSeparator } from '../parts/menu.tsx';
import { showToast } from '../parts/toast.tsx';
import { basePath } from './base-path.ts';
import { chooseTheme, THEMES, theme } from './theme.ts';

const THEME_LABELS = { system: 'Theme of the system', light: 'Light theme', dark: 'Dark theme' };

async function signOut(): Promise<void> {
  try {
    await api.DELETE('/v1/session');
    location.assign(`${basePath}/sign-in`);
  } catch (error) {
    showToast({ kind: 'fail', text: `You are still signed in: ${asApiError(error).message}` });
  }
}

/** The user, the theme, the accounts and signing out. */
export function UserMenu() {
  const { email, account, accounts } = session.value;
  return (
    <Menu
      label={
        <span class="user">
          <span class="avatar" aria-hidden="true">
            {email.slice(0, 1).toUpperCase()}
          </span>
          <span class="user-text">
            <span class="user-account">{account?.name ?? 'No account'}</span>
            <span class="user-email" title={email}>
              {email}
            </span>
          </span>
        </span>
      }
      buttonClass="user-button"
      position="above"
    >
      {accounts.length > 1 &&
        accounts.map(({ id, name, role }) => (
          <MenuLink
            key={id}
            href={`${basePath}/?account=${id}`}
            isChecked={id === account?.id}
            isFullLoad
          >
            {name} <span class="muted">{role}</span>
          </MenuLink>
        ))}
      {accounts.length > 1 && <MenuSeparator />}
      {THEMES.map((each) => (
        <MenuItem key={each} onSelect={() => chooseTheme(each)} isChecked={theme.value === each}>
          {THEME_LABELS[each]}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuLink href={`${basePath}/account`} isFullLoad>
        Your account
      </MenuLink>
      <MenuLink href={`${basePath}/docs`} isFullLoad>
        Handbook
      </MenuLink>
      <MenuSeparator />
      <MenuItem onSelect={() => void signOut()}>Sign out</MenuItem>
    </Menu>
  );
}
