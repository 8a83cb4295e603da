import path from "node:path";

import { defineCommand, projectOptions } from "../../core/command.js";
import { summary } from "../../../words/text.js";
import { checkVersion, getVersion } from "./stored-versions.js";
import { replaceFile } from "../../output/write-file.js";

const FILE = path.join(".kite", "pulled-config.json");

export default defineCommand({
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
});
