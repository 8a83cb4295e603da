import type { Framework } from "./instrumentation.js";
import { aiOptions, defineCommand } from "../../core/command.js";

// The same as `FRAMEWORKS` in instrumentation.ts, repeated so that help texts need not load it.
const NODE = ["node", "express", "fastify", "koa", "nextjs"] as const satisfies readonly Framework[];
const PYTHON = ["python", "django", "flask", "fastapi"] as const satisfies readonly Framework[];

export default defineCommand({
  options: {
    framework: {
      type: "text",
      choices: [...NODE, ...PYTHON],
      describe: "The framework of the examples; unless given, detected from the directory's packages",
    },
    ...aiOptions,
  },
  examples: [
    ["svc ai generate-instrumentation-plan --framework express --output plan.md", "The plan as a file, with examples"],
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
});
