import { aiOptions, defineCommand } from "../../core/command.js";

export default defineCommand({
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
});
