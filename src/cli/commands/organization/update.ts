import type { ChangedOrganization } from "../../../http/admin/answers.js";
import { defineCommand, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { printable } from "../../../words/text.js";

export default defineCommand({
  options: {
    timeZone: {
      type: "text",
      required: true,
      describe: "In which days begin and end, where figures are told by day: a name such as Europe/Berlin",
    },
    ...yesOption,
  },
  examples: [["svc organization update --time-zone Europe/Berlin", "Tell trends by the days of Berlin"]],
  async handler(context, { timeZone, yes }) {
    const { api, out } = context;
    const answer = await confirmAndRun(context, {
      action: "changing the organization",
      yes,
      of: "organization",
      seen: "`svc audit`",
      question: (place) => `Tell the figures of ${place} by the days of ${printable(timeZone)}?`,
      request: (signal) => api.patch<ChangedOrganization>("/organization", { timeZone }, ["slug", "timeZone"], signal),
    });
    const { slug, timeZone: now } = answer.data;
    out.result(
      answer,
      () =>
        `The days of ${printable(slug)} are those of ${now}.\n` +
        "What was derived is counted anew for them, within minutes; what was accepted and delivered stays in its days.",
    );
  },
});
