import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** The parts of the documentation and for whom each is, with its guides in the order of the navigation, and what each is about. */
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
      segment: "the same SDKs with another host: what calls become, what is kept, moving",
      backfill: "sending a history: keys, order, checkpoints, refused rows, recomputing, comparing",
      webhooks: "what arrives, verifying it, repetitions, order, retries, rotation, resending",
      "sign-in": "how a command line gets a token, what it may do, how to end it",
    },
  },
  {
    title: "Model",
    readers: "authors of models and success engineers",
    guides: {
      model: "lifecycle, journeys, segments, health, signals and rules on one page",
      recipes: "questions of success teams, the smallest model that answers each, and what it does day by day",
      "local-development": "the local engine, its clock, replays, reasons and errors, types, tests of your own",
      backtest: "whether a score, signal or segment foresaw an outcome, each figure, and what no backtest can tell",
      ci: "a preview in each pull request, a token for the program, test, live, and back",
      recompute: "reading history again, dry runs, previews of a model, what is emitted, failures",
      console: "pages for people: opening it, what each answers, the clock of svc dev",
      trends: "how states, segments, health and activity developed, by days, weeks or months",
      ai: "facts about models and customers, what of them a language model gets, setting one up",
      mcp: "svc mcp for Claude Desktop, Cursor and others: setting it up, its tools, what they get",
      walk: "a project from the empty folder to live and back, with what the commands print",
    },
  },
  {
    title: "Operate",
    readers: "operators and database administrators",
    guides: {
      configuration: "the variables that the service reads when it starts, plans, links and tokens of the operator",
      deploy: "one machine, containers, HTTP and worker processes apart, behind PgBouncer",
      scale: "what one machine holds, replicas, partitions, Citus by environment, several databases",
      security: "what is protected, from whom, by what, and what is left to you",
      "how-it-works": "the life of an event, order and time, what is promised and what is not, where a process dies",
      sql: "twenty-one questions of operators, database administrators and success teams, with psql",
    },
  },
  {
    title: "Reference",
    readers: "everybody",
    guides: {
      dsl: "every function with its declaration, limits, when conditions hold, what is said of mistakes",
      formats: "operations, answers, states, snapshots, deliveries, ids, timestamps, numbers, member by member",
      administration: "tokens, roles, keys, configuration versions, lists, erasure, the audit log",
      cli: "signing in, what is printed and asked, every command with its options and examples",
      api: "every code that the API answers, and what to do about it",
    },
  },
];

/** Shorter in the navigation than above the page. */
const SHORT_TITLES: Readonly<Record<string, string>> = { dsl: "The language of models", sql: "Asking in SQL" };

/** Of the project; the same from `src` and from `dist`. */
const DIRECTORY = fileURLToPath(new URL("../../../docs/", import.meta.url));
/** Its pages are for operators. They are whatever is in it, and so are the other files, which can be fetched as they are. */
const OPERATIONS = { folder: "operations/", part: "Operate" };

/**
 * What is served of the project's `docs`: the files of pages by address below /docs, and others such as rules for alerts. Looks once; what the
 * files say is read where it is asked for.
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
  /** In the project's `docs`. */
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
 * The parts with their pages, in the order of the navigation. The heading of a page is its title; those for operators begin with
 * `<!-- what the page is about -->`.
 */
export async function describeParts({ pages }: ReturnType<typeof findContents>): Promise<DocsPart[]> {
  const found = await Promise.all(
    [...pages].map(async ([name, file]) => {
      const [, about = "", title = name] = /^(?:<!-- (.+?) -->\s+)?# (.+)$/m.exec(await readDocument(file)) ?? [];
      return { name, file, title: SHORT_TITLES[name] ?? title, about };
    }),
  );
  return PARTS.map(({ title, readers, guides }) => {
    const known = found.flatMap((page) => (page.name in guides ? { ...page, about: guides[page.name]! } : []));
    const operators = found.filter(({ name }) => name.startsWith(OPERATIONS.folder));
    return { title, readers, pages: title === OPERATIONS.part ? [...known, ...operators] : known };
  });
}
