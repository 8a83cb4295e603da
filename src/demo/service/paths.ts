import path from "node:path";
import { fileURLToPath } from "node:url";

/** The package's folder: this file lies three levels below it, in `src` as in `dist`. */
export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");
export const SERVER_PROGRAM = path.join(ROOT, "bin", "svc-server.js");
export const CLI_PROGRAM = path.join(ROOT, "bin", "svc.js");
export const EXAMPLE_MODEL = path.join(ROOT, "examples", "saas");
