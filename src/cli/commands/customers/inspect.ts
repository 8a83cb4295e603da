import type { Backlog, CustomerState } from "../../client/answers.js";
import { defineCommand, projectOptions } from "../../core/command.js";
import { stateInWords } from "./customer-state.js";
import { explanationIfAny, explanationOf } from "./explained.js";
import { objectText } from "../../output/json-text.js";
import type { Out } from "../../output/out.js";
import { localTime, number, printable } from "../../output/text.js";

export default defineCommand({
  args: { customerId: "The customer's id" },
  options: {
    ...projectOptions,
    explain: {
      type: "flag",
      describe: "With --json, say why too, as {state, explanation}; otherwise that is always said",
    },
  },
  examples: [
    ["svc customers inspect cus_42", "Where the customer stands, since when, and why"],
    ["svc customers inspect cus_42 --json", "The state document, as the API gives it"],
  ],
  async handler(context, { customerId, explain }) {
    const { api, out } = context;
    const path = ["customers", customerId];
    const answer = await api.get<CustomerState>(path, ["customerId", "lifecycle", "segments", "traits"]);
    if (out.json) {
      const parts = explain
        ? ([
            ["state", answer.text],
            ["explanation", (await explanationOf(context, customerId)).text],
          ] as const)
        : null;
      out.result(parts === null ? answer : { text: objectText(parts) }, () => "");
      return;
    }
    const backlog = await api.get<Backlog>([...path, "backlog"], ["pending", "ahead", "setAside"]);
    const explanation = await explanationIfAny(context, customerId);
    const { whyInWords } = await import("./why.js");
    const why = explanation === null ? "" : whyInWords(out, explanation);
    out.print(
      [stateInWords(out, answer), ...waiting(out, customerId, backlog.data), ...(why === "" ? [] : [why])].join("\n\n"),
    );
  },
});

/** What the state does not hold yet; nothing where it is complete. */
function waiting(out: Out, customerId: string, { pending, ahead, setAside }: Backlog): string[] {
  const operations = (n: number) => `${number(n)} ${n === 1 ? "operation" : "operations"}`;
  if (setAside !== null) {
    return [
      `${out.style.red("Set aside")} since ${localTime(setAside.at, out.timeZone)}, ${operations(pending)} waiting:\n` +
        `  ${printable(setAside.error ?? "unknown")}\n` +
        `Once the cause is mended, release it: svc customers release --customer ${printable(customerId)}`,
    ];
  }
  if (pending === 0) return [];
  const later = ahead === 0 ? "" : `, ${number(ahead)} of them because their time has not come`;
  return [`${operations(pending)} waiting to be evaluated${later}.`];
}
