import { activate } from "./activate.js";
import { defineCommand, forceOption, projectOptions, yesOption } from "../../core/command.js";
import { checkVersion, versionOption } from "./stored-versions.js";

export default defineCommand({
  options: { ...versionOption, ...projectOptions, ...yesOption, ...forceOption },
  examples: [
    ["svc config promote --version v3", "Bring v3 from test to live as it is, nothing compiled again"],
    ["echo live | svc config promote --version v3", "The same where there is no terminal"],
  ],
  async handler(context, { version, yes, force }) {
    checkVersion(version, { given: "--version" });
    await activate(context, { verb: "promote", version, environment: "live", yes, force });
  },
});
