/** `npm run faults`: checks that nothing accepted is lost or duplicated. Exits with 0, 1 (something differs or failed) or 2 (usage). */
import { runProgram } from "../src/demo/failure.js";
import { readOptions } from "./options.js";
import { runFaults } from "./run.js";

await runProgram("faults", async (stop) => {
  const options = await readOptions(process.argv.slice(2), (text) => process.stdout.write(text));
  if (options !== null) await runFaults(options, { output: process.stdout, stop });
});
