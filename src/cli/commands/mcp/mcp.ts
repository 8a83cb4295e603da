import { defineCommand, projectOptions, sharedOptions } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";

export default defineCommand({
  isForAssistants: true,
  options: {
    ...projectOptions,
    env: { ...sharedOptions.env, describe: "The environment: test unless given; live has to be named" },
    allowChanges: {
      type: "flag",
      describe: "Offer changes too: releasing customers, sending again, deploying to test",
    },
    allowIds: { type: "flag", describe: "Customers' ids may go to the assistant; otherwise it gets pseudonyms" },
    allow: {
      type: "list",
      describe: "A trait or property whose texts and dates may go there too; may be given several times",
    },
  },
  examples: [
    ["svc mcp --directory /projects/shop", "What an assistant is set up to start: it may read test"],
    ["svc mcp --env live --allow-ids", "The same of live, with the ids of customers"],
  ],
  async handler(context, { env, ...options }) {
    const { environment } = context.settings;
    if (env === undefined && environment !== "test") {
      const message = `the project's default environment is ${environment}, and an assistant gets that only if it is named`;
      throw new UsageError(message, `add --env ${environment}, or --env test`);
    }
    // Not above: it brings the protocol along, for which no other command may wait.
    const { serve } = await import("./serve.js");
    await serve(context, options);
  },
});
