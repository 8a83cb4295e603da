import { activate } from "./activate.js";
import { defineCommand, forceOption, projectOptions, yesOption } from "../../core/command.js";
import { checkVersion, versionOption } from "./stored-versions.js";

export default defineCommand({
  options: { ...versionOption, ...projectOptions, ...yesOption, ...forceOption },
  examples: [
    ["svc config rollback --version v2 --env live", "Make v2 active in live again"],
    ["svc config rollback --version v2 --env live --yes", "The same without being asked"],
  ],
  async handler(context, { version, yes, force }) {
    checkVersion(version, { given: "--version" });
    const { environment } = context.settings;
    await activate(context, { verb: "rollback", version, environment, yes, force });
  },
});
