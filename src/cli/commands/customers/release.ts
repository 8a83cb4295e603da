import { defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { UsageError } from "../../core/errors.js";
import { formatNumber, printable, shellWord } from "../../../words/text.js";

export default defineCommand({
  options: {
    ...projectOptions,
    customer: { type: "text", describe: "The id of the customer to release" },
    all: { type: "flag", describe: "Release all that were set aside" },
    ...yesOption,
  },
  examples: [
    ["svc customers release --customer cus_42", "Evaluate one customer again, for example after a deploy"],
    ["svc customers release --all --yes", "Evaluate all of them again, without being asked"],
  ],
  async handler(context, { customer, all, yes }) {
    if ((customer === undefined) !== all) {
      const fix = "see `svc customers release --help`";
      throw new UsageError("give either --customer <id> or --all", fix);
    }
    const { api, out, settings } = context;
    const { environment } = settings;
    const path = ["customers", ...(customer === undefined ? [] : [customer]), "release"];
    const whom = customer === undefined ? "all customers that were set aside" : printable(customer);
    const answer = await confirmAndRun(context, {
      action: "releasing customers",
      yes,
      question: (place) => `Release ${whom} in ${place}, to be evaluated again?`,
      seen:
        customer === undefined
          ? `\`svc customers list --set-aside --env ${environment}\``
          : `\`svc customers inspect ${shellWord(customer)} --env ${environment}\``,
      request: (signal) => api.post<{ released: number }>(path, {}, ["released"], signal),
    });
    const { released } = answer.data;
    out.result(answer, () => {
      if (customer !== undefined) return released === 0 ? `${whom} was not set aside.` : `Released ${whom}.`;
      return released === 0 ? "No customer was set aside." : `Released ${formatNumber(released)} of them.`;
    });
  },
});
