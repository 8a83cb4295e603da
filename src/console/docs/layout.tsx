import type { Context } from "koa";
import type { ComponentChildren } from "preact";
import { answerDocument, documentText, rootOf, TopBar } from "../page.js";
import type { GuideSection } from "./guides.js";
import type { DocsPart } from "./pages.js";

/** Maximum length of a search, in characters. */
export const QUERY_MAX = 200;

/** The contents of a page of the documentation. */
interface DocsView {
  title: string;
  parts: readonly DocsPart[];
  /** The page's address below /docs; none for the index and the search. */
  name?: string;
  /** Sections of the page. */
  sections?: readonly GuideSection[];
  /** The text of the search. */
  query?: string;
  /** Trusted HTML, or elements. */
  body: { html: string } | ComponentChildren;
  status?: number;
}

/** Answers with a page of the documentation, with the navigation, the search and its contents. */
export function renderDocs(ctx: Context, view: DocsView): void {
  answerDocs(ctx, docsText(rootOf(ctx), view), view.status);
}

/** Answers with a page of the documentation that was rendered already. */
export function answerDocs(ctx: Context, html: string | Buffer, status = 200): void {
  answerDocument(ctx, { status }, html);
  ctx.set("Cache-Control", "public, max-age=300");
}

/** The text of a page of the documentation. @param root the relative path from it to the root of the service */
export function docsText(root: string, view: DocsView): string {
  const { title, parts, name, sections = [], query, body } = view;
  return documentText(root, {
    title,
    body: (
      <>
        <TopBar root={root} />
        <div class="columns docs">
          <div class="side">
            <SearchForm root={root} query={query} />
            <Navigation root={root} parts={parts} name={name} />
          </div>
          <Contents sections={sections} />
          {isHtml(body) ? (
            <main id="main" dangerouslySetInnerHTML={{ __html: body.html }} />
          ) : (
            <main id="main">
              <h1>{title}</h1>
              {body}
            </main>
          )}
        </div>
      </>
    ),
  });
}

const isHtml = (body: DocsView["body"]): body is { html: string } =>
  typeof body === "object" && body !== null && "html" in body;

function SearchForm({ root, query }: { root: string; query: string | undefined }) {
  return (
    <form role="search" action={`${root}docs/search`}>
      <label for="q">Search the documentation</label>
      <input id="q" name="q" type="search" value={query} maxlength={QUERY_MAX} />
      <button class="second">Search</button>
    </form>
  );
}

/** All pages by part; the part of the current page is open. */
function Navigation({ root, parts, name }: { root: string; parts: readonly DocsPart[]; name: string | undefined }) {
  return (
    <nav aria-label="Documentation">
      {parts.map(({ title, readers, pages }) => (
        <details open={pages.some((page) => page.name === name)} key={title}>
          <summary>
            {title} <span class="hint">for {readers}</span>
          </summary>
          <ul>
            {pages.map((page) => (
              <li key={page.name}>
                <a href={`${root}docs/${page.name}`} aria-current={page.name === name ? "page" : undefined}>
                  {page.title}
                </a>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </nav>
  );
}

function Contents({ sections }: { sections: readonly GuideSection[] }) {
  const titled = sections.filter(({ id }) => id !== "");
  return titled.length === 0 ? null : (
    <nav class="contents" aria-label="On this page">
      <p class="hint">On this page</p>
      <ul>
        {titled.map(({ id, title }) => (
          <li key={id}>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
