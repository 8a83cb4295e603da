import { createServer, type ServerResponse } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";

import { brokenServer } from "./support/broken-server.js";
import { type Canned, cannedServer, json, served } from "./support/canned-server.js";
import { steady, svc } from "./support/run-svc.js";

const PAGE_MAX = 200;

/** Lists customers of a service that gives these pages (JSON texts) in turn; records the requested limits and cursors. */
async function listed(pages: readonly (string | Canned)[], ...argv: string[]) {
  const requests: { limit: number; cursor: string | null }[] = [];
  const queries: Record<string, string>[] = [];
  const { url } = await cannedServer((request) => {
    const query = new URL(request.url, "http://x").searchParams;
    queries.push(Object.fromEntries(query));
    requests.push({ limit: Number(query.get("limit")), cursor: query.get("cursor") });
    const page = pages[requests.length - 1] ?? json({}, 500);
    return typeof page === "string" ? { status: 200, body: page } : page;
  });
  return { requests, queries, ...(await svc(["customers", "list", "--project", "shop", ...argv], { at: url })) };
}

const customer = (id: string, more = "") =>
  `{"customerId" : "${id}","lifecycle":null,"lifecycleEnteredAt":null,"segments":[],"health":null,"lastEventAt":null,"setAside":null${more}}`;

const page = (next: string | null, ...customers: string[]) =>
  `{"data":[${customers.join(",")}],"nextCursor":${JSON.stringify(next)}}`;

test("follows short and empty pages until the limit is reached", async () => {
  const pages = [page("a"), page("b", customer("one")), page("c", customer("two"), customer("three"))];
  const { requests, stdout, stderr } = await listed(pages, "--limit", "3");
  expect(requests).toEqual([
    { limit: 3, cursor: null },
    { limit: 3, cursor: "a" },
    { limit: 2, cursor: "b" },
  ]);
  expect(stdout).toMatchInlineSnapshot(`
    "Customer  Lifecycle  Since  Health  Segments  Last event
    one
    two
    three
    "
  `);
  expect(stderr).toBe("There are more: add --cursor c\n");
});

test("reads a large limit page by page", async () => {
  const full = (from: number) => Array.from({ length: PAGE_MAX }, (_, n) => customer(`c${from + n}`));
  const pages = [page("a", ...full(0)), page("b", ...full(200)), page(null)];
  const { requests, stdout } = await listed(pages, "--limit", "450", "--json");
  expect(requests.map(({ limit }) => limit)).toEqual([200, 200, 50]);
  expect((JSON.parse(stdout) as { data: object[] }).data).toHaveLength(400);
});

test("with --json joins the pages into one document, in which numbers keep all their digits", async () => {
  const { stdout, stderr } = await listed(
    [
      `{"nextCursor" : "a", "data" : [ ${customer("one", ',"n":12345678901234567890.10')} ]}`,
      `{"data":[${customer('t\\"]w}o', ',"s":"\\\\"')},${customer("three", ',"a":[[],{}]')}],"nextCursor":null}`,
    ],
    "--json",
  );
  expect(stdout).toMatchInlineSnapshot(`
    "{"nextCursor":null,"data":[{"customerId" : "one","lifecycle":null,"lifecycleEnteredAt":null,"segments":[],"health":null,"lastEventAt":null,"setAside":null,"n":12345678901234567890.10},{"customerId" : "t\\"]w}o","lifecycle":null,"lifecycleEnteredAt":null,"segments":[],"health":null,"lastEventAt":null,"setAside":null,"s":"\\\\"},{"customerId" : "three","lifecycle":null,"lifecycleEnteredAt":null,"segments":[],"health":null,"lastEventAt":null,"setAside":null,"a":[[],{}]}]}
    "
  `);
  expect(() => JSON.parse(stdout) as unknown).not.toThrow();
  expect(stderr).toBe("");
});

test("prints a single page as received", async () => {
  const text = `{"data" : [],\n "nextCursor" : null}`;
  expect((await listed([text], "--json")).stdout).toBe(`${text}\n`);
});

test("retries a later page that fails for a moment, but not the first", async () => {
  const busy = json({ error: { code: "SERVICE_UNAVAILABLE", message: "The service has too much to do." } }, 503);
  const second = await listed([page("a", customer("one")), busy, page(null, customer("two"))]);
  expect({ code: second.code, lines: second.stdout.split("\n").length }).toEqual({ code: 0, lines: 4 });
  const first = await listed([busy]);
  expect({ code: first.code, requests: first.requests.length }).toEqual({ code: 1, requests: 1 });
});

