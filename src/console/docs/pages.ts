import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** The parts of the documentation, their readers, and their guides in the order of the navigation, each with its subject. */
const PARTS: readonly {
  title: string;
  readers: string;
  guides: Readonly<Record<string, string>>;
}[] = [
  {
    title: "Integrate",
    readers: "backend engineers",
    guides: {
      quickstart: "a model, the local engine and the service, by commands to paste",
      tutorial: "install, a model of your own, events, a signed webhook, a change with a preview, SQL",
      ingestion: "the two endpoints, idempotency, limits, retries, backfill",
      client: "for Node.js and Python: the queue, what is sent again, errors, ending a process, types",
      segment: "Segment's and RudderStack's SDKs with another host: what calls become, what is kept, moving",
      backfill: "sending a history: keys, order, checkpoints, refused rows, recomputing, comparing",
      webhooks: "what arrives, verifying it, repetitions, order, retries, rotation, resending",
      "sign-in": "how a command line gets a token, what it can do, how to revoke it",
    },
  },
  {
    title: "Model",
    readers: "authors of models and success engineers",
    guides: {
      model: "lifecycle, journeys, segments, health, signals and rules on one page",
      recipes: "questions of success teams, the smallest model that answers each, and what it does day by day",
      "local-development": "the local engine, its clock, replays, explanations and errors, types, your own tests",
      backtest: "whether a score, signal or segment predicted an outcome, each figure, and what no backtest can tell",
      ci: "a preview in each pull request, a token for the pipeline, test, live, and rolling back",
      recompute: "replaying history, dry runs, previews of a model, what is emitted, failures",
      console: "pages for people: opening them, what each page answers, the clock of svc dev",
      trends: "how states, segments, health and activity developed, by day, week or month",
      ai: "facts about models and customers, what a language model receives, setting one up",
      mcp: "svc mcp for Claude Desktop, Cursor and others: setting it up, its tools, what they receive",
      walk: "a project from the empty folder to live and back, with the output of the commands",
    },
  },
  {
    title: "Operate",
    readers: "operators and database administrators",
    guides: {
      configuration: "environment variables of the service, and the operator's commands for plans, links and tokens",
      deploy: "one machine, containers, HTTP and worker processes apart, behind PgBouncer",
      scale: "what one machine holds, replicas, partitions, Citus by environment, several databases",
      security: "what is protected, from whom, how, and what is left to you",
      "how-it-works": "the life of an event, order and time, what is promised and what is not, crashes",
      sql: "twenty-two questions of operators, database administrators and success teams, with psql",
    },
  },
  {
    title: "Reference",
    readers: "everyone",
    guides: {
      dsl: "every function with its declaration, limits, when conditions hold, error messages",
      formats: "operations, answers, states, snapshots, deliveries, ids, timestamps, numbers, member by member",
      administration: "tokens, roles, keys, configuration versions, lists, erasure, the audit log",
      cli: "signing in, output and prompts, every command with its options and examples",
      api: "every error code of the API, and what to do about it",
    },
  },
];

/** Titles for the navigation that are shorter than the page's heading. */
const SHORT_TITLES: Readonly<Record<string, string>> = { dsl: "The language of models", sql: "Asking in SQL" };

/** The project's `docs`; the relative path is the same from `src` and from `dist`. */
const DIRECTORY = fileURLToPath(new URL("../../../docs/", import.meta.url));
/** The folder with the pages for operators. All its pages are listed; its other files are served unchanged. */
const OPERATIONS = { folder: "operations/", part: "Operate" };

/**
 * The served files of the project's `docs`: pages by address below /docs, and other files such as alerting rules. Lists the folder once; files are
 * read when requested.
 */
export function findContents() {
  const files = readdirSync(DIRECTORY + OPERATIONS.folder)
    .sort()
    .map((file) => OPERATIONS.folder + file);
  const operators = files.filter((file) => file.endsWith(".md"));
  const names = [
    ...PARTS.flatMap(({ guides }) => Object.keys(guides)),
    ...operators.map((file) => file.replace(/\.md$/, "")),
  ];
  return {
    pages: new Map(names.map((name) => [name, name === "api" ? "errors.md" : `${name}.md`])),
    files: files.filter((file) => !operators.includes(file)),
  };
}

/** The text of a file of `docs`. */
export function readDocument(file: string): Promise<string> {
  return readFile(DIRECTORY + file, "utf8");
}

/** A page of the documentation. */
export interface DocsPage {
  /** Its address below /docs. */
  name: string;
  /** Path within the project's `docs`. */
  file: string;
  title: string;
  about: string;
}

/** A part of the documentation. */
export interface DocsPart {
  title: string;
  readers: string;
  pages: readonly DocsPage[];
}

/**
 * The parts with their pages, in the order of the navigation. A page's title is its heading; pages for operators begin with
 * `<!-- what the page is about -->`.
 */
export async function describeParts({ pages }: ReturnType<typeof findContents>): Promise<DocsPart[]> {
  const described = await Promise.all(
    [...pages].map(async ([name, file]) => {
      const [, about = "", title = name] = /^(?:<!-- (.+?) -->\s+)?# (.+)$/m.exec(await readDocument(file)) ?? [];
      return { name, file, title: SHORT_TITLES[name] ?? title, about };
    }),
  );
  return PARTS.map(({ title, readers, guides }) => {
    const listed = described.flatMap((page) => (page.name in guides ? { ...page, about: guides[page.name]! } : []));
    const operators = described.filter(({ name }) => name.startsWith(OPERATIONS.folder));
    return { title, readers, pages: title === OPERATIONS.part ? [...listed, ...operators] : listed };
  });
}
