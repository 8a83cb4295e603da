import { defineCommand, projectOptions, sharedOptions } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";

export default defineCommand({
  isForAssistants: true,
  options: {
    ...projectOptions,
    env: { ...sharedOptions.env, describe: "The environment: test unless given; live must be given explicitly" },
    allowChanges: {
      type: "flag",
      describe: "Also offer changes: releasing customers, resending deliveries, deploying to test",
    },
    allowIds: { type: "flag", describe: "Send customer ids to the assistant; otherwise it gets pseudonyms" },
    allow: {
      type: "list",
      describe: "A trait or property whose texts and dates may be sent too; may be given several times",
    },
  },
  examples: [
    ["svc mcp --directory /projects/shop", "The command for an assistant to start; it can read test"],
    ["svc mcp --env live --allow-ids", "The same for live, with customer ids"],
  ],
  async handler(context, { env, ...options }) {
    const { environment } = context.settings;
    if (env === undefined && environment !== "test") {
      const message = `the project's default environment is ${environment}, but an assistant gets that only if it is given explicitly`;
      throw new UsageError(message, `add --env ${environment}, or --env test`);
    }
    // Imported here: it loads the protocol's library, for which no other command should wait.
    const { serve } = await import("./serve.js");
    await serve(context, options);
  },
});
