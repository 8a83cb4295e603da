import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ARGUMENTS = ["--customers", "120", "--days", "60", "--base", "2026-11-20T00:00:00Z"];

interface Run {
  code: number;
  lines: string[];
}

/** Runs the demo to its end, handing each line that it prints to `onLine`. */
async function runDemo(onLine: (line: string) => void = () => undefined): Promise<Run> {
  const child = spawn(process.execPath, ["dist/demo/main.js", ...ARGUMENTS], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  createInterface(child.stdout).on("line", (line) => {
    lines.push(line);
    onLine(line);
  });
  const [code] = (await once(child, "close")) as [number];
  return { code, lines };
}

/** The tables but the last one, which has the rates of this run. */
function tables({ lines }: Run): string[] {
  return lines.slice(lines.indexOf("What ran"), lines.indexOf("Rates reached"));
}

describe("npm run demo", () => {
  it("prints the same tables where the service is killed in the middle of ingestion", { timeout: 240_000 }, async () => {
    const undisturbed = await runDemo();
    expect(undisturbed.code).toBe(0);
    expect(tables(undisturbed).join("\n")).toContain("Where customers stand");

    let service: number | undefined;
    let killed = false;
    const disturbed = await runDemo((line) => {
      service ??= Number(/\(process (\d+)\)/.exec(line)?.[1]) || undefined;
      if (killed || service === undefined || !line.startsWith("sending")) return;
      killed = true;
      process.kill(service, "SIGKILL");
    });
    expect(disturbed.code).toBe(0);
    expect(disturbed.lines).toContain(
      "the service ended unexpectedly (SIGKILL) and was started again; the senders continue",
    );
    expect(tables(disturbed)).toEqual(tables(undisturbed));
  });
});
