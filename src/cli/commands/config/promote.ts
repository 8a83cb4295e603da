import { activate } from "./activate.js";
import { defineCommand, forceOption, projectOptions, sharedOptions, yesOption } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import { checkVersion, versionOption } from "./stored-versions.js";

export default defineCommand({
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
    await activate(context, { verb: "promote", version, environment: "live", yes, force });
  },
});
