import { existsSync, readFileSync } from "node:fs";

requireNode();

/** Where a built module is. In a checkout that was never built, says so and ends the program. */
export function built(module) {
  const url = new URL(`../dist/${module}`, import.meta.url);
  if (existsSync(url)) return url.href;
  end("this checkout is not built yet; run: npm run build:fast");
}

/** On an older Node.js than package.json asks for, modules fail to load with errors that say nothing of that. */
function requireNode() {
  const { engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const required = engines.node.replace(">=", "");
  const present = process.versions.node;
  // By number and not by a collation, which takes each start ten milliseconds to load.
  const [needed, running] = [required, present].map((version) => version.split(".").map(Number));
  const isOlder = needed.map((part, index) => running[index] - part).find((difference) => difference !== 0) < 0;
  if (isOlder) end(`Node.js ${required} or newer is needed, and this is ${present}`);
}

function end(reason) {
  process.stderr.write(`error: ${reason}\n`);
  process.exit(1);
}
