const { options } = require("./.dependency-cruiser.cjs");

// What is loaded when a program runs, its types left out: what a part needs of others goes through any number of modules.

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "local-without-database",
      comment:
        "the local engine and the command line start at once, because nothing of theirs loads a database's driver",
      severity: "error",
      from: { path: "^src/(local|dsl|dsl-compiler|engine|model)/" },
      // What the codes of errors mean is known without a driver.
      to: { path: "^src/db/", pathNot: "^src/db/sqlstate\\.ts$", reachable: true },
    },
  ],
  options: { ...options, tsPreCompilationDeps: false },
};
