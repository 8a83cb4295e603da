import { aiOptions, defineCommand } from "../../core/command.js";

export default defineCommand({
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
});
