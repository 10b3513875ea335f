import type { StatusPage } from '../../model/status-page/status-page.ts';

/** The colour settings of a page. */
export type PageColors = Pick<StatusPage, 'themeColors' | 'defaultTheme'>;
type Theme = 'light' | 'dark';

/** Custom properties by the field that sets them. */
const PROPERTIES = {
  bodyBackgroundColor: '--bg',
  headerBackgroundColor: '--head',
  headerFontColor: '--head-ink',
  titleFontColor: '--title',
  bodyFontColor: '--ink',
  bodyFontColorMuted: '--muted',
  navigationFontColor: '--nav',
  linkFontColor: '--link',
  cardBackgroundColor: '--card',
  borderColor: '--line',
  primaryButtonBackgroundColor: '--button',
  primaryButtonFontColor: '--button-ink',
} as const satisfies Record<keyof PageColors['themeColors'][Theme], string>;

/** Colours of states: of words and icons, and of the bars of days. */
const STATES: Readonly<Record<Theme, string>> = {
  light:
    'color-scheme:light;--ok:#1b7344;--ok-bar:#9ed4b4;--warn:#855600;--warn-bar:#c08a00;--part:#a8440b;--part-bar:#e07230;--fail:#b42323;--fail-bar:#d94a4a;--work:#2c59a8;--work-bar:#6c93d8;--unknown:#525c68;--unknown-bar:#bcc4cc',
  dark: 'color-scheme:dark;--ok:#63cf97;--ok-bar:#2f7d55;--warn:#f0c35a;--warn-bar:#d9a62e;--part:#ffa06b;--part-bar:#e07b3c;--fail:#ff8f8f;--fail-bar:#e05252;--work:#8ab4f8;--work-bar:#5585cc;--unknown:#aab4be;--unknown-bar:#55606c',
};

/** The properties of a theme. Colours are hex digits (status-page.ts), so they need no escapes. */
function themeCss(colors: PageColors['themeColors'][Theme], theme: Theme): string {
  const own = Object.entries(PROPERTIES).map(
    ([field, property]) => `${property}:${colors[field as keyof typeof PROPERTIES]}`,
  );
  return `:root{${[...own, STATES[theme]].join(';')}}`;
}

/**
 * The style of a page in its themes. Print is always light. Contains no double quotes,
 * ampersands and less-than signs, which the renderer would escape.
 */
export function styleOf({ themeColors, defaultTheme }: PageColors): string {
  const dark = themeCss(themeColors.dark, 'dark');
  const darkWhere = {
    LIGHT: '',
    DARK: `@media screen{${dark}}`,
    AUTO: `@media screen and (prefers-color-scheme:dark){${dark}}`,
  }[defaultTheme];
  return `${themeCss(themeColors.light, 'light')}${darkWhere}${STYLE}`;
}

