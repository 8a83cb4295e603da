import type { Context } from "koa";
import { toApiError, type ApiError } from "../errors.js";
import { html, renderPage } from "./page.js";

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
export function renderError(ctx: Context, error: unknown): void {
  const { status, words, headers } = error instanceof PageError ? error : pageErrorOf(toApiError(error));
  ctx.set(headers);
  renderPage(ctx, {
    status,
    title: words.title,
    body: html`<h1>${words.title}</h1>
      <p role="alert">${words.message}</p>
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
