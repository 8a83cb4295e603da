import type { Context } from "koa";
import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { TEXTS } from "../http/error-texts.js";
import { isRefusal } from "../db/sqlstate.js";
import { toApiError, type ApiError } from "../http/errors.js";
import { STYLE_VERSION } from "./style.js";
import { fixForPeople, LinkLine } from "./parts.js";

/** Of every page: nothing from elsewhere, and forms to this service only. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** Besides those that every answer has. */
const HEADERS = {
  "Cache-Control": "no-store",
  "Cross-Origin-Opener-Policy": "same-origin",
  // With no-referrer browsers would send `Origin: null` with a form, which could come from anywhere.
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

/** From a page to the root of the service, relative, so that pages work below any public address: empty, or `../` for each further step. */
export function rootOf(ctx: Context): string {
  return "../".repeat(Math.max(0, ctx.path.split("/").length - 2));
}

interface DocumentParts {
  title: string;
  /** What stands in the document's body. */
  body: ComponentChildren;
  status?: number;
  /** The address of a script of this server; none runs unless given. */
  script?: string | undefined;
}

/** Answers with a whole document. */
export function renderDocument(ctx: Context, { title, body, status = 200, script }: DocumentParts): void {
  ctx.status = status;
  ctx.set(HEADERS);
  const policy = script === undefined ? CONTENT_SECURITY_POLICY : `${CONTENT_SECURITY_POLICY}; script-src 'self'`;
  ctx.set("Content-Security-Policy", policy);
  ctx.type = "html";
  ctx.body = `<!doctype html>${renderToString(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${title} · svc`}</title>
        <link rel="stylesheet" href={`${rootOf(ctx)}console/style.css?v=${STYLE_VERSION}`} />
        {script === undefined ? null : <script src={script} defer />}
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        {body}
      </body>
    </html>,
  )}`;
}

/** Above pages that stand alone: where else to go. */
export function TopBar({ root }: { root: string }) {
  return (
    <header class="top">
      <a class="brand" href={`${root}console`}>
        svc
      </a>
      <nav aria-label="Service">
        <ul>
          <li>
            <a href={`${root}docs`}>Documentation</a>
          </li>
        </ul>
      </nav>
    </header>
  );
}

/** Answers with a narrow page of one subject, below its `h1`, which is the title unless given. Links and forms in it are relative (`login`, not `/login`). */
export function renderPage(
  ctx: Context,
  page: { title: string; heading?: string; body: ComponentChildren; status?: number },
): void {
  const { title, heading = title, body, status = 200 } = page;
  const root = rootOf(ctx);
  renderDocument(ctx, {
    title,
    status,
    body: (
      <>
        <TopBar root={root} />
        <main id="main" class="narrow">
          <h1>{heading}</h1>
          {body}
        </main>
      </>
    ),
  });
}

/** Sends the browser to another page of ours by GET. `path` begins with a slash; the answer is relative, as all links are. */
export function seeOther(ctx: Context, path: string): void {
  ctx.status = 303;
  ctx.set("Location", (rootOf(ctx) + path.slice(1)).replace(/^$/, "./"));
  ctx.body = "";
}

/** What a page of an error says. */
export interface ErrorWords {
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
  401: "Sign in first",
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
  const { status, words, headers } = pageErrorOf(error);
  ctx.set(headers);
  const body = (
    <>
      <ErrorBody ctx={ctx} words={words} />
      <LinkLine href={`${rootOf(ctx)}console`} text="Go to the console" />
    </>
  );
  renderPage(ctx, { status, title: words.title, body });
}

/** What stands on the page of an error, and is also shown inside of a frame. */
export function ErrorBody({ ctx, words }: { ctx: Context; words: ErrorWords }) {
  return (
    <>
      <p role="alert">{words.message}</p>
      <p>{words.fix}</p>
      <p class="request">
        Request ID: <code>{ctx.state["requestId"] as string}</code>
      </p>
    </>
  );
}

export function pageErrorOf(error: unknown): PageError {
  if (error instanceof PageError) return error;
  const { status, code, message, detail, headers, cause }: ApiError = toApiError(error);
  // What programs are told to do about other refusals names headers and paths.
  const fix = fixForPeople(detail.fix ?? (status === 409 ? TEXTS[code]?.fix : undefined));
  const fault = FAULTS[status];
  // A refusal of the database says itself what is the matter, as of an environment that moves.
  const words = (isRefusal(cause) ? undefined : fault) ?? {
    // Which has the status of too many attempts.
    title:
      code === "QUOTA_EXCEEDED"
        ? "The plan allows no more"
        : (TITLES[status] ?? fault?.title ?? "The request was refused"),
    message: [message, detail.reason].filter((text) => text !== undefined).join(" "),
    fix: fix ?? "Go back, correct what is wrong, and try again.",
  };
  return new PageError(status, words, headers);
}
