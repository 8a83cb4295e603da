import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import type { Context } from "koa";
import { describe, expect, it } from "vitest";
import { docsUrlOf, readConfig } from "../../src/server/config.js";
import { highlight } from "../../src/console/docs/markdown.js";
import { indexSections } from "../../src/console/docs/search.js";
import { QueueFullError } from "../../src/http/errors.js";
import { textOf } from "../support/browser.js";
import { runBash } from "../support/bash.js";
import { documentedErrors } from "../support/documented-errors.js";
import { closeServer, listen } from "../support/listen.js";
import { useIngest } from "./ingest/fixture.js";

const { service, ...fixture } = await useIngest();

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1]!);

describe("the pages", () => {
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(service.url + path, { headers, redirect: "manual" });
    return { status: response.status, headers: response.headers, html: await response.text() };
  };
  const OPERATIONS = new URL("../../docs/operations/", import.meta.url);
  const operations = readdirSync(OPERATIONS).map((file) => ({ file, pathname: `/docs/operations/${file}` }));
  const FILES = operations.filter(({ file }) => !file.endsWith(".md"));
  const GUIDES =
    "quickstart tutorial local-development ci model recipes dsl ingestion client segment backfill webhooks formats " +
    "administration cli ai mcp walk recompute backtest console trends how-it-works sql sign-in configuration deploy scale security api";
  const PATHS = [
    "/docs",
    ...GUIDES.split(" ").map((name) => `/docs/${name}`),
    ...operations.filter(({ file }) => file.endsWith(".md")).map(({ pathname }) => pathname.replace(/\.md$/, "")),
  ];

  it.each([...PATHS, "/docs/search", "/docs/search?q=webhook"])(
    "%s is a separate page, in English, fit for a phone, without scripts",
    async (path) => {
      const { status, headers, html } = await get(path);
      expect(status).toBe(200);
      expect(headers.get("Content-Type")).toBe("text/html; charset=utf-8");
      expect(headers.get("Cache-Control")).toBe("public, max-age=300");
      expect(headers.get("Content-Security-Policy")).toBe(
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      );
      expect(html).toMatch(/^<!doctype html><html lang="en">/);
      expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1"/>');
      for (const once of [/<title>[^<]+ · svc<\/title>/g, /<main /g, /<h1/g]) expect(html.match(once)).toHaveLength(1);
      const [style, ...others] = all(html, /<link rel="stylesheet" href="([^"]+)"\/>/g);
      expect(new URL(style!, service.url + path).pathname).toBe("/console/style.css");
      expect(others).toEqual([]);
      expect(html).not.toMatch(/<(script|style|img|iframe|object|embed)\b|\s(style|on\w+)=|javascript:|<!--/i);
    },
  );

  it.each(["/docs/api", "/openapi.json"])(
    "%s is sent to all readers as the same bytes, which unread answers share",
    async (path) => {
      const route = service.routes.find((each) => each.path === path)!;
      const bodies: unknown[] = [];
      for (let reader = 0; reader < 2; reader++) {
        const ctx = { path, set: () => undefined, body: undefined as unknown };
        await route.handle(ctx as unknown as Context);
        bodies.push(ctx.body);
      }
      expect(bodies[0]).toBeInstanceOf(Buffer);
      expect(bodies[1]).toBe(bodies[0]);
    },
  );

  it("has its table of contents, and a navigation that lists each page once, by audience, with the current group open", async () => {
    const { html } = await get("/docs/webhooks");
    const [, navigation] = /<nav aria-label="Documentation">(.*?)<\/nav>/s.exec(html)!;
    const links = all(navigation!, /href="\.\.(\/docs\/[^"]+)"/g);
    expect(links.toSorted()).toEqual(PATHS.slice(1).toSorted());
    expect(all(navigation!, /<summary>(\w+) <span/g)).toEqual(["Integrate", "Model", "Operate", "Reference"]);
    const [open, ...others] = all(navigation!, /<details open>(.*?)<\/details>/gs);
    expect(others).toEqual([]);
    expect(open).toContain('<a href="../docs/webhooks" aria-current="page">Receiving webhooks</a>');
    const [, contents] = /<nav class="contents" aria-label="On this page">(.*?)<\/nav>/s.exec(html)!;
    expect(all(contents!, /<a href="#([^"]+)">[^<]+<\/a>/g)).toEqual(all(html, /<h2 id="([^"]+)">/g));
  });

  it("highlights its code, in which text stays text", async () => {
    const { html } = await get("/docs/model");
    expect(html).toMatch(/<pre tabindex="0"><code class="language-ts">.*<span class="hljs-string">/s);
    const files = readdirSync(new URL("../../docs/", import.meta.url), { recursive: true, encoding: "utf8" });
    const texts = files
      .filter((file) => file.endsWith(".md"))
      .map((file) => readFileSync(new URL(`../../docs/${file}`, import.meta.url), "utf8"));
    const languages = new Set(texts.flatMap((text) => all(text, /^ *```(\w+)$/gm)));
    expect([...languages].filter((language) => highlight("<", language) === null)).toEqual(["text"]);
    expect(highlight("const a = b<c> & 1;", "ts")).not.toMatch(/<(?!\/?span)|&(?!lt|gt|amp)/);
  });

  it("has the exact code of each error as an id", async () => {
    const ids = all((await get("/docs/api")).html, /<h2 id="([^"]+)">/g);
    expect(ids.filter((id) => /^[A-Z_]+$/.test(id))).toEqual(documentedErrors.map(({ code }) => code));
  });

  it("finds the operators' pages by itself, each with a title and a summary in its first line", async () => {
    expect(PATHS).toContain("/docs/operations/monitoring");
    const { html } = await get("/docs");
    for (const path of PATHS.slice(1))
      expect(html).toMatch(new RegExp(`<a href="${path.slice(1)}">[^</]+</a>: [^<]+</li>`));
  });

  it("serves the operators' other files unchanged", async () => {
    expect(FILES.length).toBeGreaterThan(0);
    for (const { file, pathname } of FILES) {
      const { status, headers, html } = await get(pathname);
      expect({ status, html }).toEqual({ status: 200, html: readFileSync(new URL(file, OPERATIONS), "utf8") });
      expect(headers.get("Content-Type")).toMatch(file.endsWith(".json") ? /^application\/json;/ : /^text\/plain;/);
    }
  });

  it("has no broken links", async () => {
    const pages = new Map<string, string>();
    for (const path of PATHS) pages.set(path, (await get(path)).html);
    for (const { pathname } of FILES) pages.set(pathname, "");
    const broken: string[] = [];
    for (const [path, html] of pages) {
      expect(new Set(all(html, /\sid="([^"]+)"/g)).size).toBe(all(html, /\sid="([^"]+)"/g).length);
      for (const href of all(html, /\shref="([^"]+)"/g)) {
        const { origin, pathname, hash } = new URL(href, service.url + path);
        if (["/console", "/console/style.css"].includes(pathname)) continue;
        if (origin !== new URL(service.url).origin) continue; // external links are not checked
        const target = pages.get(pathname);
        const found = target !== undefined && (hash === "" || target.includes(` id="${hash.slice(1)}"`));
        if (!found) broken.push(`${path}: ${href}`);
      }
    }
    expect(broken).toEqual([]);
  });

  it("names only existing endpoints to webhook receivers", () => {
    const guide = readFileSync(new URL("../../docs/webhooks.md", import.meta.url), "utf8");
    const requests = service.routes.map(({ method, path }) => `${method} ${path}`);
    const named = all(guide, /`((?:GET|POST|PATCH|PUT|DELETE) \/[^`]*)`/g);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((request) => !requests.includes(request))).toEqual([]);
  });

  it("answers 404 elsewhere below /docs, for browsers with a page, and redirects an address with a trailing slash", async () => {
    const slash = await get("/docs/");
    expect([slash.status, slash.headers.get("Location")]).toEqual([303, "../docs"]);
    const paths = "errors.md architecture ..%2fpackage.json operations operations/monitoring.md search/".split(" ");
    for (const path of paths) {
      expect((await get(`/docs/${path}`)).status, path).toBe(404);
      const { status, headers, html } = await get(`/docs/${path}`, { Accept: "text/html" });
      expect([status, headers.get("Content-Type")]).toEqual([404, "text/html; charset=utf-8"]);
      const links = all(html, /href="([^"]+)"/g).map((href) => new URL(href, `${service.url}/docs/${path}`).pathname);
      expect(links).toContain("/docs");
    }
  });
});

