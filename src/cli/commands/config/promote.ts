import { activate } from "./activate.js";
import { defineCommand, forceOption, projectOptions, sharedOptions, yesOption } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import { checkVersion, versionOption } from "./stored-versions.js";

export default defineCommand({
  options: {
    ...versionOption,
    ...projectOptions,
    env: { ...sharedOptions.env, describe: "live, if given: a version is promoted nowhere else" },
    ...yesOption,
    ...forceOption,
  },
  examples: [
    ["svc config promote --version v3", "Bring v3 from test to live as it is, nothing compiled again"],
    ["echo live | svc config promote --version v3", "The same where there is no terminal"],
  ],
  async handler(context, { version, env, yes, force }) {
    checkVersion(version, { given: "--version" });
    if (env === "test") {
      const fix = `leave it out; what makes it active in test again is \`svc config rollback --version ${version} --env test\``;
      throw new UsageError("--env is test, and a version is promoted from there to live", fix);
    }
    await activate(context, { verb: "promote", version, environment: "live", yes, force });
  },
});
