/** `npm run faults:recompute`: checks that a recompute, killed or not, results in the state of a fresh project. Exits with 0, 1 (something differs) or 2 (usage). */
import { runProgram } from "../../src/demo/failure.js";
import { readOptions } from "./options.js";
import { runRecomputes } from "./run.js";

await runProgram("faults:recompute", async (stop) => {
  const options = await readOptions(process.argv.slice(2), (text) => process.stdout.write(text));
  if (options !== null) await runRecomputes(options, { output: process.stdout, stop });
});
