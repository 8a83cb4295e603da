import { existsSync } from "node:fs";

/** Where a built module is. In a checkout that was never built, says so and ends the program. */
export function built(module) {
  const url = new URL(`../dist/${module}`, import.meta.url);
  if (existsSync(url)) return url.href;
  process.stderr.write("error: this checkout is not built yet; run: npm run build:fast\n");
  process.exit(1);
}
