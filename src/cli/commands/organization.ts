import type { ChangedOrganization } from "../../http/admin/answers.js";
import { defineCommand, yesOption } from "../core/command.js";
import { confirmAndRun } from "../output/change.js";
import { printable } from "../../words/text.js";

export default defineCommand({
  options: {
    timeZone: {
      type: "text",
      required: true,
      describe: "The time zone of days in figures by day: a name such as Europe/Berlin",
    },
    ...yesOption,
  },
  examples: [["svc organization update --time-zone Europe/Berlin", "Count trends by the days of Berlin"]],
  async handler(context, { timeZone, yes }) {
    const { api, out } = context;
    const answer = await confirmAndRun(context, {
      action: "changing the organization",
      yes,
      of: "organization",
      seen: "`svc audit`",
      question: (place) => `Count the figures of ${place} by the days of ${printable(timeZone)}?`,
      request: (signal) => api.patch<ChangedOrganization>("/organization", { timeZone }, ["slug", "timeZone"], signal),
    });
    const { slug, timeZone: now } = answer.data;
    out.result(
      answer,
      () =>
        `The days of ${printable(slug)} are now those of ${now}.\n` +
        "Derived figures are recounted for them within minutes; figures of accepted operations and deliveries keep their days.",
    );
  },
});