test("parses traits as JSON if possible, and takes them as texts otherwise", async () => {
  const traits = ["plan=pro", "seats=12345678901234567890", "active=true", 'code="5"', "note=a=b", "empty="];
  const { queries } = await listed([page(null)], ...traits.flatMap((trait) => ["--trait", trait]));
  expect(queries[0]?.["traits"]).toBe(
    '{"plan":"pro","seats":12345678901234567890,"active":true,"code":"5","note":"a=b","empty":""}',
  );
});

test("parses bounds of a trait, one of each kind", async () => {
  const traits = ["mrr>=1000", "mrr<=5e3", "renewsOn<=2026-12-31", 'note=">=1"', "a<b=c"];
  const { queries } = await listed([page(null)], ...traits.flatMap((trait) => ["--trait", trait]));
  expect(queries[0]?.["traits"]).toBe(
    '{"mrr":{"atLeast":1000,"atMost":5e3},"renewsOn":{"atMost":"2026-12-31"},"note":">=1","a<b":"c"}',
  );
  for (const second of ["mrr>=2", "mrr=5"]) {
    const { code, stderr } = await listed([page(null)], "--trait", "mrr>=1", "--trait", second);
    const message = "error [USAGE]: --trait mrr is given twice. Give one value, or one bound of each kind.\n";
    expect({ code, stderr }).toEqual({ code: 2, stderr: message });
  }
});

test.each(["seats=>3", "seats==3", "seats>==3"])("refuses a trait with two signs: %s", async (trait) => {
  const { code, stderr } = await listed([page(null)], "--trait", trait);
  const fix = "Write for example --trait 'seats>=3', and a text in quotes.";
  expect({ code, stderr }).toEqual({ code: 2, stderr: `error [USAGE]: --trait ${trait} has two signs. ${fix}\n` });
});

test("passes order and search to the service", async () => {
  const argv = ["--search", "glo", "--health", "red", "--signal", "quiet", "--sort", "health", "--reverse"];
  const { queries } = await listed([page(null)], ...argv);
  expect(queries[0]).toMatchObject({ search: "glo", health: "red", signal: "quiet", sort: "health", reverse: "true" });
});

test.each(["plan", "=pro", "seats>3", "seats>=", ">=3"])(
  "refuses a trait that is not a name and a value: %s",
  async (trait) => {
    const { code, stderr } = await listed([page(null)], "--trait", trait);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `error [USAGE]: --trait ${trait} is not a name and a value. Write for example --trait plan=pro.\n`,
    });
  },
);

/** Lists customers as CSV of a service that never gives all of it. */
async function listedInPart(more: { cut?: true; held?: () => void }, onStdout?: () => void) {
  const body = "customerId,lifecycle\none,trial\n";
  const { url } = await brokenServer({ read: () => ({ status: 200, type: "text/csv", body, ...more }) });
  const run = await svc(["customers", "list", "--project", "shop", "--csv"], {
    at: url,
    ...(onStdout && { onStdout }),
  });
  return steady(run, [[url, "<service>"]]);
}

test("says that a list as CSV is not complete if the connection breaks, or if nothing comes any more", async () => {
  const cut = await listedInPart({ cut: true });
  expect(cut).toMatchInlineSnapshot(`
    exit 1
    ! error [SERVICE_UNREACHABLE]: The list from <service> broke off before its end. Try again.
    customerId,lifecycle
    one,trial (no line end)
  `);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let isDone = false;
  onTestFinished(() => void vi.useRealTimers());
  const wait = (): void => {
    if (isDone) return;
    vi.advanceTimersByTime(60_000);
    setImmediate(wait);
  };
  const silent = await listedInPart({ held: () => undefined }, () => setImmediate(wait));
  isDone = true;
  expect(silent).toEqual(cut);
});

test("waits for minutes for the next item of a list as CSV, as where few of many customers pass the filter", async () => {
  const begun: ServerResponse[] = [];
  const server = createServer((_, response) => {
    begun.push(response);
    response.writeHead(200, { "content-type": "text/csv" });
    response.write("customerId,lifecycle\n");
  });
  const url = await served(server);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const wait = (minutes: number): void => {
    vi.advanceTimersByTime(60_000);
    if (minutes > 1) setImmediate(wait, minutes - 1);
    else for (const response of begun.splice(0)) response.end("one,trial\n");
  };
  const onStdout = () => void (begun.length > 0 && setImmediate(wait, 5));
  const run = await svc(["customers", "list", "--project", "shop", "--csv"], { at: url, onStdout });
  expect(run).toMatchObject({ code: 0, stdout: "customerId,lifecycle\none,trial\n" });
});
