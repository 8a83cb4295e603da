import { aiOptions, defineCommand, yesOption } from "../../core/command.js";

export default defineCommand({
  options: {
    product: {
      type: "text",
      describe: "What the product does, in a sentence; this and the following are asked for unless given",
    },
    startEvent: { type: "text", describe: "The event that begins a customer's life" },
    valueEvent: { type: "text", describe: "The event that shows value" },
    valueCount: { type: "integer", min: 1, max: 1_000, describe: "How many of those make a customer activated" },
    activationDays: { type: "integer", min: 1, max: 365, describe: "Within how many days" },
    usageEvent: { type: "text", describe: "The event of regular use" },
    atRiskDays: { type: "integer", min: 1, max: 365, describe: "Days without any event until a customer is at risk" },
    churnedDays: { type: "integer", min: 1, max: 365, describe: "Further days until it counts as lost" },
    ...aiOptions,
    ...yesOption,
  },
  examples: [
    [
      "svc ai model-success",
      "Ask eight questions, and show the model made from the answers and a language model's draft",
    ],
    [
      "svc ai model-success --value-event report_shared --yes --facts --output svc.config.ts",
      "The same without questions and without a language model, as a file",
    ],
  ],
  async handler(context, { yes, ...values }) {
    const { settleAnswers, successModel } = await import("./success-model.js");
    const { draftFacts } = await import("./draft.js");
    const { printFacts } = await import("./tell.js");
    await printFacts(context, values, async () => {
      const answers = await settleAnswers(context, values, { yes });
      return draftFacts(context, { answers: { ...answers }, baseline: successModel(answers) }, values.model);
    });
  },
});
