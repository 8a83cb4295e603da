import { posix } from "node:path";
import type { Context } from "koa";
import { Marked, Renderer, type Tokens } from "marked";
import type { Route } from "../route.js";
import { BASE_STYLE, contentSecurityPolicy, frame } from "../pages/page.js";
import { describePages, findContents, type DocsPage, readDocument } from "./pages.js";

/** The documentation's whole style: wide tables and code scroll by themselves. */
const STYLE = `${BASE_STYLE}
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding-bottom: .75rem; border-bottom: 1px solid var(--line); }
h1, h2, h3 { margin: 2.25rem 0 .75rem; }
h2 { padding-top: .75rem; border-top: 1px solid var(--line); font-size: 1.3rem; }
h3 { font-size: 1.05rem; }
:target { background: var(--mark); }
.scroll:focus-visible, pre:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
[aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
pre { padding: .75rem; overflow-x: auto; }
pre code { padding: 0; font-size: 1em; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: normal; }
th { color: var(--faint); font-weight: 600; }
li + li { margin-top: .25rem; }
`;

const HEADERS = {
  "Cache-Control": "public, max-age=300",
  "Content-Security-Policy": contentSecurityPolicy(STYLE, "'none'"),
};

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
      answer(`/docs/${file}`, file.endsWith(".json") ? "json" : "text", () => readDocument(file)),
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

async function render(name: string, pages: readonly DocsPage[]): Promise<string> {
  const { file, title } = pages.find((page) => page.name === name)!;
  const root = "../".repeat(name.split("/").length);
  const links = [
    `<a href="${root}docs">Documentation</a>`,
    ...pages.map((page) => {
      const current = page.name === name ? ' aria-current="page"' : "";
      return `<a href="${root}docs/${page.name}"${current}>${page.title}</a>`;
    }),
  ];
  const addressOf = (linked: string) => {
    const target = posix.join(posix.dirname(file), linked);
    if (target.startsWith("../")) return null;
    const page = pages.find((other) => other.file === target);
    return page && `${root}docs/${page.name}`;
  };
  const renderer = new PageRenderer(addressOf);
  const content = new Marked().parse(await readDocument(file), { async: false, renderer });
  return frame(title, STYLE, `<nav aria-label="Documentation">${links.join("")}</nav>\n<main>\n${content}</main>`);
}

function index(pages: readonly DocsPage[]): string {
  const items = pages.map(({ name, title, about }) => `<li><a href="docs/${name}">${title}</a>: ${about}</li>`);
  return frame("Documentation", STYLE, `<main>\n<h1>Documentation</h1>\n<ul>\n${items.join("\n")}\n</ul>\n</main>`);
}

/** Where a page's link to a file leads, where that is a page as well; null where it leads to a file that nobody is served: an example, a test. */
type AddressOf = (file: string) => string | null | undefined;

/** Our pages' markdown as HTML: headings can be linked to, what is wide scrolls by itself and by keyboard, raw HTML is left out. */
class PageRenderer extends Renderer {
  /** The id of the latest heading. */
  #heading = "";

  constructor(private readonly addressOf: AddressOf) {
    super();
  }

  override heading({ tokens, depth, text }: Tokens.Heading): string {
    this.#heading = headingId(text);
    return `<h${depth} id="${this.#heading}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  }

  override table(token: Tokens.Table): string {
    return `<section class="scroll" tabindex="0" aria-labelledby="${this.#heading}">${super.table(token)}</section>\n`;
  }

  override code(token: Tokens.Code): string {
    return super.code(token).replace(/^<pre>/, '<pre tabindex="0">');
  }

  override link(token: Tokens.Link): string {
    const [file = "", fragment] = token.href.split("#");
    const address = this.addressOf(file);
    if (address === null) return this.parser.parseInline(token.tokens);
    return super.link(
      address === undefined ? token : { ...token, href: fragment === undefined ? address : `${address}#${fragment}` },
    );
  }

  override html(): string {
    return "";
  }
}

/** As GitHub makes them, so that a link in the file works in both places; but an error's code stays as it is: `error.docs` ends with it. */
function headingId(text: string): string {
  if (/^[A-Z]+(?:_[A-Z]+)*$/.test(text)) return text;
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}