describe("the search", () => {
  const search = async (query: string) => {
    const response = await fetch(`${service.url}/docs/search?q=${encodeURIComponent(query)}`);
    const html = await response.text();
    const [, main] = /<main id="main">(.*)<\/main>/s.exec(html)!;
    const found = all(main!, /<li><a href="([^"]+)">/g);
    return { status: response.status, html, main: main!, text: textOf(html), found };
  };

  it.each([
    ["webhook signature", "webhooks#verifying"],
    ["IDEMPOTENCY_CONFLICT", "api#IDEMPOTENCY_CONFLICT"],
    ["backup RESTORE", "operations/backup#a-restore"],
    // With typing errors and incomplete words.
    ["idempotancy", "ingestion#idempotency"],
    ["retent", "operations/plans#retention"],
  ])("for %j finds the section %s", async (query, address) => {
    const { status, found } = await search(query);
    expect(status).toBe(200);
    expect(found.slice(0, 5)).toContain(address);
    expect((await fetch(`${service.url}/docs/${address}`)).status).toBe(200);
  });

  it("shows page, section, and an excerpt with the words marked", async () => {
    const { main, html, text } = await search("idempotency key");
    expect(html).toContain('<input id="q" name="q" type="search" value="idempotency key" maxlength="200"/>');
    expect(text).toMatch(/^Search \d+ sections have words of “ idempotency key ”; these are the best 20\. /);
    expect(text).toContain("Sending events: Idempotency");
    expect(main).toMatch(/<mark>[iI]dempotency<\/mark>/);
    expect(all(main, /<p>(.*?)<\/p>/g).filter((excerpt) => excerpt.length > 1_000)).toEqual([]);
  });

  it("finds sections with some of the words where none has all", async () => {
    expect((await search("xqzzyv webhook")).found).toEqual((await search("webhook")).found);
  });

  it("searches for only the six longest of many words, once each, and says so", async () => {
    const words = ["webhook", "signature", "receiver", "delivery", "attempt", "secret"];
    const { text, found } = await search([...words, "Secret"].join(" "));
    expect(text).not.toContain("longest words");
    const more = await search(["a", "to", "and", ...words, "of"].join(" "));
    expect(more.text).toContain("Only the 6 longest words were searched for.");
    expect(more.found).toEqual(found);
    expect((await search("xqzzyva xqzzyvb xqzzyvc xqzzyvd xqzzyve xqzzyvf xqzzyvg")).text).toContain("longest words");
  });

  it("runs one search at a time, refuses searches beyond the queue, and leaves room for others than one visitor", async () => {
    const find = await indexSections([]);
    const visitors = Array.from({ length: 50 }, (_, index) => `192.0.2.${index}`);
    const searches = await Promise.allSettled(visitors.map((visitor) => find("webhook", visitor)));
    const refused = searches.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
    expect(refused).toHaveLength(29);
    expect(new Set(refused.map(String))).toEqual(new Set([String(new QueueFullError())]));
    const ended = Promise.allSettled(visitors.map(() => find("webhook", visitors[0]!)));
    expect((await find("webhook", visitors[1]!)).pages).toEqual([]);
    expect((await ended).filter(({ status }) => status === "rejected")).toHaveLength(40);
  });

  it("says when there is nothing to search for or nothing was found, and accepts at most 200 characters", async () => {
    const none = "Search Enter one or more words to find the sections that contain them.";
    const nothing =
      "Search Nothing was found for “ xqzzyv ”. Check the spelling, take fewer or other words, or look at the list of all pages .";
    const long = "Search A search can have at most 200 characters, and this one has 201. Use fewer words.";
    for (const [query, answer, says] of [
      ["", 200, none],
      ["  ", 200, none],
      ["xqzzyv", 200, nothing],
      ["x".repeat(201), 400, long],
    ] as const) {
      const { status, text } = await search(query);
      expect([status, text]).toEqual([answer, says]);
    }
    expect((await search("x".repeat(200))).status).toBe(200);
  });

  it("shows the query as text", async () => {
    const hostile = ["<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "(a+)+$ [", "\u202e\u0000xqzzyv"];
    for (const query of [...hostile, "&lt;b&gt;"]) {
      const { status, html, main } = await search(query);
      expect([query, status]).toEqual([query, 200]);
      expect(html).not.toMatch(/<(script|img|b)\b/);
      expect(main).not.toContain("\u202e");
    }
  });
});

it("errors link to SVC_DOCS_URL, else to the pages at the public address, else at the listening address", () => {
  const linkOf = (env: Record<string, string>) => docsUrlOf(readConfig(env).config, "http://127.0.0.1:4400");
  const SVC_PUBLIC_URL = "https://svc.example.com/x/";
  expect(linkOf({})).toBe("http://127.0.0.1:4400/docs");
  expect(linkOf({ SVC_PUBLIC_URL })).toBe("https://svc.example.com/x/docs");
  expect(linkOf({ SVC_PUBLIC_URL, SVC_DOCS_URL: "https://docs.example.com" })).toBe("https://docs.example.com");
});

describe("docs/ingestion.md", () => {
  const guide = readFileSync(new URL("../../docs/ingestion.md", import.meta.url), "utf8");

  const env = { ...process.env, SVC_API_URL: service.url, SVC_API_KEY: fixture.keys.test };

  it("has commands that give the answers shown below them, in the order of the page", async () => {
    const blocks = [
      ...guide.matchAll(/<!-- test\/http\/docs[^\n]*\n\n```bash\n((?:(?!```).)*)```\n\n```json\n(.*?)```/gs),
    ];
    expect(blocks.length).toBe(guide.match(/curl -s/g)?.length);
    const answers: string[] = [];
    for (const [, command] of blocks) answers.push(await runBash(command!, env));
    expect(comparable(answers)).toEqual(comparable(blocks.map(([, , answer]) => answer!)));
  });

  it("explains every variable that its commands use", () => {
    const [, block] = /<!-- test\/http\/docs[^\n]*variables[^\n]*\n\n```bash\n(.*?)```/s.exec(guide)!;
    const used = all(guide, /(?:\$\{?|process\.env\.)(SVC_\w+)/g);
    expect(all(block!, /^export (\w+)=\S+ +# \S/gm)).toEqual([...new Set(used)]);
  });

  describe("has a sender that", () => {
    /** Runs the page's function against a service that gives these answers in turn; null breaks the connection. Pauses are recorded, not waited for. */
    async function send(answers: (null | { status: number; headers?: Record<string, string>; body?: string })[]) {
      const bodies: string[] = [];
      const server = createServer((request, response) => {
        const answer = answers[bodies.length];
        void text(request).then((body) => {
          bodies.push(body);
          if (!answer) request.socket.destroy();
          else response.writeHead(answer.status, answer.headers).end(answer.body);
        });
      });
      const pauses: number[] = [];
      const pause = (resolve: () => void, ms: number) => {
        pauses.push(ms);
        resolve();
      };
      const env = { SVC_API_URL: await listen(server), SVC_API_KEY: "svc_test_x" };
      const [, code] = /^```js\n(.*?)^```$/ms.exec(guide)!;
      // oxlint-disable-next-line typescript/no-implied-eval -- the page's own text
      const sender = new Function("setTimeout", "process", `${code}; return send;`)(pause, { env }) as (
        events: unknown[],
      ) => Promise<unknown>;
      const outcome = await sender([{ customerId: "globex", event: "login" }]).catch(
        (error: unknown) => (error as Error).message,
      );
      await closeServer(server);
      return { outcome, bodies, pauses };
    }
    const accepted = { status: 202, body: '{"accepted":1}' };

    it("retries temporary failures unchanged, after Retry-After or growing pauses", async () => {
      const busy = { status: 503, headers: { "Retry-After": "7" } };
      const { outcome, bodies, pauses } = await send([null, busy, { status: 500 }, { status: 408 }, accepted]);
      expect(outcome).toEqual({ accepted: 1 });
      expect(bodies).toEqual(Array(5).fill('{"events":[{"customerId":"globex","event":"login"}]}'));
      expect(pauses).toEqual(Array(4).fill(expect.any(Number)));
      expect(pauses[1]).toBeGreaterThanOrEqual(7_000);
      expect(pauses[1]).toBeLessThan(8_000);
      for (const tries of [0, 2, 3]) {
        const least = 500 * 2 ** tries;
        expect(pauses[tries]).toBeGreaterThanOrEqual(least);
        expect(pauses[tries]).toBeLessThan(3 * least);
      }
    });

    it("throws a mistake, and a quota that is used up for days, at once", async () => {
      for (const refused of [{ status: 422 }, { status: 429, headers: { "Retry-After": "864000" } }]) {
        const outcome = await send([{ ...refused, body: "{}" }]);
        expect(outcome).toMatchObject({ outcome: "{}", pauses: [], bodies: [expect.any(String)] });
      }
    });
  });
});

/** Answers with event ids numbered in order of appearance. */
function comparable(answers: string[]): unknown {
  const ids = new Map<string, string>();
  const name = (id: string) => ids.get(id) ?? ids.set(id, `event ${ids.size + 1}`).get(id)!;
  return JSON.parse(`[${answers.join(",")}]`.replace(/evt_[0-9a-f]{16}/g, name)) as unknown;
}
