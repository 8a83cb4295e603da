/** `npm run demo`: runs the whole pipeline on one machine, and shows its results as a success team sees them. Exits 0, 1 (failed) or 2 (usage). */
import { readDemoOptions } from "./options.js";
import { runProgram } from "./failure.js";
import { runDemo } from "./run.js";

await runProgram("demo", async (stop) => {
  const options = await readDemoOptions(process.argv.slice(2), Date.now(), (text) => process.stdout.write(text));
  if (options !== null) await runDemo(options, { output: process.stdout, stop });
});
