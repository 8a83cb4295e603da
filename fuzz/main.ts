/** `npm run fuzz`: sends a service unexpected and broken requests. Exits with 0, 1 (something was answered or stored wrongly) or 2 (usage). */
import { runProgram } from "../src/demo/failure.js";
import { readOptions } from "./options.js";
import { runFuzz } from "./run.js";

await runProgram("fuzz", async (stop) => {
  const options = await readOptions(process.argv.slice(2), (text) => process.stdout.write(text));
  if (options !== null) await runFuzz(options, { output: process.stdout, stop });
});
