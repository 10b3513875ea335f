import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { StatusPage } from '../../model/status-page/status-page.ts';
import { type PageColors, styleOf } from './style.ts';

/** A page as its layout shows it. */
export interface ShownPage {
  readonly page: { readonly fields: Omit<StatusPage, 'cards'> };
  /** Absolute, without a slash at its end. */
  readonly base: string;
  /** The start of links. */
  readonly path: string;
}

export const PRODUCT = 'Vedette';

/** An HTML document. */
export function renderHtml(page: VNode): string {
  return `<!doctype html>${renderToString(page)}`;
}

interface StatusLayoutProps {
  readonly requested: ShownPage;
  /** Beside the name of the page. */
  readonly title: string;
  /** In the footer, before the links. */
  readonly note?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The frame of every HTML page of a status page. */
export function StatusLayout({ requested, title, note, children }: StatusLayoutProps): VNode {
  const { page, base, path } = requested;
  const { name, description, logo, favicon, redirectTo, whiteLabel } = page.fields;
  const home = path === '' ? '/' : path;
  return (
    <Html
      colors={page.fields}
      title={`${title} – ${name}`}
      head={
        <>
          {description !== null && <meta name="description" content={description} />}
          <link rel="canonical" href={path === '' ? `${base}/` : base} />
          {favicon !== null && <link rel="icon" href={`${path}/favicon`} />}
        </>
      }
    >
      <a class="skip" href="#main">
        Skip to the state
      </a>
      <header class="head">
        <div>
          <a class="brand" href={redirectTo ?? home} dir="auto">
            {logo === null ? name : <img src={`${path}/logo`} alt={name} />}
          </a>
          <nav>
            <a class="button" href={`${path}/subscribe`}>
              Subscribe
            </a>
          </nav>
        </div>
      </header>
      <main id="main">{children}</main>
      <footer class="foot">
        <span>{note}</span>
        {!whiteLabel && <span>Status page by {PRODUCT}</span>}
      </footer>
    </Html>
  );
}

interface HtmlProps {
  readonly colors: PageColors;
  readonly title: string;
  readonly head?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A document with the style of a status page, and no script. */
export function Html({ colors, title, head, children }: HtmlProps): VNode {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>{title}</title>
        {head}
        <style>{styleOf(colors)}</style>
      </head>
      <body>{children}</body>
    </html>
  );
}
