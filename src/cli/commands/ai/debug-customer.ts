import { defineCommand } from "../../core/command.js";
import { customerAiOptions } from "../../core/options.js";

export default defineCommand({
  args: { customerId: "The customer's id" },
  options: customerAiOptions,
  examples: [
    [
      "svc ai debug-customer cus_42",
      "What is known of a customer, what is wrong, and a language model's reading of it",
    ],
    ["svc ai debug-customer cus_42 --show-context", "What would be sent: identifiers hashed, texts and dates withheld"],
    ["svc ai debug-customer cus_42 --allow plan_name", "The same, with the values of one trait"],
  ],
  async handler(context, { customerId, allow, ...values }) {
    const { readCustomer, sanitizerFor } = await import("./customer.js");
    const { customerFacts } = await import("./customer-facts.js");
    const { refuseOutput } = await import("./conclude.js");
    const { tell } = await import("./tell.js");
    await refuseOutput(context, values.output);
    const record = await readCustomer(context, customerId);
    await tell(context, values, customerFacts(record, sanitizerFor(context, record.snapshot, allow)));
  },
});
