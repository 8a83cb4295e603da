/** `npm run fuzz`: sends a service what nobody should send. Exits 0, 1 (something was answered or kept as it must not be) or 2 (usage). */
import { runProgram } from "../src/demo/failure.js";
import { readOptions } from "./options.js";
import { runFuzz } from "./run.js";

await runProgram("fuzz", async (stop) => {
  const options = await readOptions(process.argv.slice(2), (text) => process.stdout.write(text));
  if (options !== null) await runFuzz(options, { output: process.stdout, stop });
});
