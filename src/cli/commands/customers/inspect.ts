import { defineCommand } from "../../command.js";
import { stateInWords } from "../../customer-state.js";
import type { CustomerState } from "../../customer-state.js";
import { projectOptions } from "../../options.js";

export default defineCommand({
  path: "customers inspect",
  describe: "Show a customer's computed state",
  args: { customerId: "The customer's id" },
  options: projectOptions,
  examples: [
    ["svc customers inspect cus_42", "Where the customer stands, and since when"],
    ["svc customers inspect cus_42 --json", "The state document, as the API gives it"],
  ],
  async handler({ api, out, settings }, { customerId }) {
    const answer = await api.get<CustomerState>(
      api.projectPath("customers", customerId),
      ["customerId", "lifecycle", "segments", "traits"],
      { env: settings.environment },
    );
    out.result(answer, () => stateInWords(out, answer.data));
  },
});
