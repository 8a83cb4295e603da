import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

import type { Whoami } from "../../../http/admin/answers.js";
import { type Context, defineCommand } from "../../core/command.js";
import { inOrganization } from "../../output/change.js";
import { shouldAsk, askUntil, confirmation } from "../../output/confirmation.js";
import { onTermination, ignoreSignals } from "../../output/interruption.js";
import { createdInWords, createProject, lostKeysAdvice } from "../projects.js";
import { UsageError } from "../../core/errors.js";
import { type Environment, ENVIRONMENTS, type Settings, SLUG_LENGTH_MAX, slugMistake } from "../../core/settings.js";
import { fillTemplate, PACKAGE, version } from "../../core/package.js";
import { printable, shellWord } from "../../../words/text.js";

/** The platforms of the example that sends events. */
const STACKS = ["node", "python"] as const;
type Stack = (typeof STACKS)[number];

/** How to run the example of each stack, and the setup it needs once: on this machine, and on any machine where svc is installed. */
const EXAMPLES: Readonly<
  Record<Stack, { file: string; setupHere: readonly string[]; setup: readonly string[]; run: string }>
> = {
  node: {
    file: "instrumentation/track.mjs",
    // The DSL and the client, by their folders: they are already on this machine.
    setupHere: [`npm install --no-save ${[PACKAGE, path.join(PACKAGE, "dist/client")].map(shellWord).join(" ")}`],
    setup: [
      `npm install --no-save ${["", "/dist/client"].map((folder) => `"$(npm root --global)/svc-success${folder}"`).join(" ")}`,
    ],
    run: "node instrumentation/track.mjs",
  },
  python: { file: "instrumentation/track.py", setupHere: [], setup: [], run: "python3 instrumentation/track.py" },
};

export default defineCommand({
  options: {
    name: { type: "text", describe: "The project's name, for people; unless given, that of the directory" },
    slug: {
      type: "text",
      describe: "Its identifier: lower-case letters, digits and hyphens; unless given, from the name",
    },
    stack: { type: "text", choices: STACKS, describe: "The language of the example that sends events: node or python" },
    env: {
      type: "text",
      choices: ENVIRONMENTS,
      describe: "The environment that commands use by default: test or live; test unless given",
    },
    existing: { type: "flag", describe: "The project already exists: only write its starter, and create no keys" },
    yes: { type: "flag", alias: "y", describe: "Ask nothing: use defaults for what is not given" },
  },
  examples: [
    ['svc init --name "Acme" --stack node', "Here, in an empty directory; asks for what is not given"],
    ["svc init --directory acme --yes", "A new directory acme, for a project of that name"],
    ["svc init --existing --slug acme", "The starter only, for the project acme"],
  ],
  async handler(context, { env = "test", existing, yes, ...given }) {
    const { api, out, settings } = context;
    const { StarterFolder } = await import("./folder.js");

    refuse("--name", given.name, nameMistake);
    refuse("--slug", given.slug, slugMistake);
    if (existing && given.slug === undefined)
      throw new UsageError("--existing needs --slug", "give the project's slug");
    const action = existing ? "writing a starter" : "creating a project";
    const confirm = await confirmation(context, { action, yes });
    const directory = settings.location;
    const folder = new StarterFolder(directory);
    let release = onTermination(() => folder.abandon());
    let isCreated = false;
    try {
      // Checks the sign-in and the service before any question is asked.
      const { data } = await api.get<Whoami>("/whoami", ["user", "organization"]);
      const { id: organization } = data.organization;
      const known = existing ? await api.get<{ name: string }>(`/projects/${given.slug!}`, ["name"]) : undefined;
      const wanted = { ...given, ...(known && { name: known.data.name }) };
      const { name, slug, stack } = await settle(context, wanted, { directory, yes });
      const where = inOrganization(settings, data.organization);
      const a = `a ${stack} starter in ${directory}`;
      await confirm(
        existing
          ? `Write ${a} for the project ${slug} in ${where}?`
          : `Create the project ${slug} in ${where}, and ${a}?`,
      );

      const files = await starterFiles(settings, { name, slug, stack }, { environment: env, organization });
      folder.stage(files);
      folder.refuseOccupied();
      // From here to the last file, signals are ignored, and everything after the answer is synchronous.
      release();
      release = ignoreSignals();
      const next = (): string => nextInWords(context, directory, files.size, stack);
      if (existing) {
        isCreated = true;
        folder.finish();
        out.result({ document: { project: { slug, name }, directory, files: [...files.keys()] } }, next);
        return;
      }
      const { data: created } = await createProject(api, { name, slug }, seen(slug));
      isCreated = true;
      // The keys come first: they are shown nowhere else.
      out.secret(
        { document: { ...created, directory, files: [...files.keys()] } },
        () => createdInWords(out, created),
        lostKeysAdvice(created.project.slug),
      );
      folder.finish();
      if (!out.json) out.print(`\n${next()}`);
    } finally {
      if (!isCreated) folder.abandon();
      release();
    }
  },
});

/** How to find out whether the project was created, and what to do then: with an unknown outcome no files are written. */
function seen(slug: string): string {
  return (
    `\`svc projects list\`. If it lists ${slug}, \`svc init --existing --slug ${slug}\` writes its starter, and ` +
    `\`svc keys create --name <name> --env test --project ${slug}\` creates a key; if not, run the command again`
  );
}

