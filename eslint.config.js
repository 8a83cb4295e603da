import js from "@eslint/js";
import { defineConfig, globalIgnores } from "eslint/config";
import prettier from "eslint-config-prettier";
import globals from "globals";
import typescript from "typescript-eslint";

const programs = ["src", "test", "bench", "faults", "attacks", "fuzz", "examples"]
  .map((folder) => `${folder}/**/*.{ts,tsx}`)
  .concat("*.config.ts");

export default defineConfig(
  globalIgnores(["dist", "coverage", ".svc-data", "bench/results"]),
  { linterOptions: { reportUnusedDisableDirectives: "error" } },

  js.configs.recommended,
  { languageOptions: { globals: globals.node } },

  {
    files: programs,
    extends: [typescript.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      // A number in a message reads as what it is; only objects, null and undefined surprise.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // `() => socket.destroy()` is clear, and braces would make it three lines.
      "@typescript-eslint/no-confusing-void-expression": [
        "error",
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // Lengths are counted in code points, which is what spreading a string gives.
      "@typescript-eslint/no-misused-spread": ["error", { allow: ["string"] }],
      // State is plain JSON: a record loses a member by name.
      "@typescript-eslint/no-dynamic-delete": "off",
      // A loop that leaves by `return` or `break` is written `while (true)`.
      "@typescript-eslint/no-unnecessary-condition": [
        "error",
        { allowConstantLoopConditions: "only-allowed-literals" },
      ],
      // `async` also promises that a failure is a rejection; an interface may ask for it where nothing is awaited.
      "@typescript-eslint/require-await": "off",
      // Where the compiler asks to check an index (noUncheckedIndexedAccess), a loop that just checked the bound may say so.
      "@typescript-eslint/no-non-null-assertion": "off",
      // A parameter that an interface demands, or a member left out on purpose, is named with an underscore.
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true },
      ],
    },
  },

  {
    files: ["src/**/*.{ts,tsx}"],
    rules: {
      // Output has one place in each program; anything else would break `--json`, and logs.
      "no-console": "error",
      // A function fits a screen, a file has one subject.
      "max-lines-per-function": ["error", { max: 80, skipBlankLines: true, skipComments: true }],
      "max-lines": ["error", { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },

  {
    // What a test reads from an answer or a row is what it is about to check, and a label may show any value.
    files: ["test/**/*.ts", "bench/**/*.ts"],
    rules: {
      "@typescript-eslint/no-base-to-string": "off",
      "@typescript-eslint/restrict-template-expressions": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
    },
  },

  { rules: { eqeqeq: "error", "no-else-return": "error", "object-shorthand": "error", "prefer-const": "error" } },
  { files: ["**/*.cjs"], languageOptions: { sourceType: "commonjs" } },
  prettier,
);
