import type { Context } from "koa";
import { clientNetwork } from "../../http/request/client-address.js";
import type { Route } from "../../http/route.js";
import { seeOther } from "../page.js";
import { queryText } from "../page-route.js";
import { type Guide, readGuide } from "./guides.js";
import { answerDocs, docsText, QUERY_MAX, renderDocs } from "./layout.js";
import { describeParts, type DocsPart, findContents, readDocument } from "./pages.js";
import { Results, indexSections, type Search } from "./search.js";

/** GET /docs and its pages: the documentation that `error.docs` links to unless SVC_DOCS_URL is set. */
export function docsRoutes(): Route[] {
  const contents = findContents();
  const describe = once(() => describeParts(contents));
  const guides = [...contents.pages.keys()].map((name) => ({
    name,
    read: once(async () => {
      const pages = (await describe()).flatMap((part) => part.pages);
      return readGuide(
        pages.find((page) => page.name === name)!,
        pages,
      );
    }),
  }));
  const index = once(async () => {
    const all: Guide[] = [];
    for (const { read } of guides) all.push(await read());
    return indexSections(all);
  });
  return [
    get("/docs", async (ctx) => {
      const parts = await describe();
      renderDocs(ctx, { title: "Documentation", parts, body: <Index parts={parts} /> });
    }),
    get("/docs/", (ctx) => seeOther(ctx, "/docs")),
    get("/docs/search", async (ctx) => renderSearch(ctx, await describe(), index)),
    ...guides.map(({ name, read }) => {
      // As bytes, which all answers share: those that nobody reads would otherwise fill the memory.
      const render = once(async () => {
        const { page, html, sections } = await read();
        const view = { title: page.title, parts: await describe(), name, sections, body: { html } };
        return Buffer.from(docsText("../".repeat(name.split("/").length), view));
      });
      return get(`/docs/${name}`, async (ctx) => answerDocs(ctx, await render()));
    }),
    ...contents.files.map((file) => {
      const read = once(() => readDocument(file));
      return get(`/docs/${file}`, async (ctx) => {
        ctx.set("Cache-Control", "public, max-age=300");
        ctx.type = file.endsWith(".json") ? "json" : "text";
        ctx.body = await read();
      });
    }),
  ];
}

function get(path: string, handle: Route["handle"]): Route {
  return { method: "GET", path, handle };
}

/** Caches the result of `make`, which is called when first needed, and again only if it failed. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () =>
    (result ??= make().catch((error: unknown) => {
      result = undefined;
      throw error;
    }));
}

function Index({ parts }: { parts: readonly DocsPart[] }) {
  return (
    <>
      {parts.map(({ title, readers, pages }) => (
        <section key={title}>
          <h2>{title}</h2>
          <p>For {readers}.</p>
          <ul>
            {pages.map(({ name, title, about }) => (
              <li key={name}>
                <a href={`docs/${name}`}>{title}</a>: {about}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

/** GET /docs/search?q=: the sections that contain the words. */
async function renderSearch(ctx: Context, parts: readonly DocsPart[], index: () => Promise<Search>): Promise<void> {
  const query = queryText(ctx, "q")?.trim() ?? "";
  const view = { title: "Search", parts, query };
  if (query === "") {
    renderDocs(ctx, { ...view, body: <p>Enter one or more words to find the sections that contain them.</p> });
  } else if (query.length > QUERY_MAX) {
    const problem = `A search can have at most ${QUERY_MAX} characters, and this one has ${query.length}. Use fewer words.`;
    renderDocs(ctx, { ...view, status: 400, body: <p role="alert">{problem}</p> });
  } else {
    const search = await index();
    renderDocs(ctx, { ...view, body: <Results query={query} found={await search(query, clientNetwork(ctx))} /> });
  }
}
