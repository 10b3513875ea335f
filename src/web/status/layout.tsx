import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { ServiceCondition } from '../../model/incident/status-page-incident.ts';
import type { StatusPage } from '../../model/status-page/status-page.ts';
import { stateIcon } from './conditions.tsx';
import { type PageColors, styleOf } from './style.ts';

/** The data of a status page for its layout. */
export interface ShownPage {
  readonly page: {
    readonly fields: Omit<StatusPage, 'cards'>;
    /** Only the pictures that were fetched. */
    readonly pictures: Readonly<Partial<Record<'logo' | 'favicon', ShownPicture>>>;
  };
  /** Absolute, without a slash at its end. */
  readonly base: string;
  /** The start of links. */
  readonly path: string;
}

interface ShownPicture {
  /** All fields are null until the picture is first fetched. */
  readonly hash: string | null;
  readonly width: number | null;
  readonly height: number | null;
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
  /** Sets the colour of the tab icon, unless the page has its own icon. */
  readonly condition?: ServiceCondition;
  /** In the footer, before the links; without it, a link to the status page. */
  readonly note?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The frame of every HTML page of a status page. */
export function StatusLayout({
  requested,
  title,
  condition = 'UNKNOWN',
  note,
  children,
}: StatusLayoutProps): VNode {
  const { page, base, path } = requested;
  const { name, description, logo, favicon, redirectTo, whiteLabel, isPrivate } = page.fields;
  const home = path === '' ? '/' : path;
  const pictures = {
    logo: logo === null ? null : shownPicture(page.pictures.logo),
    favicon: favicon === null ? null : shownPicture(page.pictures.favicon),
  };
  return (
    <Html
      colors={page.fields}
      title={`${title} – ${name}`}
      head={
        <>
          {description !== null && <meta name="description" content={description} />}
          <link rel="canonical" href={path === '' ? `${base}/` : base} />
          <link
            rel="icon"
            href={
              pictures.favicon === null
                ? stateIcon(condition)
                : `${path}/favicon?v=${pictures.favicon.hash}`
            }
          />
          {!isPrivate && <FeedLinks name={name} path={path} />}
        </>
      }
    >
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="head">
        <div>
          <a class="brand" href={redirectTo ?? home} dir="auto">
            {pictures.logo === null ? (
              name
            ) : (
              <img
                src={`${path}/logo?v=${pictures.logo.hash}`}
                width={pictures.logo.width}
                height={pictures.logo.height}
                alt={name}
              />
            )}
          </a>
          <nav aria-label="Pages">
            <a href={`${path}/history`}>History</a>
            <a class="button" href={`${path}/subscribe`}>
              Subscribe
            </a>
          </nav>
        </div>
      </header>
      <main id="main">{children}</main>
      <footer class="foot">
        <span>{note ?? <a href={home}>Current status</a>}</span>
        {!isPrivate && (
          <ul>
            <li>
              <a href={`${path}/feed.atom`}>Atom</a>
            </li>
            <li>
              <a href={`${path}/feed.rss`}>RSS</a>
            </li>
            <li>
              <a href={`${path}/summary.json`}>JSON</a>
            </li>
          </ul>
        )}
        {!whiteLabel && <span>Status page by {PRODUCT}</span>}
      </footer>
    </Html>
  );
}

/** Links for programs that read the page. A private page has none, because programs have no cookie. */
function FeedLinks({ name, path }: { readonly name: string; readonly path: string }): VNode {
  const title = `${name}: incidents and maintenance`;
  return (
    <>
      <link rel="alternate" type="application/atom+xml" title={title} href={`${path}/feed.atom`} />
      <link rel="alternate" type="application/rss+xml" title={title} href={`${path}/feed.rss`} />
    </>
  );
}

/** null if there is no picture to show. */
function shownPicture(picture: ShownPicture | undefined) {
  const { hash = null, width, height } = picture ?? {};
  return hash === null ? null : { hash, width: width ?? undefined, height: height ?? undefined };
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
        {head ?? <link rel="icon" href={stateIcon('UNKNOWN')} />}
        <style>{styleOf(colors)}</style>
      </head>
      <body>{children}</body>
    </html>
  );
}
