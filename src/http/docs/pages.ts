import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

/** A page of the documentation. */
export interface DocsPage {
  /** Its address below /docs. */
  name: string;
  /** In the project's `docs`. */
  file: string;
  title: string;
  about: string;
}

const GUIDES: readonly DocsPage[] = [
  {
    name: "quickstart",
    file: "quickstart.md",
    title: "A first look",
    about: "a model, the local engine and the service, by commands to paste",
  },
  {
    name: "tutorial",
    file: "tutorial.md",
    title: "From nothing to value in ten minutes",
    about: "install, a model of your own, events, a signed webhook, a change with a preview, SQL",
  },
  {
    name: "model",
    file: "model.md",
    title: "Writing a model",
    about: "lifecycle, journeys, segments, health, signals and rules on one page",
  },
  {
    name: "recipes",
    file: "recipes.md",
    title: "Recipes",
    about: "questions of success teams, the smallest model that answers each, and what it does day by day",
  },
  {
    name: "dsl",
    file: "dsl.md",
    title: "The language of models",
    about: "every function with its declaration, limits, when conditions hold, what is said of mistakes",
  },
  {
    name: "ingestion",
    file: "ingestion.md",
    title: "Sending events",
    about: "the two endpoints, idempotency, limits, retries, backfill",
  },
  {
    name: "client",
    file: "client.md",
    title: "The client",
    about: "for Node.js and Python: the queue, what is sent again, errors, ending a process, types",
  },
  {
    name: "backfill",
    file: "backfill.md",
    title: "Backfill",
    about: "sending a history: keys, order, checkpoints, refused rows, recomputing, comparing",
  },
  {
    name: "webhooks",
    file: "webhooks.md",
    title: "Receiving webhooks",
    about: "what arrives, verifying it, repetitions, order, retries, rotation, resending",
  },
  {
    name: "formats",
    file: "formats.md",
    title: "Data formats",
    about: "operations, answers, states, snapshots, deliveries, ids, timestamps, numbers, member by member",
  },
  {
    name: "administration",
    file: "administration.md",
    title: "Administration",
    about: "tokens, roles, keys, configuration versions, lists, erasure, the audit log",
  },
  {
    name: "cli",
    file: "cli.md",
    title: "The command line",
    about: "signing in, what is printed and asked, every command with its options and examples",
  },
  {
    name: "ai",
    file: "ai.md",
    title: "svc ai",
    about: "facts about models and customers, what of them a language model gets, setting one up",
  },
  {
    name: "walk",
    file: "walk.md",
    title: "A walk with svc",
    about: "a project from the empty folder to live and back, with what the commands print",
  },
  {
    name: "local-development",
    file: "local-development.md",
    title: "Developing a model on your machine",
    about: "the local engine, its clock, replays, reasons and errors, types, tests of your own",
  },
  {
    name: "ci",
    file: "ci.md",
    title: "Deploying from CI",
    about: "a preview in each pull request, a token for the program, test, live, and back",
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
    name: "how-it-works",
    file: "how-it-works.md",
    title: "How it works",
    about: "the life of an event, order and time, what is promised and what is not, where a process dies",
  },
  {
    name: "sql",
    file: "sql.md",
    title: "Asking in SQL",
    about: "twenty-one questions of operators, database administrators and success teams, with psql",
  },
  {
    name: "configuration",
    file: "configuration.md",
    title: "Configuration",
    about: "the variables that the service reads when it starts, plans, links and tokens of the operator",
  },
  {
    name: "deploy",
    file: "deploy.md",
    title: "Deploying",
    about: "one machine, containers, HTTP and worker processes apart, behind PgBouncer",
  },
  {
    name: "scale",
    file: "scale.md",
    title: "Growing",
    about: "what one machine holds, replicas, partitions, Citus by environment, several databases",
  },
  {
    name: "security",
    file: "security.md",
    title: "Security",
    about: "what is protected, from whom, by what, and what is left to you",
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
/** Its pages are for operators. They are whatever is in it, and so are the other files, which can be fetched as they are. */
const OPERATIONS = "operations";

/** What is served of the project's `docs`, by address below /docs. */
export interface Contents {
  pages: ReadonlyMap<string, string>;
  /** Rules for alerts, a dashboard. */
  files: readonly string[];
}

/** Looks once; what the files say is read where it is asked for. */
export function findContents(): Contents {
  const files = readdirSync(DIRECTORY + OPERATIONS)
    .sort()
    .map((file) => `${OPERATIONS}/${file}`);
  const operators = files.filter((file) => file.endsWith(".md"));
  return {
    pages: new Map([
      ...GUIDES.map(({ name, file }) => [name, file] as const),
      ...operators.map((file) => [file.replace(/\.md$/, ""), file] as const),
    ]),
    files: files.filter((file) => !file.endsWith(".md")),
  };
}

/** The text of a file of `docs`. */
export function readDocument(file: string): Promise<string> {
  return readFile(DIRECTORY + file, "utf8");
}

/** All pages with their titles, in the order of the navigation. Those for operators begin with `<!-- what the page is about -->`. */
export async function describePages({ pages }: Contents): Promise<DocsPage[]> {
  const operators = [...pages].filter(([, file]) => posix.dirname(file) === OPERATIONS);
  const described = operators.map(async ([name, file]): Promise<DocsPage> => {
    const text = await readDocument(file);
    const [, about = "", title = name] = /^(?:<!-- (.+?) -->\s+)?# (.+)$/m.exec(text) ?? [];
    return { name, file, title, about };
  });
  return [...GUIDES, ...(await Promise.all(described))];
}
