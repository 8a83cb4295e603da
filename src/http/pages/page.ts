import type { Context } from "koa";
import { contentSecurityPolicy } from "../style.js";
import { html, Html } from "./html.js";
import { STYLE } from "./style.js";

export interface Page {
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
