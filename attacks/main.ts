/** `npm run attacks`: attacks a service from one organization and observes the effect on another one. Exits with 0, 1 (something did not hold) or 2 (usage). */
import { runProgram } from "../src/demo/failure.js";
import { readOptions } from "./options.js";
import { runAttacks } from "./run.js";

await runProgram("attacks", async (stop) => {
  const options = await readOptions(process.argv.slice(2), (text) => process.stdout.write(text));
  if (options !== null) await runAttacks(options, { output: process.stdout, stop });
});
