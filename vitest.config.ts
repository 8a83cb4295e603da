import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Tests of pure code: they need no server, and none is started where only they run. */
const PURE = [
  "test/snapshot/**/*.test.ts",
  "test/engine/**/*.test.ts",
  "test/dsl/**/*.test.ts",
  "test/dsl-compiler/**/*.test.ts",
  "test/house/**/*.test.ts",
  "test/demo/**/*.test.ts",
  "test/local/**/*.test.ts",
];

export default defineConfig({
  resolve: { alias: [{ find: /^svc$/, replacement: fileURLToPath(new URL("src/dsl/index.ts", import.meta.url)) }] },
  test: {
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      { extends: true, test: { name: "pure", include: PURE } },
      {
        extends: true,
        test: {
          name: "database",
          include: ["test/**/*.test.ts"],
          exclude: PURE,
          globalSetup: ["test/support/global-setup.ts"],
        },
      },
    ],
  },
});
