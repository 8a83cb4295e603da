import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Runs a program as if under this version of Node.js. */
function runAs(version: string, program: string): Promise<{ stderr: string; failed: boolean }> {
  const pretend = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } })`;
  const args = ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`, `${ROOT}/bin/${program}`, "--help"];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, _, stderr) => resolve({ stderr, failed: error !== null }));
  });
}

it.each(["svc.js", "svc-server.js"])("%s says in one line that Node.js is too old", async (program) => {
  for (const version of ["20.9.0", "18.20.8"]) {
    const stderr = `error: Node.js 20.19 or newer is needed, and this is ${version}\n`;
    expect(await runAs(version, program)).toEqual({ stderr, failed: true });
  }
  for (const version of ["20.19.0", "22.1.0", "100.0.0"]) {
    const { stderr, failed } = await runAs(version, program);
    expect(stderr).not.toContain("is needed"); // a newer one may not know a flag of 20
    expect(failed).toBe(false);
  }
});