const STYLE = `
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/24px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
a{color:var(--link);text-underline-offset:3px;text-decoration-color:color-mix(in srgb,currentColor 40%,transparent)}
a:hover{text-decoration-color:currentColor}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:4px}
h1,h2,h3,p,ul,ol{margin:0}
ul,ol{padding:0;list-style:none}
h1,h2,h3{color:var(--title);text-wrap:balance}
h1{font-size:24px;line-height:32px;font-weight:650;letter-spacing:-.015em}
h2{font-size:17px;line-height:24px;font-weight:640;letter-spacing:-.005em}
h3{font-size:15px;line-height:24px;font-weight:600}
svg{flex:none}
.skip{position:absolute;left:-9999px}
.skip:focus{left:8px;top:8px;z-index:1;background:var(--card);padding:4px 8px}
.head{background:var(--head);color:var(--head-ink);border-bottom:1px solid var(--line)}
.head>div,main,.foot{max-width:1040px;margin:0 auto;padding-inline:24px}
.head>div{display:flex;align-items:center;gap:16px;min-height:64px;padding-block:12px}
.brand{min-width:0;margin-inline-end:auto;color:inherit;font-size:18px;line-height:24px;font-weight:660;letter-spacing:-.01em;text-decoration:none}
.brand img{display:block;width:auto;height:auto;max-height:40px;max-width:min(280px,60vw)}
.head nav{display:flex;align-items:center;gap:16px;flex:none}
.head nav a{color:var(--nav);text-decoration:none;font-size:14px}
.head nav a:hover{text-decoration:underline}
.button,.head nav .button{display:inline-flex;align-items:center;min-height:36px;padding:0 14px;border:0;border-radius:8px;background:var(--button);color:var(--button-ink);font:inherit;font-size:14px;font-weight:600;text-decoration:none;white-space:nowrap;cursor:pointer}
.button.quiet{background:none;color:var(--link);border:1px solid var(--muted)}
main{display:grid;gap:24px;padding-block:32px 48px}
main>*{min-width:0}
.lead{color:var(--muted);max-width:68ch}
.muted{color:var(--muted)}
.small{font-size:13px;line-height:20px}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:20px 24px}
[role=alert]{border-color:var(--fail);color:var(--fail)}
.now{display:flex;gap:16px;padding:24px;border-radius:12px;border:1px solid color-mix(in srgb,var(--state) 35%,var(--line));background:color-mix(in srgb,var(--state) 9%,var(--card))}
.now>svg{width:32px;height:32px;color:var(--state)}
.now>div{min-width:0}
.now p{margin-top:4px}
.troubled{display:grid;grid-template-columns:repeat(2,auto);justify-content:start;gap:4px 16px;margin-top:12px}
.troubled li{display:grid;grid-template-columns:subgrid;grid-column:1/-1;align-items:start}
.service:target{scroll-margin-top:16px}
.service:target h3{text-decoration:underline}
.OPERATIONAL{--state:var(--ok);--bar:var(--ok-bar)}
.DEGRADED{--state:var(--warn);--bar:var(--warn-bar)}
.PARTIAL_OUTAGE{--state:var(--part);--bar:var(--part-bar)}
.MAJOR_OUTAGE{--state:var(--fail);--bar:var(--fail-bar)}
.MAINTENANCE{--state:var(--work);--bar:var(--work-bar)}
.UNKNOWN{--state:var(--unknown);--bar:var(--unknown-bar)}
.state{display:inline-flex;align-items:baseline;gap:6px;color:var(--state);font-size:14px;line-height:24px;font-weight:600;white-space:nowrap}
.state svg{align-self:center;width:16px;height:16px}
.group{display:grid;gap:12px}
.top{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:4px 16px}
.top>:first-child{flex:1 1 16ch;min-width:0}
.facts{display:flex;flex-wrap:wrap;gap:0 16px;color:var(--muted);font-size:13px;line-height:20px}
.updates{display:grid;gap:16px;margin-top:16px;padding-inline-start:16px;border-inline-start:2px solid var(--line)}
.updates p{white-space:pre-line}
.updates strong{color:var(--title);font-weight:600}
details>summary{width:fit-content;color:var(--muted);font-size:13px;line-height:20px;cursor:pointer;padding-block:2px}
details[open]>summary{margin-bottom:4px}
.service{display:grid;grid-template-columns:minmax(0,11fr) minmax(0,20fr) 152px;grid-template-areas:'name chart right';gap:0 24px}
.service>:first-child{grid-area:name;min-width:0}
.service>:first-child span{flex-basis:100%}
.chart{grid-area:chart;min-width:0}
.right{grid-area:right;text-align:end}
.right .facts{justify-content:end}
.services>li{padding-block:12px;border-top:1px solid var(--line)}
.services{margin-top:8px}
.services>li:last-child{padding-bottom:0}
.days{display:block;width:100%;height:24px;overflow:visible}
.days path{fill:none;stroke:var(--bar);stroke-width:24;stroke-dasharray:7 1}
.days .OPERATIONAL{stroke-width:18}
.days .event{stroke:var(--ok);stroke-width:24}
.days .UNKNOWN{stroke-width:4}
.scale{display:flex;justify-content:space-between;align-items:end;gap:12px;color:var(--muted);font-size:13px;line-height:20px}
.facts b{color:var(--ink);font-weight:600}
.log{display:grid;gap:4px;font-size:13px;line-height:20px}
.log li{display:grid;grid-template-columns:112px minmax(0,1fr);gap:12px}
.log time{color:var(--muted)}
.past{display:grid;gap:8px}
.past li{display:grid;grid-template-columns:112px minmax(0,1fr) auto;gap:0 16px}
.past .muted{font-size:13px}
form{display:grid;gap:16px;justify-items:start;margin-top:12px}
.field{display:grid;gap:4px;width:100%;max-width:420px;font-weight:600}
.field input{width:100%;min-height:40px;padding:0 12px;border:1px solid var(--muted);border-radius:8px;background:var(--bg);color:var(--ink);font:inherit;font-weight:400}
fieldset{display:grid;gap:4px;width:100%;min-width:0;margin:0;padding:0;border:0}
legend{padding:0;margin-bottom:4px;font-weight:600}
fieldset label{display:flex;align-items:baseline;gap:8px;padding-block:2px}
fieldset input{flex:none;margin:0}
.choice{padding-inline-start:24px}
fieldset:has([value=all]:checked) .choice{display:none}
code{font:13px/20px ui-monospace,monospace}
.foot{display:flex;flex-wrap:wrap;justify-content:space-between;gap:8px 24px;padding-block:20px 32px;color:var(--muted);font-size:13px;line-height:20px}
.foot ul{display:flex;flex-wrap:wrap;gap:4px 16px}
.foot a{padding-block:2px}
@media(max-width:760px){.service{grid-template-columns:minmax(0,1fr) auto;grid-template-areas:'name right' 'chart chart';gap:0 16px}.service>.chart{margin-top:8px}}
.card>form+p{margin-top:16px}
.months{display:flex;flex-wrap:wrap;gap:8px 24px}
.markdown{max-width:72ch;margin-top:12px}
.markdown.plain{white-space:pre-wrap}
.markdown>*+*{margin-top:12px}
.markdown ul,.markdown ol{padding-inline-start:24px;list-style:disc}
.markdown ol{list-style:decimal}
.markdown h4,.markdown h5,.markdown h6{margin-bottom:0;color:var(--title);font-size:15px;line-height:24px;font-weight:600}
.markdown blockquote{margin-inline:0;padding-inline-start:16px;border-inline-start:2px solid var(--line)}
.markdown pre{margin-bottom:0;padding:12px 16px;overflow-x:auto;border:1px solid var(--line);border-radius:8px;background:var(--bg);font-size:13px;line-height:20px}
.markdown table{display:block;overflow-x:auto;border-collapse:collapse}
.markdown th,.markdown td{min-width:8ch;padding:4px 16px 4px 0;border-bottom:1px solid var(--line);text-align:start;vertical-align:top}
@media(max-width:560px){.head>div,main,.foot{padding-inline:16px}main{padding-block:20px 32px;gap:20px}.card{padding:16px}.now{padding:16px;gap:12px}.now>svg{width:24px;height:24px;margin-top:2px}h1{font-size:20px;line-height:28px}.log li,.past li{grid-template-columns:minmax(0,1fr);gap:0}}
@media(prefers-reduced-motion:no-preference){a,.button{transition:text-decoration-color .12s}}
@media print{body{background:none;color:#000}.head nav,main nav,.skip,.foot ul{display:none}.head{border:0;background:none;color:#000}main,.group{display:block}main>*+*{margin-top:24px}.group>*+*{margin-top:12px}h1,h2,h3,.top,.top+.facts{break-after:avoid}.now,.services>li,.updates>li,.markdown>*{break-inside:avoid}details:not([open])>:not(summary){display:revert}details::details-content{content-visibility:visible}summary{list-style:none}.markdown pre{white-space:pre-wrap}.days path{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`.replaceAll('\n', '');
