import type { Backlog, CustomerState } from "../../../http/admin/answers.js";
import { defineCommand, projectOptions, travelOptions } from "../../core/command.js";
import { objectFromTexts } from "../../../words/json-text.js";
import type { Out } from "../../output/out.js";
import { formatNumber, paragraphs, plural, printable, shellWord } from "../../../words/text.js";
import { explanationIfAny, explanationOf, stateInWords, travelInWords, whyInWords } from "./explanation.js";

export default defineCommand({
  args: { customerId: "The customer's id" },
  options: {
    ...projectOptions,
    ...travelOptions,
    explain: {
      type: "flag",
      describe: "With --json, include the explanation, as {state, explanation}; without --json it is always shown",
    },
  },
  examples: [
    ["svc customers inspect cus_42", "The customer's state, since when, and why"],
    ["svc customers inspect cus_42 --at 2026-03-01", "Its state then, under today's model"],
    ["svc customers inspect cus_42 --json", "The state document, as the API returns it"],
  ],
  async handler(context, { customerId, explain, at, version }) {
    const { api, out } = context;
    const path = ["customers", customerId];
    const travel = { at, version };
    const answer = await api.get<CustomerState>(path, ["customerId", "lifecycle", "segments", "traits"], travel);
    if (out.json) {
      const why = explain ? { explanation: (await explanationOf(context, customerId, travel)).text } : null;
      out.result(why ? { text: objectFromTexts(Object.entries({ state: answer.text, ...why })) } : answer, () => "");
      return;
    }
    const isPresent = at === undefined && version === undefined;
    const backlog = isPresent
      ? (await api.get<Backlog>([...path, "backlog"], ["pending", "ahead", "setAside"])).data
      : null;
    const explanation = await explanationIfAny(context, customerId, travel);
    const then = answer.data.at === undefined ? out : out.asOf(answer.data.at);
    const why = explanation === null ? "" : whyInWords(then, explanation);
    out.print(
      paragraphs([
        travelInWords(out, answer.data),
        stateInWords(then, answer),
        backlog === null ? "" : waiting(out, customerId, backlog),
        why,
      ]),
    );
  },
});

/** The operations that the state does not include yet; empty if it is complete. */
function waiting(out: Out, customerId: string, { pending, ahead, setAside }: Backlog): string {
  const operations = plural(pending, "operation");
  if (setAside !== null) {
    return [
      `${out.style.red("Set aside")} since ${out.at(setAside.at)}, ${operations} waiting:`,
      `  ${printable(setAside.error ?? "unknown")}`,
      `Once the cause is fixed, release it: ${out.typed(`svc customers release --customer ${shellWord(customerId)}`)}`,
    ].join("\n");
  }
  if (pending === 0) return "";
  const later = ahead === 0 ? "" : `, ${formatNumber(ahead)} of them dated in the future`;
  return `${operations} waiting to be evaluated${later}.`;
}
