import type { Context } from "koa";
import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { TEXTS } from "../http/error-texts.js";
import { isRefusal } from "../db/sqlstate.js";
import { toApiError, type ApiError } from "../http/errors.js";
import { addToLogLine } from "../http/middleware/request-log.js";
import { STYLE_VERSION } from "./style.js";
import { fixWithoutEndpoints, LinkLine, Text } from "./parts.js";

/** For every page: resources and form targets of this service only. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** In addition to the headers of every response. */
const HEADERS = {
  "Cache-Control": "no-store",
  "Cross-Origin-Opener-Policy": "same-origin",
  // With no-referrer, browsers would send `Origin: null` with our forms.
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

/** The relative path from a page to the root of the service, so that pages work below any public address: empty or repeated `../`. */
export function rootOf(ctx: Context): string {
  return "../".repeat(Math.max(0, ctx.path.split("/").length - 2));
}

interface DocumentParts {
  title: string;
  body: ComponentChildren;
  status?: number;
  /** The address of a script of this server; unless given, no script runs. */
  script?: string | undefined;
}

/** Answers with a whole document. */
export function renderDocument(ctx: Context, parts: DocumentParts): void {
  answerDocument(ctx, parts, documentText(rootOf(ctx), parts));
}

/** Answers with a document that was rendered already. */
export function answerDocument(
  ctx: Context,
  { status = 200, script }: Pick<DocumentParts, "status" | "script">,
  html: string | Buffer,
): void {
  ctx.status = status;
  ctx.set(HEADERS);
  const policy = script === undefined ? CONTENT_SECURITY_POLICY : `${CONTENT_SECURITY_POLICY}; script-src 'self'`;
  ctx.set("Content-Security-Policy", policy);
  ctx.type = "html";
  ctx.body = html;
}

/** The text of a document. @param root the relative path from its page to the root of the service */
export function documentText(root: string, { title, body, script }: DocumentParts): string {
  return `<!doctype html>${renderToString(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${title} · svc`}</title>
        <link rel="stylesheet" href={`${root}console/style.css?v=${STYLE_VERSION}`} />
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

/** The top bar of pages outside the console. */
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

/** Answers with a narrow page. Its `h1` is the title unless `heading` is given. Links and forms in it are relative (`login`, not `/login`). */
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

/** Redirects the browser to another of our pages by GET. `path` begins with a slash; the Location is relative, like all links. */
export function seeOther(ctx: Context, path: string): void {
  ctx.status = 303;
  ctx.set("Location", (rootOf(ctx) + path.slice(1)).replace(/^$/, "./"));
  ctx.body = "";
}

/** The texts of an error page. */
export interface ErrorWords {
  title: string;
  /** What is wrong. */
  message: string;
  /** What to do. */
  fix: string;
  /** What the message only counts. */
  list?: readonly string[];
}

/** Ends a request with an error page. */
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
  413: "Too much data",
  429: "Too many attempts",
};

/** Texts for our own failures: those of the API do not help a person at a browser. */
const FAULTS: Readonly<Record<number, ErrorWords>> = {
  500: {
    title: "Something went wrong",
    message: "The service failed to handle this request.",
    fix: "Go back and try again. If it keeps failing, report the request ID below to the operator of this service.",
  },
  503: {
    title: "Temporarily unavailable",
    message: "The service is overloaded, or its database does not answer.",
    fix: "Wait a few seconds, then reload the page or submit the form again.",
  },
};

/** Answers with the error page for anything that was thrown, with the status that the API would use. */
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

/** The body of an error page, also used within the console's frame. */
export function ErrorBody({ ctx, words }: { ctx: Context; words: ErrorWords }) {
  return (
    <>
      <p role="alert">{words.message}</p>
      {words.list === undefined ? null : (
        <ul>
          {words.list.map((text, index) => (
            <li key={index}>
              <Text>{text}</Text>
            </li>
          ))}
        </ul>
      )}
      <p>{words.fix}</p>
      <p class="request">
        Request ID: <code>{ctx.state["requestId"] as string}</code>
      </p>
    </>
  );
}

/** Adds a failure to the request's log line; not a PageError, which is the page's own answer. */
export function logFailure(ctx: Context, error: unknown): void {
  if (!(error instanceof PageError)) addToLogLine(ctx, { failure: toApiError(error) });
}

/** @param otherwise what to do if nothing more specific is known */
export function pageErrorOf(error: unknown, otherwise = "Go back, correct what is wrong, and try again."): PageError {
  if (error instanceof PageError) return error;
  const { status, code, message, detail, headers, cause }: ApiError = toApiError(error);
  // Fixes of other refusals are meant for programs: they name headers and paths.
  const fix = fixWithoutEndpoints(detail.fix ?? (status === 409 ? TEXTS[code]?.fix : undefined));
  const fault = FAULTS[status];
  // A refusal by the database explains itself, for example that the environment is being moved.
  const words = (isRefusal(cause) ? undefined : fault) ?? {
    // QUOTA_EXCEEDED has status 429, too.
    title:
      code === "QUOTA_EXCEEDED" ? "Plan limit reached" : (TITLES[status] ?? fault?.title ?? "The request was refused"),
    message: [message, detail.reason].filter((text) => text !== undefined).join(" "),
    fix: fix ?? otherwise,
    ...(detail.warnings && { list: detail.warnings.map((warning) => warning.message) }),
  };
  return new PageError(status, words, headers);
}
