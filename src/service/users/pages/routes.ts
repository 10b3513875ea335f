import type { FastifyPluginAsync } from 'fastify';
import { type AccountPageParts, addAccount } from './account-page.ts';
import { addForms } from './forms.ts';
import { addInvitation, type InvitationPageParts } from './invitation-page.ts';
import { addPasswordLink, type PasswordPageParts } from './password-page.ts';
import { addSetup, type SetupPageParts } from './setup-page.ts';
import { addSignInLink, type SignInLinkParts } from './sign-in-link-page.ts';
import { addSignIn, type SignInPageParts } from './sign-in-page.ts';

export type UserPagesParts = SignInPageParts &
  SignInLinkParts &
  AccountPageParts &
  SetupPageParts &
  InvitationPageParts &
  PasswordPageParts;

/** The pages for signing in, which run no script (src/service/README.md, "Users and sessions"). */
export function userPagesRoutes(parts: UserPagesParts): FastifyPluginAsync {
  return async (app) => {
    addForms(app);
    addSignIn(app, parts);
    addSignInLink(app, parts);
    addAccount(app, parts);
    addSetup(app, parts);
    addInvitation(app, parts);
    addPasswordLink(app, parts);
  };
}
