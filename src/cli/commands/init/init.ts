import path from "node:path";

import { type Context, defineCommand } from "../../core/command.js";
import { confirmation } from "../../output/change.js";
import { createdInWords, createProject, keysLost } from "../projects/created-project.js";
import { UsageError } from "../../core/errors.js";
import { ENVIRONMENTS } from "../../core/settings.js";
import { version } from "../../core/version.js";
import type { Stack } from "./files.js";
import { printable, shellWord } from "../../output/text.js";
import type { Whoami } from "../whoami.js";

/** As `STACKS` of the starter, which is not loaded to know them. */
const STACKS = ["node", "python"] as const satisfies readonly Stack[];

export default defineCommand({
  options: {
    name: { type: "text", describe: "The project's name, for people; unless given, that of the directory" },
    slug: {
      type: "text",
      describe: "Its identifier: lower-case letters, digits and hyphens; unless given, from the name",
    },
    stack: { type: "text", choices: STACKS, describe: "What the example of sending events is for: node or python" },
    env: {
      type: "text",
      choices: ENVIRONMENTS,
      describe: "The environment that commands use unless told otherwise: test or live; test unless given",
    },
    existing: { type: "flag", describe: "The project is there already: write its starter only, and create no keys" },
    yes: { type: "flag", alias: "y", describe: "Ask nothing: take what is not given by default" },
  },
  examples: [
    ['svc init --name "Acme" --stack node', "Here, in an empty directory; asks for what is not given"],
    ["svc init --directory acme --yes", "A new directory acme, for a project of that name"],
    ["svc init --existing --slug acme", "The starter only, for the project acme"],
  ],
  async handler(context, { env = "test", existing, yes, ...said }) {
    const { api, out, settings } = context;
    const { SignalTrap, StarterFolder } = await import("./folder.js");
    const { checkWanted, settle } = await import("./questions.js");
    const { EXAMPLES, starterFiles } = await import("./files.js");

    checkWanted(said);
    if (existing && said.slug === undefined) throw new UsageError("--existing needs --slug", "say which project it is");
    const action = existing ? "writing a starter" : "creating a project";
    const confirm = await confirmation(context, { action, yes });
    const directory = settings.location;
    const folder = new StarterFolder(directory);
    const trap = new SignalTrap((name) => {
      folder.abandon();
      trap.release();
      process.kill(process.pid, name);
    });
    let isCreated = false;
    try {
      // Whether somebody is signed in at a service that answers is better known before questions are asked.
      const { data } = await api.get<Whoami>("/whoami", ["user", "organization"]);
      const { id: organization, slug: organizationSlug } = data.organization;
      const wanted = existing ? { ...said, name: await nameOfProject(context, said.slug!) } : said;
      const { name, slug, stack } = await settle(context, wanted, { directory, yes });
      const where = `organization ${printable(organizationSlug)} at ${settings.apiUrl}`;
      const a = `a ${stack} starter in ${directory}`;
      await confirm(
        existing
          ? `Write ${a} for the project ${slug} in ${where}?`
          : `Create the project ${slug} in ${where}, and ${a}?`,
      );

      const { apiUrl, isDefaultApi } = settings;
      const starter = { name, slug, stack, environment: env, organization, apiUrl, isDefaultApi, version: version() };
      const files = await starterFiles(starter);
      folder.stage(files);
      folder.refuseOccupied();
      // From here to the last file nothing comes in between: what follows the answer happens at once, and signals wait for its end.
      trap.handle = () => undefined;
      const next = (): string => nextInWords(context, directory, files.size, EXAMPLES[stack]);
      if (existing) {
        isCreated = true;
        folder.finish();
        out.result({ document: { project: { slug, name }, directory, files: [...files.keys()] } }, next);
        return;
      }
      const { data: created } = await createProject(api, { name, slug }, seen(slug));
      isCreated = true;
      // The keys come first: they are nowhere else.
      out.secret(
        { document: { ...created, directory, files: [...files.keys()] } },
        () => createdInWords(out, created),
        keysLost(created.project.slug),
      );
      folder.finish();
      if (!out.json) out.print(`\n${next()}`);
    } finally {
      if (!isCreated) folder.abandon();
      trap.release();
    }
  },
});

/** Also what to do then: nothing is written here where nobody knows. */
function seen(slug: string): string {
  return (
    `svc projects list. Where ${slug} is there, \`svc init --existing --slug ${slug}\` writes its starter, and ` +
    `\`svc keys create --name <name> --env test --project ${slug}\` makes a key; where not, run the command again`
  );
}

async function nameOfProject({ api }: Context, slug: string): Promise<string> {
  return (await api.get<{ name: string }>(`/projects/${slug}`, ["name"])).data.name;
}

function nextInWords(
  { io, out }: Context,
  directory: string,
  files: number,
  example: { setupHere: readonly string[]; run: string },
): string {
  const relative = path.relative(io.cwd, directory);
  const next = [
    ...(relative === "" ? [] : [`cd ${shellWord(relative)}`]),
    "svc validate --strict",
    "svc deploy --env test",
    ...example.setupHere,
    `SVC_API_KEY=<the test key> ${example.run}`,
    "svc customers inspect cus_example --env test",
  ];
  return [
    `Wrote ${files} files to ${printable(directory)}. README.md says what each is for.`,
    "",
    "Next:",
    ...next.map((line) => `  ${out.style.bold(line)}`),
  ].join("\n");
}
