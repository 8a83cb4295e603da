import { customerAiOptions, defineCommand } from "../../core/command.js";

export default defineCommand({
  args: { customerId: "The customer's id" },
  options: customerAiOptions,
  examples: [
    ["svc ai debug-customer cus_42", "What is known about a customer, what is wrong, and a language model's diagnosis"],
    ["svc ai debug-customer cus_42 --show-context", "What would be sent: identifiers hashed, texts and dates withheld"],
    ["svc ai debug-customer cus_42 --allow plan_name", "The same, with the values of one trait"],
  ],
  async handler(context, { customerId, allow, ...values }) {
    const { customerFacts, readCustomer, sanitizerFor } = await import("./customer.js");
    const { printFacts } = await import("./tell.js");
    await printFacts(context, values, async () => {
      const record = await readCustomer(context, customerId);
      return customerFacts(record, sanitizerFor(context, record.snapshot, allow));
    });
  },
});
