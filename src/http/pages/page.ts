import { createHash } from "node:crypto";
import { escapeUTF8 } from "entities/escape";
import type { Context } from "koa";
import { toApiError, type ApiError } from "../errors.js";

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

/** What all pages have in common: the reader's fonts and colours, lines of a readable length, a focus that is seen. */
export const BASE_STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --faint: #57606a; --line: #d0d7de; --code: #f2f4f6; --link: #0550ae; --mark: #fff3c4; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8eb; --faint: #a8b1bb; --line: #3a424c; --code: #1d232b; --link: #7db8ff; --mark: #4a3d10; --page: #12161c; }
}
body { margin: 0 auto; max-width: 46rem; padding: 1rem 1rem 6rem; background: var(--page, #fff); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.25; }
a { color: var(--link); }
a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre { font: .875em/1.45 ui-monospace, monospace; background: var(--code); border-radius: 4px; }
code { padding: .1em .3em; }
`;

/** The policy of a page with one `style` element of exactly this text: no script, no image, no frame, and forms to `formAction` only. */
export function contentSecurityPolicy(style: string, formAction: "'none'" | "'self'"): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
  ].join("; ");
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

/** Answers with a page, whose body stands in its `main` below its `h1`, which is the title unless given. Links and forms in it are relative (`login`, not `/login`). */
export function renderPage(ctx: Context, page: { title: string; heading?: string; body: Html; status?: number }): void {
  const { title, heading = title, body, status = 200 } = page;
  ctx.status = status;
  ctx.set(HEADERS);
  ctx.type = "html";
  ctx.body = frame(
    title,
    STYLE,
    html`<main>
      <h1>${heading}</h1>
      ${body}
    </main>`.toString(),
  );
}

/** Sends the browser to another page of ours by GET. `path` begins with a slash; the answer is relative, as all links are. */
export function seeOther(ctx: Context, path: string): void {
  ctx.status = 303;
  ctx.set("Location", path.slice(1));
  ctx.body = "";
}

/** A whole page of HTML. Its one `style` element is what `contentSecurityPolicy` allows; links are relative, so that it works below any public address. */
export function frame(title: string, style: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeUTF8(title)} · svc</title>
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`;
}

/** What a page of an error says. */
interface ErrorWords {
  title: string;
  /** What is wrong. */
  message: string;
  /** What to do. */
  fix: string;
}

/** Ends a request with a page that says what is wrong and what to do. */
export class PageError extends Error {
  override name = "PageError";

  constructor(
    readonly status: number,
    readonly words: ErrorWords,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(words.message);
  }
}

const TITLES: Readonly<Record<number, string>> = {
  403: "Not allowed",
  404: "Not found",
  410: "No longer valid",
  413: "Too much was sent",
  429: "Too many attempts",
};

/** What programs are told of our own faults is of no use to a person at a browser. */
const FAULTS: Readonly<Record<number, ErrorWords>> = {
  500: {
    title: "Something went wrong",
    message: "The service failed on this request.",
    fix: "Go back and try again. If it keeps failing, report the request ID below to the operator of this service.",
  },
  503: {
    title: "Not available for the moment",
    message: "The service has too much to do, or its database does not answer.",
    fix: "Wait a few seconds, then load the page again or send the form again.",
  },
};

/** The page that anything thrown becomes: of the status that a program would get. */
export function renderErrorPage(ctx: Context, error: unknown): void {
  const { status, words, headers } = error instanceof PageError ? error : pageErrorOf(toApiError(error));
  ctx.set(headers);
  renderPage(ctx, {
    status,
    title: words.title,
    body: html`<p role="alert">${words.message}</p>
      <p>${words.fix}</p>
      <p class="request">Request ID: <code>${ctx.state["requestId"] as string}</code></p>`,
  });
}

function pageErrorOf({ status, message, detail, headers }: ApiError): PageError {
  const words = FAULTS[status] ?? {
    title: TITLES[status] ?? "The request was refused",
    message: [message, detail.reason].filter((text) => text !== undefined).join(" "),
    fix: detail.fix ?? "Go back, correct what is wrong, and try again.",
  };
  return new PageError(status, words, headers);
}
