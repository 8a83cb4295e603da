import { customerAiOptions, defineCommand } from "../../core/command.js";

export default defineCommand({
  args: { customerId: "The customer's id" },
  options: {
    ...customerAiOptions,
    state: { type: "text", describe: "The lifecycle state in question; activated unless given" },
  },
  examples: [
    ["svc ai why-not-activated cus_42", "What the customer still lacks, and a language model's advice"],
    ["svc ai why-not-activated cus_42 --state engaged --facts", "The same of another state; nothing is sent"],
  ],
  async handler(context, { customerId, allow, state, ...values }) {
    const { readCustomer, sanitizerFor } = await import("./customer.js");
    const { activationFacts, targetState } = await import("./activation.js");
    const { printFacts } = await import("./tell.js");
    await printFacts(context, values, async () => {
      const record = await readCustomer(context, customerId);
      const target = targetState(context, record.snapshot, state);
      return activationFacts(record, target, sanitizerFor(context, record.snapshot, allow));
    });
  },
});
