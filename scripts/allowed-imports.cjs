const { readFileSync } = require("node:fs");
const path = require("node:path");

const ROW = /^\| `src\/([\w-]+)` +\|.*\|([^|]*)\|$/gm;

/** Which parts of src each part may import, read from the table in docs/architecture.md; dependency-cruiser checks imports against it. */
exports.readAllowedImports = () => {
  const page = readFileSync(path.join(__dirname, "../docs/architecture.md"), "utf8");
  const rows = [...page.matchAll(ROW)].map(([, part, others]) => [
    part,
    [...others.matchAll(/`([\w-]+)`/g)].map(([, other]) => other),
  ]);
  return Object.fromEntries(rows);
};
