import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Context } from "koa";
import type { Route } from "../route.js";
import { renderMarkdown } from "./render.js";
import { CONTENT_SECURITY_POLICY, STYLE } from "./style.js";

interface Page {
  /** The last part of its address. */
  name: string;
  /** In the project's `docs`. */
  file: string;
  title: string;
  about: string;
}

const PAGES: readonly Page[] = [
  {
    name: "ingestion",
    file: "ingestion.md",
    title: "Sending events",
    about: "the two endpoints, idempotency, limits, retries, backfill",
  },
  {
    name: "webhooks",
    file: "webhooks.md",
    title: "Receiving webhooks",
    about: "what arrives, verifying it, repetitions, order, retries, rotation, resending",
  },
  {
    name: "administration",
    file: "administration.md",
    title: "Administration",
    about: "tokens, roles, keys, configuration versions, lists, erasure, the audit log",
  },
  {
    name: "recompute",
    file: "recompute.md",
    title: "Recomputing",
    about: "reading history again, dry runs, previews of a model, what is emitted, failures",
  },
  {
    name: "sign-in",
    file: "sign-in.md",
    title: "Signing in from a program",
    about: "how a command line gets a token, what it may do, how to end it",
  },
  {
    name: "api",
    file: "errors.md",
    title: "Errors",
    about: "every code that the API answers, and what to do about it",
  },
];

/** Of the project; the same from `src` and from `dist`. */
const DIRECTORY = fileURLToPath(new URL("../../../docs/", import.meta.url));
const ADDRESSES = Object.fromEntries(PAGES.map(({ file, name }) => [file, name]));

const HEADERS = { "Cache-Control": "public, max-age=300", "Content-Security-Policy": CONTENT_SECURITY_POLICY };

/** GET /docs and its pages: the documentation that `error.docs` links to, where no other address was configured. */
export function docsRoutes(): Route[] {
  return [
    { method: "GET", path: "/docs", handle: (ctx) => answer(ctx, index()) },
    ...PAGES.map((page): Route => {
      let rendered: string | undefined;
      return {
        method: "GET",
        path: `/docs/${page.name}`,
        handle: async (ctx) => answer(ctx, (rendered ??= await render(page))),
      };
    }),
  ];
}

function answer(ctx: Context, html: string): void {
  ctx.set(HEADERS);
  ctx.type = "html";
  ctx.body = html;
}

async function render({ name, file, title }: Page): Promise<string> {
  const markdown = await readFile(DIRECTORY + file, "utf8");
  const links = [
    '<a href="../docs">Documentation</a>',
    ...PAGES.map(
      (page) => `<a href="${page.name}"${page.name === name ? ' aria-current="page"' : ""}>${page.title}</a>`,
    ),
  ];
  return frame(
    title,
    `<nav aria-label="Documentation">${links.join("")}</nav>\n<main>\n${renderMarkdown(markdown, ADDRESSES)}</main>`,
  );
}

function index(): string {
  const items = PAGES.map(({ name, title, about }) => `<li><a href="docs/${name}">${title}</a>: ${about}</li>`);
  return frame("Documentation", `<main>\n<h1>Documentation</h1>\n<ul>\n${items.join("\n")}\n</ul>\n</main>`);
}

/** Links are relative, so that the pages work below any public address. */
function frame(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · svc</title>
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`;
}
