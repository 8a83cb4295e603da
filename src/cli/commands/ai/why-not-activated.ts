import { defineCommand } from "../../core/command.js";
import { customerAiOptions } from "../../core/options.js";

export default defineCommand({
  args: { customerId: "The customer's id" },
  options: {
    ...customerAiOptions,
    state: { type: "text", describe: "The lifecycle state in question; activated unless given" },
  },
  examples: [
    ["svc ai why-not-activated cus_42", "What the customer still lacks, and a language model's advice"],
    ["svc ai why-not-activated cus_42 --state engaged --no-ai", "The same of another state; nothing is sent"],
  ],
  async handler(context, { customerId, allow, state, ...values }) {
    const { readCustomer, sanitizerFor } = await import("./customer.js");
    const { activationFacts, targetState } = await import("./activation.js");
    const { refuseOutput } = await import("./conclude.js");
    const { tell } = await import("./tell.js");
    await refuseOutput(context, values.output);
    const record = await readCustomer(context, customerId);
    const target = targetState(context, record.snapshot, state);
    await tell(context, values, activationFacts(record, target, sanitizerFor(context, record.snapshot, allow)));
  },
});