function nextInWords({ io, out }: Context, directory: string, files: number, stack: Stack): string {
  const { setupHere, run } = EXAMPLES[stack];
  const relative = path.relative(io.cwd, directory);
  const next = [
    ...(relative === "" ? [] : [`cd ${shellWord(relative)}`]),
    "svc validate --strict",
    "svc deploy --env test",
    ...setupHere,
    `SVC_API_KEY=<the test key> ${run}`,
    "svc customers inspect cus_example --env test",
  ];
  return [
    `Wrote ${files} files to ${printable(directory)}. README.md says what each is for.`,
    "",
    "Next:",
    ...next.map((line) => `  ${out.style.bold(line)}`),
  ].join("\n");
}

type Wanted = { name?: string | undefined; slug?: string | undefined; stack?: Stack | undefined };

/** @throws {UsageError} for an invalid given value. */
function refuse(option: string, value: string | undefined, mistakeIn: (value: string) => string | undefined): void {
  const mistake = value === undefined ? undefined : mistakeIn(value);
  if (mistake !== undefined) throw new UsageError(`${option} is ${JSON.stringify(value)}`, mistake);
}

const NAME_LENGTH_MAX = 256;
// oxlint-disable-next-line no-control-regex
const NAME = /^(?=.*\S)[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*$/;

/** What to give instead of a project name that the API would refuse; undefined if it is valid. */
function nameMistake(name: string): string | undefined {
  if (NAME.test(name) && [...name].length <= NAME_LENGTH_MAX) return undefined;
  return `give 1 to ${NAME_LENGTH_MAX} characters, without line breaks and control characters`;
}

/** A project name from the directory's name; undefined if that is no valid name. */
function nameOf(directory: string): string | undefined {
  const name = path.basename(directory);
  return nameMistake(name) === undefined ? name : undefined;
}

/** A slug from a project's name: `Größe & Co` gives `grosse-co`. Undefined if none can be made. */
function slugOf(name: string): string | undefined {
  const slug = name
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, SLUG_LENGTH_MAX)
    .replace(/^-|-$/g, "");
  return slugMistake(slug) === undefined ? slug : undefined;
}

/** Asks for the values that were not given, or takes defaults if there is no asking. */
async function settle(
  context: Context,
  wanted: Wanted,
  { directory, yes }: { directory: string; yes: boolean },
): Promise<{ name: string; slug: string; stack: Stack }> {
  const isAsked = shouldAsk(context, yes);
  const settled = async (
    label: string,
    given: string | undefined,
    otherwise: string | undefined,
    mistakeIn: (value: string) => string | undefined,
  ) => {
    if (given !== undefined) return given;
    if (isAsked) return askUntil(context, label, { otherwise, ending: ":", mistakeIn });
    if (otherwise !== undefined) return otherwise;
    throw new UsageError(`there is no default ${label.toLowerCase()} for this project`, `add --${label.toLowerCase()}`);
  };
  const name = await settled("Name", wanted.name, wanted.slug ?? nameOf(directory), nameMistake);
  const slug = await settled("Slug", wanted.slug, slugOf(name), slugMistake);
  const stack = await settled("Stack", wanted.stack, STACKS[0], (value) =>
    STACKS.includes(value as Stack) ? undefined : `give one of: ${STACKS.join(", ")}`,
  );
  return { name, slug, stack: stack as Stack };
}

/** The files of a starter, by path with forward slashes, sorted by path. */
async function starterFiles(
  { apiUrl, isDefaultApi }: Settings,
  { name, slug, stack }: Awaited<ReturnType<typeof settle>>,
  { environment, organization }: { environment: Environment; organization: string },
): Promise<ReadonlyMap<string, string>> {
  const { file: track, setup, run } = EXAMPLES[stack];
  const words = {
    NAME: name,
    SLUG: slug,
    API_URL: apiUrl,
    VERSION: version(),
    TRACK: track,
    RUN: run,
    CLIENT: stack === "node" ? ", `svc-success-client`" : ", `svc_client.py` beside it",
    SETUP: setup.map((line) => `${line}\n`).join(""),
  };
  const config = { project: slug, defaultEnvironment: environment, organization, ...(isDefaultApi ? {} : { apiUrl }) };
  const files: [file: string, text: string][] = [[".kite/config.json", `${JSON.stringify(config, null, 2)}\n`]];
  // The Python client is a single module.
  if (stack === "python") {
    const client = await readFile(path.join(PACKAGE, "python/svc_client/__init__.py"), "utf8");
    files.push(["instrumentation/svc_client.py", client]);
  }
  // Templates common to all starters, and those of the stack.
  for (const folder of ["common", stack]) {
    const root = path.join(PACKAGE, "starter", folder);
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const template = path.join(entry.parentPath, entry.name);
      files.push([written(path.relative(root, template)), fillTemplate(await readFile(template, "utf8"), words)]);
    }
  }
  return new Map(files.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The target path of a template. A leading underscore stands for a dot: npm leaves some dotfiles out of packages. */
function written(template: string): string {
  return template
    .split(path.sep)
    .map((name) => name.replace(/^_(?!_)/, "."))
    .join("/");
}
