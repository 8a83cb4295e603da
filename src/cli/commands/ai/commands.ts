import { aiOptions, customerAiOptions, defineCommand, yesOption } from "../../core/command.js";
import type { Framework } from "./instrumentation.js";

// The same as `FRAMEWORKS` in instrumentation.ts, repeated so that help texts need not load it.
const NODE = ["node", "express", "fastify", "koa", "nextjs"] as const satisfies readonly Framework[];
const PYTHON = ["python", "django", "flask", "fastapi"] as const satisfies readonly Framework[];

export default {
  "model-success": defineCommand({
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
  }),

  "suggest-events": defineCommand({
    options: aiOptions,
    examples: [
      ["svc ai suggest-events --env live", "What the local model reads, what live receives, and what to send next"],
      ["svc ai suggest-events --facts --output coverage.md", "The facts alone, as a file"],
    ],
    async handler(context, values) {
      const { compile } = await import("../../core/compile.js");
      const { coverageFacts, readArrivals } = await import("./coverage.js");
      const { Sanitizer, textsIn } = await import("./sanitizer.js");
      const { printFacts } = await import("./tell.js");
      await printFacts(context, values, async () => {
        const { snapshot, recordOnly } = await compile(context);
        const arrivals = await readArrivals(context, snapshot);
        // The facts contain no customer values, only names; text that does not look like a name is withheld.
        const sanitizer = new Sanitizer({ key: "", known: textsIn(snapshot), allowed: new Set() });
        return coverageFacts(snapshot, arrivals, sanitizer, recordOnly);
      });
    },
  }),

  "explain-config": defineCommand({
    options: aiOptions,
    examples: [
      ["svc ai explain-config", "What the local model does, part by part, and a language model's explanation"],
      ["svc ai explain-config --facts", "The facts alone; nothing is sent"],
    ],
    async handler(context, values) {
      // Imported here: help texts must not wait for these modules.
      const { compile } = await import("../../core/compile.js");
      const { modelFacts, modelInWords } = await import("./model-facts.js");
      const { printFacts } = await import("./tell.js");
      await printFacts(context, values, async () => {
        const { snapshot, warnings } = await compile(context);
        const document = { ...modelFacts(snapshot, warnings) };
        // A model contains no customer data: what its author wrote may be sent.
        return { task: "explain-config", document, text: (out) => modelInWords(out, document), sent: document };
      });
    },
  }),

  "debug-customer": defineCommand({
    args: { customerId: "The customer's id" },
    options: customerAiOptions,
    examples: [
      [
        "svc ai debug-customer cus_42",
        "What is known about a customer, what is wrong, and a language model's diagnosis",
      ],
      [
        "svc ai debug-customer cus_42 --show-context",
        "What would be sent: identifiers hashed, texts and dates withheld",
      ],
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
  }),

  "why-not-activated": defineCommand({
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
  }),

  "generate-instrumentation-plan": defineCommand({
    options: {
      framework: {
        type: "text",
        choices: [...NODE, ...PYTHON],
        describe: "The framework of the examples; unless given, detected from the directory's packages",
      },
      ...aiOptions,
    },
    examples: [
      [
        "svc ai generate-instrumentation-plan --framework express --output plan.md",
        "The plan as a file, with examples",
      ],
      ["svc ai generate-instrumentation-plan --facts", "The plan alone, for the detected framework; nothing is sent"],
    ],
    async handler(context, { framework: named, ...values }) {
      const { compile } = await import("../../core/compile.js");
      const { detectFramework, instrumentationPlan } = await import("./instrumentation.js");
      const { modelFacts } = await import("./model-facts.js");
      const { printableLines, printFacts } = await import("./tell.js");
      await printFacts(context, values, async () => {
        const { snapshot, warnings } = await compile(context);
        const framework = named ?? (await detectFramework(context.settings.directory));
        const plan = instrumentationPlan(snapshot, framework);
        return {
          task: "generate-instrumentation-plan",
          document: { framework, plan },
          text: () => printableLines(plan),
          markdown: plan,
          sent: { framework, plan, model: modelFacts(snapshot, warnings) },
        };
      });
    },
  }),
};
