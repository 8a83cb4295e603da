import { defineCommand, projectOptions, yesOption } from "../../../core/command.js";
import { confirmation } from "../../../output/change.js";
import { plural } from "../../../../words/text.js";
import { allOption, quarantineSelection, filterOptions, stepByStep } from "./step.js";

export default defineCommand({
  args: { quarantineId: { describe: "The operation to discard", optional: true } },
  options: { ...projectOptions, ...allOption, ...filterOptions, ...yesOption },
  examples: [
    ["svc events quarantine discard --all --event debug_ping", "Operations that were never meant to be events"],
    ["svc events quarantine discard qop_0000000000000400 --yes", "One of them, without being asked"],
  ],
  async handler(context, { quarantineId, all, event, code, yes }) {
    const { out, settings } = context;
    const { body, words } = quarantineSelection("discard", { quarantineId, all, event, code });
    settings.credentials();
    const confirm = await confirmation(context, { action: "discarding operations", yes });
    await confirm(`Discard ${words} in ${settings.place}, for good? Their idempotency keys may be used again.`);
    const total = await stepByStep(context, "discard", body, ["discarded"]);
    out.result({ document: total }, () =>
      total.discarded === 0 ? "Nothing was discarded." : `Discarded ${plural(total.discarded, "operation")}.`,
    );
  },
});
