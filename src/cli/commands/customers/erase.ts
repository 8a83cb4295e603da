import { defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { fields } from "../../output/table.js";
import { formatNumber, printable, shellWord, titleOf } from "../../../words/text.js";

/** Labels for counts whose names in the answer are unclear to people. */
const KINDS: Readonly<Record<string, string>> = {
  pending: "Not evaluated yet",
  blockedTransitions: "Transitions blocked",
  memberships: "Segment memberships",
};

export default defineCommand({
  args: { customerId: "The customer's id" },
  options: { ...projectOptions, ...yesOption },
  examples: [
    ["svc customers erase cus_42 --env live", "Erase a customer for good; asks for its id"],
    ["svc customers erase cus_42 --env live --yes", "The same without being asked"],
  ],
  async handler(context, { customerId, yes }) {
    const { api, out, settings } = context;
    const { environment } = settings;
    const [who, word] = [printable(customerId), shellWord(customerId)];
    const answer = await confirmAndRun(context, {
      action: "erasing a customer",
      yes,
      word: customerId,
      seen: `\`svc customers inspect ${word} --env ${environment}\``,
      question: (place) =>
        [
          `Erase the customer ${who} in ${place}?`,
          "Everything stored about it is deleted: events, traits, state, logs, and pending deliveries. This cannot be undone.",
          `To keep a copy, stop here: ${out.typed(`svc customers export ${word} --env ${environment} --output <file>`)}`,
        ].join("\n"),
      request: (signal) =>
        api.delete<{ erased: Record<string, number> }>(["customers", customerId], ["erased"], signal),
    });
    const counts = Object.entries(answer.data.erased).filter(([, count]) => count > 0);
    const facts = counts.map(
      ([kind, count]) => [KINDS[kind] ?? printable(titleOf(kind)), formatNumber(count)] as const,
    );
    const sentence = `Erased the customer ${who} in ${environment}. Later events with this id begin a new customer.`;
    out.result(answer, () => fields(out, facts, sentence));
  },
});
