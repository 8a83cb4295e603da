import type { RecomputeOrPreview } from "../../../http/admin/answers.js";
import { defineCommand, noWaitOption, projectOptions, yesOption } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import { sendChange } from "../../output/change.js";

export default defineCommand({
  options: {
    customer: { type: "text", describe: "Recompute only the customer with this id" },
    all: { type: "flag", describe: "Recompute all customers" },
    from: { type: "text", describe: "Do exactly what a dry run showed, given its id" },
    dryRun: { type: "flag", describe: "Show what would change, and write nothing" },
    ...noWaitOption,
    ...yesOption,
    ...projectOptions,
  },
  examples: [
    ["svc recompute --all --dry-run", "What the active model would change, with the customers that change most"],
    ["svc recompute --from rec_0123456789abcdef0123", "Do exactly what that dry run showed"],
    ["svc recompute --customer cus_42 --yes", "One customer, without being asked"],
    ["svc recompute --all --dry-run --json", "Every customer that would change, before and after"],
  ],
  async handler(context, { customer, all, from, dryRun, noWait, yes }) {
    const given = [customer !== undefined && "--customer", all && "--all", from !== undefined && "--from"];
    const scopes = given.filter((name) => name !== false);
    if (scopes.length !== 1) {
      const wrong =
        scopes.length === 0 ? "nothing to recompute is given" : `${scopes.join(" and ")} exclude each other`;
      throw new UsageError(wrong, "give one of --customer <id>, --all and --from <dry run>");
    }
    const { api, settings } = context;
    const { environment } = settings;
    settings.credentials();
    const { JOB_MEMBERS } = await import("./jobs.js");
    const { confirm, confirmFrom } = await import("./question.js");
    if (from !== undefined) {
      const { data } = await api.get<RecomputeOrPreview>(["recomputes", from], JOB_MEMBERS);
      await confirmFrom(context, data, { again: dryRun, yes });
    } else if (!dryRun) await confirm(context, customer ?? null, { yes });

    const body = { from, customerId: customer, all: all || undefined, dryRun: dryRun || undefined };
    const answer = await sendChange(`\`svc recompute list --env ${environment}\``, (signal) =>
      api.post<RecomputeOrPreview>(["recomputes"], body, JOB_MEMBERS, signal),
    );
    // Imported here: help texts must not wait for the modules that draw bars and tables.
    const { printQueued, printResult } = await import("./result.js");
    if (noWait) printQueued(context, answer);
    else await printResult(context, answer.data);
  },
});
