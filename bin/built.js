import { existsSync, readFileSync } from "node:fs";

requireNode();

/** The URL of a built module. In a checkout that was never built, prints an error and exits. */
export function built(module) {
  const url = new URL(`../dist/${module}`, import.meta.url);
  if (existsSync(url)) return url.href;
  end("this checkout is not built yet; run: npm run build");
}

/** On a Node.js older than package.json requires, modules fail to load with errors that do not mention the version. */
function requireNode() {
  const { engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const required = engines.node.replace(">=", "");
  const present = process.versions.node;
  // Compares numbers instead of using a numeric collation, which would add ten milliseconds to each start.
  const [needed, running] = [required, present].map((version) => version.split(".").map(Number));
  const isOlder = needed.map((part, index) => running[index] - part).find((difference) => difference !== 0) < 0;
  if (isOlder) end(`Node.js ${required} or newer is needed, and this is ${present}`);
}

function end(reason) {
  process.stderr.write(`error: ${reason}\n`);
  process.exit(1);
}
