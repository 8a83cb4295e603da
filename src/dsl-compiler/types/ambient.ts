/**
 * Declarations for what Node.js gives a model beside the language, where the author's folder has none of its own (`@types/node`).
 * Models seldom use it, so its types are left open: a model that logs, or reads a variable of its environment, is no mistake.
 */
import { builtinModules } from "node:module";

const GLOBALS = [
  "Buffer",
  "TextDecoder",
  "TextEncoder",
  "URL",
  "URLSearchParams",
  "clearInterval",
  "clearTimeout",
  "console",
  "crypto",
  "fetch",
  "performance",
  "process",
  "queueMicrotask",
  "setInterval",
  "setTimeout",
  "structuredClone",
];

/** The text of a declaration file. */
export const AMBIENT = [
  ...GLOBALS.map((name) => `declare var ${name}: any;`),
  ...builtinModules.map((name) => `declare module ${JSON.stringify(name)};`),
  `declare module "node:*";`,
  `declare module "*.txt" { const text: string; export default text; }`,
  `interface ImportMeta { url: string; filename: string; dirname: string; }`,
].join("\n");
