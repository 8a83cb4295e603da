import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

const ROOT = path.resolve(import.meta.dirname, "../../..");

/** A tsconfig.json for code of callers that finds the client of this repository, with additional compiler options. */
export const tsconfig = ({ paths, ...options }: { paths?: Record<string, string[]> } & Record<string, unknown> = {}) =>
  JSON.stringify({
    compilerOptions: {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      module: "nodenext",
      target: "es2023",
      types: ["node"],
      paths: { "svc-success-client": [path.join(ROOT, "src/client/index.ts")], ...paths },
      typeRoots: [path.join(ROOT, "node_modules/@types")],
      ...options,
    },
  });

/** The output of the type checker for a directory with a tsconfig.json. */
export async function typeMistakes(directory: string): Promise<string> {
  const tsc = path.join(ROOT, "node_modules/typescript-7/bin/tsc");
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, "--project", directory]).catch(
    (error: unknown) => error as { stdout: string },
  );
  return stdout;
}
