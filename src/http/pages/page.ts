import { escapeUTF8 } from "entities/escape";
import type { Context } from "koa";
import { BASE_STYLE, contentSecurityPolicy } from "../style.js";

/** Text that is HTML already. `html` makes it; whoever makes it otherwise vouches for the text. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

type Value = Html | string | number | null | undefined | readonly Html[];

/**
 * HTML from a template. Values are escaped, for text and for attributes in quotation marks; Html stands as it is, null and undefined
 * are nothing.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(render)));
}

function render(value: Value): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value === "object") return value.join("\n");
  return escapeUTF8(String(value));
}

/** The pages' whole style: one narrow column of labelled fields, wide enough for a thumb, on a screen of 320 pixels too. */
const STYLE = `${BASE_STYLE}
main { max-width: 26rem; margin: 0 auto; padding-top: 1.5rem; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
input, button { box-sizing: border-box; width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border: 1px solid var(--faint); border-radius: 6px;
  background: var(--page, #fff); color: inherit; font: inherit; }
button { margin-top: 1.25rem; border-color: var(--link); background: var(--link); color: var(--page, #fff); font-weight: 600; cursor: pointer; }
button.second { background: none; color: var(--link); }
input:focus-visible, button:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
[readonly] { border-color: var(--line); background: var(--code); }
[aria-invalid] { border-color: var(--wrong); border-width: 2px; }
.code { font-family: ui-monospace, monospace; letter-spacing: .1em; text-transform: uppercase; }
.hint { margin: .25rem 0 0; color: var(--faint); font-size: .875rem; }
form + .hint, form + form { margin-top: 1rem; }
.error { margin: 1rem 0; padding: .75rem; border: 1px solid var(--wrong); border-left-width: 4px; border-radius: 6px; }
.request { margin-top: 2rem; color: var(--faint); font-size: .875rem; }
form + .hint { margin-top: 1.25rem; }
p:not(.request) code { white-space: nowrap; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin: 1rem 0; }
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; }
dd.code { font-size: 1.25rem; line-height: 1.2; font-weight: 600; }
:root { --wrong: #b42318; }
@media (prefers-color-scheme: dark) { :root { --wrong: #ff8a7a; } }
@media (max-width: 24rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
`;

interface Page {
  title: string;
  /** What stands in the page's `main`, with its `h1`. */
  body: Html;
  /** 200 unless given. */
  status?: number;
}

/** Besides those that every answer has. */
const HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": contentSecurityPolicy(STYLE, "'self'"),
  "Cross-Origin-Opener-Policy": "same-origin",
  // With no-referrer browsers would send `Origin: null` with a form, which could come from anywhere.
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

/** Answers with a page. Links and forms in it are relative (`login`, not `/login`), so that it works below any public address. */
export function renderPage(ctx: Context, { title, body, status = 200 }: Page): void {
  ctx.status = status;
  ctx.set(HEADERS);
  ctx.type = "html";
  ctx.body = frame(title, body).toString();
}

/** Sends the browser to another page of ours by GET. `path` begins with a slash; the answer is relative, as all links are. */
export function seeOther(ctx: Context, path: string): void {
  ctx.status = 303;
  ctx.set("Location", path.slice(1));
  ctx.body = "";
}

const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);

function frame(title: string, body: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · svc</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html>`;
}
