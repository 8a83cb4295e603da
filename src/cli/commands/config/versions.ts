import type { Activation, ConfigVersion } from "../../../http/admin/answers.js";
import { summary } from "../../../words/text.js";
import { readList } from "../../client/pages.js";
import {
  defineCommand,
  forceOption,
  pageOptions,
  projectOptions,
  sharedOptions,
  yesOption,
} from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import { page, printList } from "../../output/table.js";
import { replaceFile } from "../../output/write-file.js";
import { checkVersion, getVersion, versionOption } from "./stored-versions.js";
import path from "node:path";

const FILE = path.join(".kite", "pulled-config.json");

export default {
  versions: defineCommand({
    options: { ...projectOptions, ...pageOptions },
    examples: [["svc config versions", "Every version, newest first"]],
    async handler({ api, out }, { limit, cursor }) {
      const originOf = ({ provenance }: ConfigVersion) =>
        [provenance?.ref, provenance?.commit?.slice(0, 12)].filter((part) => part !== undefined).join(" ");
      const answer = await readList<ConfigVersion>(api, ["config-versions"], { limit, cursor });
      page(out, answer, {
        none: "Nothing was deployed yet.",
        columns: [
          { title: "Version", value: ({ version }) => version, fixed: true },
          { title: "Active in", value: ({ active }) => active.join(", "), style: out.style.green },
          { title: "Created", value: ({ createdAt }) => out.at(createdAt), fixed: true },
          { title: "Author", value: ({ author }) => author },
          { title: "Hash", value: ({ hash }) => hash.slice(0, 12), fixed: true },
          ...(answer.data.data.some(({ provenance }) => provenance !== null)
            ? [{ title: "Deployed from", value: originOf, optional: true as const }]
            : []),
        ],
      });
    },
  }),

  activations: defineCommand({
    options: { ...projectOptions, ...pageOptions },
    examples: [["svc config activations --env live", "What was active in live, to choose what to roll back to"]],
    async handler(context, { limit, cursor }) {
      await printList<Activation>(context, { limit, cursor }, ["activations"], {
        none: `Nothing was active in ${context.settings.environment} yet.`,
        columns: [
          { title: "Version", value: ({ version }) => version, fixed: true },
          { title: "Instead of", value: ({ previousVersion }) => previousVersion ?? "", fixed: true },
          { title: "By", value: ({ kind }) => kind, fixed: true },
          { title: "At", value: ({ at }) => context.out.at(at), fixed: true },
          { title: "Who", value: ({ actor }) => actor },
        ],
      });
    },
  }),

  promote: defineCommand({
    options: {
      ...versionOption,
      ...projectOptions,
      env: { ...sharedOptions.env, describe: "live, if given: versions are promoted only to live" },
      ...yesOption,
      ...forceOption,
    },
    examples: [
      ["svc config promote --version v3", "Bring v3 from test to live unchanged; nothing is compiled again"],
      ["echo live | svc config promote --version v3", "The same without a terminal"],
    ],
    async handler(context, { version, env, yes, force }) {
      checkVersion(version, { given: "--version" });
      if (env === "test") {
        const fix = `leave it out; to make it active in test again, use \`svc config rollback --version ${version} --env test\``;
        throw new UsageError("--env is test, but versions are promoted from test to live", fix);
      }
      const { activate } = await import("./activate.js");
      await activate(context, { verb: "promote", version, environment: "live", yes, force });
    },
  }),

  rollback: defineCommand({
    options: { ...versionOption, ...projectOptions, ...yesOption, ...forceOption },
    examples: [
      ["svc config rollback --version v2 --env live", "Make v2 active in live again"],
      ["svc config rollback --version v2 --env live --yes", "The same without being asked"],
    ],
    async handler(context, { version, yes, force }) {
      checkVersion(version, { given: "--version" });
      const { environment } = context.settings;
      const { activate } = await import("./activate.js");
      await activate(context, { verb: "rollback", version, environment, yes, force });
    },
  }),

  pull: defineCommand({
    options: {
      version: { type: "text", describe: "The version, such as v3; the latest unless given" },
      ...projectOptions,
    },
    examples: [
      ["svc config pull", `The latest version as ${FILE}`],
      ["svc config pull --version v3", "A particular version"],
    ],
    async handler(context, { version: name = "latest" }) {
      const { out, settings } = context;
      checkVersion(name, { given: "--version", latest: true });
      const { directory, project } = settings;
      const { version, hash, snapshot } = await getVersion(context, name);
      const file = path.join(directory, FILE);
      await replaceFile(file, `${JSON.stringify(snapshot, null, 2)}\n`);
      out.result({ document: { version, hash, file } }, () =>
        [
          `Wrote ${version} of ${project} to ${FILE}: ${summary(snapshot)} (${hash.slice(0, 12)}).`,
          "It is the compiled model, for reading and comparing; svc never reads it, and the sources are unchanged.",
        ].join("\n"),
      );
    },
  }),
};
