import { vi } from "vitest";
import { main } from "../../../src/server/main.js";

/** The output of a command of `svc-server`, and its exit code. */
export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `svc-server …` in this process, on a database, with further variables `env`. */
export async function runServer(
  databaseUrl: string | undefined,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const run: Run = { code: 0, stdout: "", stderr: "" };
  for (const [name, value] of Object.entries({ DATABASE_URL: databaseUrl, LOG_LEVEL: "error", ...env })) {
    vi.stubEnv(name, value);
  }
  const spies = (["stdout", "stderr"] as const).map((stream) =>
    vi.spyOn(process[stream], "write").mockImplementation((text) => {
      run[stream] += String(text);
      return true;
    }),
  );
  try {
    run.code = await main([...args]);
  } finally {
    for (const spy of spies) spy.mockRestore();
    vi.unstubAllEnvs();
  }
  return run;
}

/** The result of a failure that the operator can fix. */
export const refused = (line: string): Run => ({ code: 1, stdout: "", stderr: `svc-server: ${line}\n` });
