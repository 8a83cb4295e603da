import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, test, vi, type TestContext } from "vitest";
import { useDirectory } from "../support/directory.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PROGRAM = path.join(ROOT, "dist/demo/main.js");
const HOUR_MS = 3_600_000;
const directory = await useDirectory();

/** Runs the program as users do, with its output piped. */
class Demo {
  output = "";
  errors = "";
  readonly child: ChildProcess;

  constructor(...args: string[]) {
    this.child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.output += text));
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.errors += text));
  }

  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    return vi.waitUntil(() => pattern.exec(this.output), { timeout: 120_000, interval: 20 });
  }

  async servicePid(): Promise<number> {
    return Number((await this.printed(/\(process (\d+)\)/))[1]);
  }

  async ended(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "exit");
    return this.child.exitCode;
  }

  /** The output without the rates, which differ from run to run. */
  get tables(): string {
    return this.output.slice(this.output.indexOf("What ran"), this.output.indexOf("Rates reached"));
  }
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Runs the program in a test, which stops it if it has not ended. */
function start(finished: TestContext["onTestFinished"], ...args: string[]): Demo {
  const demo = new Demo(...args);
  finished(async () => {
    demo.child.kill("SIGTERM");
    await demo.ended();
  });
  return demo;
}

// A run mostly waits for the end of the history, so the tests run concurrently.
describe.concurrent("npm run demo", { timeout: 240_000 }, () => {
  test("prints the same tables if the service is killed during ingestion; with --keep, stops the service on a signal", async ({
    expect,
    onTestFinished,
  }) => {
    const base = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS).toISOString();
    const history = ["--customers", "20", "--days", "30", "--base", base];
    const killed = start(onTestFinished, ...history);
    const undisturbed = start(onTestFinished, ...history, "--keep");
    await killed.printed(/sending \d+ %/);
    process.kill(await killed.servicePid(), "SIGKILL");
    expect(await killed.ended(), killed.errors).toBe(0);
    expect(killed.output).toContain("the service ended unexpectedly (SIGKILL) and was started again");

    await undisturbed.printed(/Ctrl\+C stops it/);
    expect(killed.tables).toBe(undisturbed.tables);
    expect(undisturbed.tables).toMatch(/customers +20\n/);
    for (const part of ["Where customers stand", "Who needs attention", "Webhook deliveries", "One customer's story"]) {
      expect(undisturbed.tables).toContain(part);
    }
    const servicePid = await undisturbed.servicePid();
    expect(isAlive(servicePid)).toBe(true);
    undisturbed.child.kill("SIGINT");
    expect(await undisturbed.ended(), undisturbed.errors).toBe(0);
    expect(isAlive(servicePid)).toBe(false);
  });

  test("if it is stopped halfway, stops its service and says so", async ({ expect, onTestFinished }) => {
    const demo = start(onTestFinished, "--customers", "100", "--days", "60");
    const servicePid = await demo.servicePid();
    demo.child.kill("SIGTERM");
    expect(await demo.ended(), demo.errors).toBe(143);
    expect(demo.output).toContain("stopped");
    expect(isAlive(servicePid)).toBe(false);
  });

  test("runs on a file of events and a model of one's own", async ({ expect, onTestFinished }) => {
    const data = path.join(directory, "orders.jsonl");
    const orders = Array.from({ length: 12 }, (_, n) => ({
      customerId: `customer-${n % 4}`,
      event: "order_placed",
      properties: { invoiceNo: String(n), lines: 1, units: 2, amount: 10.5, country: "France" },
      timestamp: new Date(Date.UTC(2011, n, 1)).toISOString(),
      idempotencyKey: `order-${n}`,
    }));
    await writeFile(data, orders.map((order) => JSON.stringify(order)).join("\n"));
    const demo = start(onTestFinished, "--data", data, "--model", path.resolve(ROOT, "examples/retail"));
    expect(await demo.ended(), demo.errors).toBe(0);
    expect(demo.tables).toMatch(/customers +4\n/);
    expect(demo.tables).toMatch(/events +12\b/);
  });

  test("says in one line what is wrong with its arguments or its input", async ({ expect, onTestFinished }) => {
    const demo = start(onTestFinished, "--data", "missing.jsonl", "--model", path.resolve(ROOT, "examples/cdnow"));
    expect(await demo.ended()).toBe(2);
    expect(demo.errors).toMatch(/^demo: cannot read missing\.jsonl: ENOENT[^\n]*\n$/);
  });
});
