import { defineCommand, projectOptions, yesOption } from "../../../core/command.js";
import { confirmation } from "../../../output/change.js";
import { plural } from "../../../../words/text.js";
import { allOption, quarantineSelection, filterOptions, stepByStep } from "./step.js";

export default defineCommand({
  args: { quarantineId: { describe: "The operation to release", optional: true } },
  options: { ...projectOptions, ...allOption, ...filterOptions, ...yesOption },
  examples: [
    ["svc events quarantine release --all --yes", "All that the active version accepts, for example after a deploy"],
    ["svc events quarantine release qop_0000000000000400", "One of them"],
  ],
  async handler(context, { quarantineId, all, event, code, yes }) {
    const { out, settings } = context;
    const { body, words } = quarantineSelection("release", { quarantineId, all, event, code });
    settings.credentials();
    const confirm = await confirmation(context, { action: "releasing operations", yes });
    await confirm(`Release ${words} in ${settings.place}, if the active version accepts it?`);
    const total = await stepByStep(context, "release", body, ["released", "kept", "expired"]);
    out.result({ document: total }, () =>
      [
        total.released === 0
          ? "Nothing was released."
          : `Released ${plural(total.released, "operation")}; they wait for evaluation.`,
        total.kept === 0
          ? ""
          : ` ${plural(total.kept, "operation still violates", "operations still violate")} the active version's schema and stay${total.kept === 1 ? "s" : ""} in quarantine.`,
        total.expired === 0
          ? ""
          : ` ${plural(total.expired, "operation is", "operations are")} too old and will be removed.`,
      ].join(""),
    );
  },
});
