// Checks the SQL files: they parse, also inside function bodies, and follow the rules of form and content.
// Usage: node scripts/check-sql.js [directory that contains sql/ and migrations/]. Prints `file:line: message` for each finding and
// exits with 1 if there are any. What only a server can check (types, names that do not exist) is left to the tests.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { checkSql } from "./lib/sql/check.js";

const root = path.resolve(process.argv[2] ?? path.join(path.dirname(fileURLToPath(import.meta.url)), ".."));

const { files, problems } = await checkSql(root);
for (const { file, line, message } of problems) console.log(`${file}:${line}: ${message}`);
console.log(`${files} SQL files checked, ${problems.length} ${problems.length === 1 ? "problem" : "problems"}`);
if (problems.length > 0) process.exitCode = 1;
