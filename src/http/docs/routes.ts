import { posix } from "node:path";
import type { Context } from "koa";
import type { Route } from "../route.js";
import { describePages, findContents, readDocument, type Page } from "./pages.js";
import { renderMarkdown } from "./render.js";
import { CONTENT_SECURITY_POLICY, STYLE } from "./style.js";

const FILE_TYPES: Readonly<Record<string, string>> = { ".json": "application/json; charset=utf-8" };
const HEADERS = { "Cache-Control": "public, max-age=300", "Content-Security-Policy": CONTENT_SECURITY_POLICY };

/** GET /docs and its pages: the documentation that `error.docs` links to, where no other address was configured. */
export function docsRoutes(): Route[] {
  const contents = findContents();
  const describe = once(() => describePages(contents));
  const answer = (path: string, type: string, text: () => Promise<string>): Route => {
    const read = once(text);
    return {
      method: "GET",
      path,
      handle: async (ctx: Context) => {
        ctx.set(HEADERS);
        ctx.type = type;
        ctx.body = await read();
      },
    };
  };
  return [
    answer("/docs", "html", async () => index(await describe())),
    ...[...contents.pages.keys()].map((name) =>
      answer(`/docs/${name}`, "html", async () => render(name, await describe())),
    ),
    ...contents.files.map((file) =>
      answer(`/docs/${file}`, FILE_TYPES[posix.extname(file)] ?? "text/plain; charset=utf-8", () => readDocument(file)),
    ),
  ];
}

/** Done when first asked for, and again only where it failed. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
}

async function render(name: string, pages: readonly Page[]): Promise<string> {
  const { file, title } = pages.find((page) => page.name === name)!;
  const root = "../".repeat(name.split("/").length);
  const links = [
    `<a href="${root}docs">Documentation</a>`,
    ...pages.map(
      (page) =>
        `<a href="${root}docs/${page.name}"${page.name === name ? ' aria-current="page"' : ""}>${page.title}</a>`,
    ),
  ];
  const addressOf = (linked: string) => {
    const target = posix.join(posix.dirname(file), linked);
    if (target.startsWith("../")) return null;
    const page = pages.find((other) => other.file === target);
    return page && `${root}docs/${page.name}`;
  };
  const content = renderMarkdown(await readDocument(file), addressOf);
  return frame(title, `<nav aria-label="Documentation">${links.join("")}</nav>\n<main>\n${content}</main>`);
}

function index(pages: readonly Page[]): string {
  const items = pages.map(({ name, title, about }) => `<li><a href="docs/${name}">${title}</a>: ${about}</li>`);
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
