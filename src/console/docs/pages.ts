import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/**
 * The parts of the documentation and for whom each is, with its guides in the order of the navigation: the title of each, and what it is about.
 */
const PARTS: readonly {
  title: string;
  readers: string;
  guides: Readonly<Record<string, readonly [string, string]>>;
}[] = [
  {
    title: "Integrate",
    readers: "backend engineers",
    guides: {
      quickstart: ["A first look", "a model, the local engine and the service, by commands to paste"],
      tutorial: [
        "From nothing to value in ten minutes",
        "install, a model of your own, events, a signed webhook, a change with a preview, SQL",
      ],
      ingestion: ["Sending events", "the two endpoints, idempotency, limits, retries, backfill"],
      client: ["The client", "for Node.js and Python: the queue, what is sent again, errors, ending a process, types"],
      segment: [
        "Coming from Segment or RudderStack",
        "the same SDKs with another host: what calls become, what is kept, moving",
      ],
      backfill: ["Backfill", "sending a history: keys, order, checkpoints, refused rows, recomputing, comparing"],
      webhooks: ["Receiving webhooks", "what arrives, verifying it, repetitions, order, retries, rotation, resending"],
      "sign-in": ["Signing in from a program", "how a command line gets a token, what it may do, how to end it"],
    },
  },
  {
    title: "Model",
    readers: "authors of models and success engineers",
    guides: {
      model: ["Writing a model", "lifecycle, journeys, segments, health, signals and rules on one page"],
      recipes: [
        "Recipes",
        "questions of success teams, the smallest model that answers each, and what it does day by day",
      ],
      "local-development": [
        "Developing a model on your machine",
        "the local engine, its clock, replays, reasons and errors, types, tests of your own",
      ],
      backtest: [
        "Backtesting a model",
        "whether a score, signal or segment foresaw an outcome, each figure, and what no backtest can tell",
      ],
      ci: ["Deploying from CI", "a preview in each pull request, a token for the program, test, live, and back"],
      recompute: ["Recomputing", "reading history again, dry runs, previews of a model, what is emitted, failures"],
      console: ["The console", "pages for people: opening it, what each answers, the clock of svc dev"],
      trends: ["Trends", "how states, segments, health and activity developed, by days, weeks or months"],
      ai: ["svc ai", "facts about models and customers, what of them a language model gets, setting one up"],
      mcp: ["Assistants", "svc mcp for Claude Desktop, Cursor and others: setting it up, its tools, what they get"],
      walk: ["A walk with svc", "a project from the empty folder to live and back, with what the commands print"],
    },
  },
  {
    title: "Operate",
    readers: "operators and database administrators",
    guides: {
      configuration: [
        "Configuration",
        "the variables that the service reads when it starts, plans, links and tokens of the operator",
      ],
      deploy: ["Deploying", "one machine, containers, HTTP and worker processes apart, behind PgBouncer"],
      scale: ["Growing", "what one machine holds, replicas, partitions, Citus by environment, several databases"],
      security: ["Security", "what is protected, from whom, by what, and what is left to you"],
      "how-it-works": [
        "How it works",
        "the life of an event, order and time, what is promised and what is not, where a process dies",
      ],
      sql: ["Asking in SQL", "twenty-one questions of operators, database administrators and success teams, with psql"],
    },
  },
  {
    title: "Reference",
    readers: "everybody",
    guides: {
      dsl: [
        "The language of models",
        "every function with its declaration, limits, when conditions hold, what is said of mistakes",
      ],
      formats: [
        "Data formats",
        "operations, answers, states, snapshots, deliveries, ids, timestamps, numbers, member by member",
      ],
      administration: ["Administration", "tokens, roles, keys, configuration versions, lists, erasure, the audit log"],
      cli: ["The command line", "signing in, what is printed and asked, every command with its options and examples"],
      api: ["Errors", "every code that the API answers, and what to do about it"],
    },
  },
];

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

/** The parts with their pages, in the order of the navigation. Pages for operators begin with `<!-- what the page is about -->`. */
export async function describeParts({ pages }: ReturnType<typeof findContents>): Promise<DocsPart[]> {
  const operators = [...pages].filter(([name]) => name.startsWith(OPERATIONS.folder));
  const found = await Promise.all(
    operators.map(async ([name, file]) => {
      const [, about = "", title = name] = /^(?:<!-- (.+?) -->\s+)?# (.+)$/m.exec(await readDocument(file)) ?? [];
      return { name, file, title, about };
    }),
  );
  return PARTS.map(({ title, readers, guides }) => {
    const known = Object.entries(guides).map(([name, of]) => ({
      name,
      file: pages.get(name)!,
      title: of[0],
      about: of[1],
    }));
    return { title, readers, pages: title === OPERATIONS.part ? [...known, ...found] : known };
  });
}
