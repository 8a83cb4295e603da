import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { project } from "../dsl-compiler/project.js";
import { brokenServer } from "./support/broken-server.js";
import { type Shop, startShop } from "./support/shop.js";

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.stop());

const plain = { terminal: true, env: { NO_COLOR: "1" } };
const inShop = ["--project", "shop"];
/** The beginning of an export. */
const BEGUN = '{"customerId" : "globex", "events":[';

describe("svc customers export", () => {
  test("writes everything to a file that only its owner reads", async () => {
    const cwd = await project({ "README.md": "" });
    const argv = ["customers", "export", "globex", "--output", "globex.json", ...inShop];
    const { code, stdout, stderr } = await shop.run(argv, { cwd });
    expect({ code, stdout: stdout.replace(/\d+ kB/, "<n> kB"), stderr }).toMatchInlineSnapshot(`
      Wrote what is held about globex in test to globex.json (<n> kB).
    `);
    const file = path.join(cwd, "globex.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const document = JSON.parse(await readFile(file, "utf8")) as { customerId: string; events: unknown[] };
    expect([document.customerId, document.events.length]).toEqual(["globex", 8]);
    expect(await readdir(cwd)).toEqual(["README.md", "globex.json"]);
  });

  test("to standard output it is the one document, with --json and without", async () => {
    const { code, stdout, stderr } = await shop.run(["customers", "export", "globex"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.endsWith("}\n") && !stdout.endsWith("\n\n")).toBe(true);
    expect(JSON.parse(stdout)).toMatchObject({ customerId: "globex", customer: { lifecycle: "activated" } });
    const again = await shop.run(["customers", "export", "globex", "--json"]);
    expect(again).toEqual({ code, stdout, stderr });
  });

  test("a file that is there is not overwritten, and nothing is asked of the service", async () => {
    const cwd = await project({ "globex.json": "mine" });
    const argv = ["customers", "export", "globex", "--output", "globex.json", ...inShop];
    const { code, stderr } = await shop.run(argv, { cwd, env: { SVC_API_URL: "http://127.0.0.1:1" } });
    expect({ code, stderr: stderr.replace(cwd, "<directory>") }).toMatchInlineSnapshot(`
      {
        "code": 1,
        "stderr": "error [FILE_EXISTS]: <directory>/globex.json is there already. Name another file, or remove it.
      ",
      }
    `);
    expect(await readFile(path.join(cwd, "globex.json"), "utf8")).toBe("mine");
  });

  test("an export that breaks off leaves no file, and says so where half a document stands", async () => {
    const cwd = await project({ "README.md": "" });
    const { url } = await brokenServer({ read: () => ({ status: 200, body: BEGUN, cut: true }) });
    const argv = ["customers", "export", "globex", ...inShop];
    const toFile = await shop.run([...argv, "--output", "globex.json"], { cwd, env: { SVC_API_URL: url } });
    expect(await readdir(cwd)).toEqual(["README.md"]);
    const toOutput = await shop.run([...argv, "--json"], { env: { SVC_API_URL: url } });
    expect(toOutput.stderr).toBe(toFile.stderr);
    expect({ ...toOutput, stderr: toOutput.stderr.replace(url, "<other>") }).toMatchInlineSnapshot(`
      exit 1
      ! error [SERVICE_UNREACHABLE]: <other> broke the export off before its end. Try again.
      {"customerId" : "globex", "events":[ (no line end)
    `);
  });

  test.each(['{"x":1}', '{"customerId":"initech"}', "[]"])(
    "what is no export of that customer is not kept: %s",
    async (body) => {
      const cwd = await project({ "README.md": "" });
      const { url } = await brokenServer({ read: () => ({ status: 200, body }) });
      const argv = ["customers", "export", "globex", ...inShop];
      const toFile = await shop.run([...argv, "--output", "globex.json"], { cwd, env: { SVC_API_URL: url } });
      expect(toFile).toMatchObject({ code: 1, stdout: "" });
      expect(toFile.stderr.replaceAll(url, "<other>")).toMatch(
        /^error \[UNEXPECTED_ANSWER\]: <other> answered 200 with something else than an export of that customer/,
      );
      expect(await readdir(cwd)).toEqual(["README.md"]);
      expect(await shop.run(argv, { env: { SVC_API_URL: url } })).toMatchObject({ code: 1, stdout: "" });
    },
  );

  test("Ctrl+C leaves no file", async () => {
    const cwd = await project({ "README.md": "" });
    const { url } = await brokenServer({
      read: () => ({ status: 200, body: BEGUN, held: () => process.kill(process.pid, "SIGINT") }),
    });
    const argv = ["customers", "export", "globex", ...inShop, "--output", "globex.json"];
    expect(await shop.run(argv, { cwd, env: { SVC_API_URL: url } })).toMatchInlineSnapshot(`
      exit 1
      ! error [CANCELLED]: Cancelled, nothing was changed.
    `);
    expect(await readdir(cwd)).toEqual(["README.md"]);
  });

  test("a place that cannot be written to, and a customer that is not there", async () => {
    const cwd = await project({ "README.md": "" });
    const argv = ["customers", "export", "globex", ...inShop, "--output", path.join("README.md", "globex.json")];
    const { code, stderr } = await shop.run(argv, { cwd });
    expect({ code, stderr: stderr.replace(cwd, "<directory>") }).toMatchInlineSnapshot(`
      {
        "code": 1,
        "stderr": "error [FILE_NOT_WRITTEN]: <directory>/README.md/globex.json could not be written (ENOTDIR); nothing was left there. Make room, or name a place that you may write to.
      ",
      }
    `);
    await mkdir(path.join(cwd, "out"));
    const nobody = ["customers", "export", "nobody", ...inShop, "--output", path.join("out", "nobody.json")];
    expect((await shop.run(nobody, { cwd })).stderr).toContain("error [CUSTOMER_NOT_FOUND]");
    expect(await readdir(path.join(cwd, "out"))).toEqual([]);
  });
});

describe("svc customers erase", () => {
  test("the id typed, it is erased and what went is counted", async () => {
    const { code, stdout } = await shop.run(["customers", "erase", "initech"], { ...plain, input: "initech\n" });
    expect({ code, stdout }).toMatchInlineSnapshot(`
      Erased the customer initech in test. Later events of the id begin a new customer.

      Events             4
      Identifies         1
      Idempotency keys   4
      Transitions        2
      Journey runs       1
      Health scores      2
      Rule executions    2
      Signals            1
      Emissions          6
      Deliveries         6
      Delivery attempts  6
    `);
    expect((await shop.run(["customers", "inspect", "initech"])).stderr).toContain("[CUSTOMER_NOT_FOUND]");
  });

  test("piped, and with --yes, as JSON", async () => {
    expect((await shop.run(["customers", "erase", "globex"], { input: "globex\n" })).code).toBe(0);
    const { stdout } = await shop.run(["customers", "erase", "hooli", "--yes", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ erased: { events: 1, identifies: 0, transitions: 2, deliveries: 4 } });
  });

  test("an id of two words is quoted where it is to be piped, and where to look", async () => {
    expect((await shop.run(["customers", "erase", "new customer"], { input: "new\n" })).stderr).toContain(
      "Pipe it: echo 'new customer' | svc …, or add --yes.",
    );
    const { url } = await brokenServer({ interrupted: () => process.kill(process.pid, "SIGINT") });
    expect(
      (await shop.run(["customers", "erase", "new customer", "--yes"], { env: { SVC_API_URL: url } })).stderr,
    ).toBe(
      "error [OUTCOME_UNKNOWN]: Stopped before the service answered; it is not known whether this was carried out. " +
        "See for yourself: svc customers inspect 'new customer' --env test.\n",
    );
  });
});
