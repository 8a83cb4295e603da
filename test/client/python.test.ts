import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { isThere } from "../cli/support/program.js";
import { refusal, serviceAt, startFront, type Fate, type Front } from "./support/front.js";
import { Memory } from "./support/memory.js";
import { insertedOf, useCounted } from "./support/stored.js";

// The client for Python, run from the sources, with the same rules as that for Node.js.

const FOLDER = fileURLToPath(new URL("../../python", import.meta.url));
beforeEach(({ skip }) => {
  if (!isThere("python3")) skip("there is no python3");
});

/** Runs a program with a client for that address, and returns its output, parsed as JSON line by line. */
async function run(url: string, program: string, options = ""): Promise<unknown[]> {
  const begin = `
import json, sys, threading, time
sys.path.insert(0, ${JSON.stringify(FOLDER)})
sys.dont_write_bytecode = True
from svc_client import Client, SvcError
told = []
def show(value): print(json.dumps(value))
def code(call):
    try: return call()
    except SvcError as error: return error.code
client = Client(${JSON.stringify(url)}, "svc_test_x", told.append, flush_interval=0.005, retry_first=0.002, retry_longest=0.02, timeout=0.2${options})
`;
  const { stdout, stderr } = await promisify(execFile)("python3", ["-c", begin + program], {
    env: { ...process.env, PYTHONWARNINGS: "error" },
  });
  // The client logs only from the fifth try of a request.
  expect(stderr.replaceAll(/^sent again after try 5: .*\n/gm, "")).toBe("");
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

describe("against an in-memory service", () => {
  let memory: Memory;
  let front: Front;
  const start = async (next?: (request: number, body: string) => Fate): Promise<string> => {
    memory = new Memory();
    front = await startFront(memory.backend, next);
    onTestFinished(() => front.stop());
    return front.url;
  };
  const keys = () =>
    memory.accepted.map((operation) => ("idempotencyKey" in operation ? operation.idempotencyKey : ""));
  const countOf = (body: string) => (JSON.parse(body) as { events: unknown[] }).events.length;
  const sizes = () => front.requests.map(({ body }) => countOf(body));

  it("sends what it has once threads can be started again, and meanwhile without a limit of the whole time", async () => {
    const printed = await run(
      await start(),
      `
import logging
logging.disable()
def refuse(self): raise RuntimeError("can't start new thread")
started = threading.Thread.start
threading.Thread.start = refuse
show(client.track("a", "waits"))
show(code(client.flush))
show(code(lambda: client.batch([{"customerId": "a", "event": "is left"}])))
threading.Thread.start = started
client.flush(10)
threading.Thread.start = refuse
show(client.track("a", "goes"))
client.flush(10)
threading.Thread.start = started
show(len(client.close()))
`,
    );
    expect(printed).toEqual([true, "NO_THREAD", "NO_THREAD", true, 0]);
    expect(memory.accepted.map((operation) => "event" in operation && operation.event)).toEqual(["waits", "goes"]);
  });

  it("repeats requests byte for byte after a temporary failure, and nothing overtakes them", async () => {
    const fates: Fate[] = [
      ...(["loseRequest", "loseAnswer", "cutAnswer", "stall", "stallAfter", "stallBody", "drip"] as const),
      refusal(429, "RATE_LIMIT_EXCEEDED", {}, { "retry-after": "0" }),
      { status: 202, body: "<html>" },
      { status: 302, headers: { location: "http://127.0.0.1:1/" }, body: "" },
      { status: 404, body: "<html>" },
      ...[400, 403].map((status) => ({ status, body: '{"error":{"code":"BadRequest","message":"No."}}' })),
    ];
    // Each fate twice, with its own body. On a busy machine more tries than intended can time out.
    const seen = new Map<string, number>();
    const url = await start((_, body) => {
      const tries = seen.get(body) ?? 0;
      seen.set(body, tries + 1);
      return tries < 2 ? (fates[seen.size - 1] ?? "pass") : "pass";
    });
    const program = `
client.flush_interval = 3600
for n in range(${fates.length}):
    client.track("c", "e", {"ü": [1.5, None, True], "n": n})
    client.identify("c", {"n": n})
    client.flush()
show(client.close())
show(len(told))`;
    expect(await run(url, program)).toEqual([[], 0]);
    const bodies = front.requests.map(({ body }) => body);
    const changes = bodies.filter((body, index) => body !== bodies[index - 1]);
    expect(changes).toEqual([...seen.keys()]);
    expect(changes).toHaveLength(fates.length);
    for (const tries of seen.values()) expect(tries).toBeGreaterThanOrEqual(3);
    const events = memory.accepted.flatMap((operation) => (operation.type === "track" ? [operation] : []));
    expect(events).toMatchObject(
      fates.map((_, n) => ({
        properties: { ü: [1.5, null, true], n },
        timestamp: expect.stringMatching(/^\d{4}-.*\+00:00$/) as string,
      })),
    );
  });

  it("begins anew in a forked child, and each process sends its own operations", async () => {
    const url = await start();
    const program = `
import os, warnings
warnings.simplefilter("ignore")
client.flush_interval = 3600
client.track("c", "e", idempotency_key="sent")
client.flush()
client.track("c", "e", idempotency_key="queued")
client._changed.acquire()
closed = Client(client._address.geturl(), "svc_test_x")
closed.close()
child = os.fork()
if child == 0:
    assert code(lambda: closed.batch([{"customerId": "c", "event": "e"}])) == "CLOSED"
    with client: client.track("c", "e", idempotency_key="of the child")
    os._exit(0)
client._changed.release()
show(os.waitpid(child, 0)[1])
show(client.close())`;
    expect(await run(url, program)).toEqual([0, []]);
    expect(keys()).toEqual(["sent", "of the child", "queued"]);
  });

  it("sends an instant in UTC if the zone's offset has seconds", async () => {
    const url = await start();
    const program = `
import datetime
def zone(*offset): return datetime.timezone(datetime.timedelta(hours=offset[0], minutes=offset[1], seconds=offset[2]))
for offset in [(0, 53, 28), (-5, 30, 0)]: client.track("c", "e", timestamp=datetime.datetime(1890, 1, 1, tzinfo=zone(*offset)))
show(client.close())`;
    expect(await run(url, program)).toEqual([[]]);
    const sent = memory.accepted.map((operation) => (operation.type === "track" ? operation.timestamp : ""));
    expect(sent).toEqual(["1889-12-31T23:06:32+00:00", "1890-01-01T00:00:00-04:30"]);
  });

  it("a refusal affects only the refused operation; a batch reports it", async () => {
    const url = await start();
    const program = `
for n in range(1000): client.track("c", "bad" if n == 7 else "e", idempotency_key=str(n))
client.flush()
show([(error.code, error.status, error.field, error.operation["idempotencyKey"]) for error in told])
try: client.batch([{"customerId": "c", "event": name, "idempotencyKey": name} for name in ["one", "bad", "two"]])
except SvcError as error: show([error.code, [(index, each.code) for index, each in error.refused]])
show(client.batch([{"type": "identify", "customerId": "c", "traits": {}}, {"customerId": "c", "event": "e", "idempotencyKey": "three"}]))
show(client.close())`;
    expect(await run(url, program)).toEqual([
      [["UNKNOWN_EVENT", 422, "event", "7"]],
      ["BATCH_REFUSED", [[1, "UNKNOWN_EVENT"]]],
      ["evt_three"],
      [],
    ]);
    const numbers = Array.from({ length: 1_000 }, (_, n) => String(n)).filter((key) => key !== "7");
    expect(keys()).toEqual([...numbers, "one", "two", "", "three"]);
  });

  it("errors pass from process to process, as from one of a pool", async () => {
    const program = `
import multiprocessing
def work(name): return Client(client._address.geturl(), "k").batch([{"customerId": "c", "event": name, "idempotencyKey": name}])
with multiprocessing.get_context("fork").Pool(1) as pool:
    show(pool.apply_async(work, ("e",)).get(30))
    try: pool.apply_async(work, ("bad",)).get(30)
    except SvcError as error: shown = error
    index, each = shown.refused[0]
    show([str(shown), shown.code, index, str(each), each.code, each.status, each.field, each.operation["idempotencyKey"]])`;
    const reason = "UNKNOWN_EVENT: event: It is UNKNOWN_EVENT.";
    expect(await run(await start(), program)).toEqual([
      ["evt_e"],
      [
        ...[`BATCH_REFUSED: 1 of 1 operations were refused: ${reason}`, "BATCH_REFUSED", 0],
        ...[reason, "UNKNOWN_EVENT", 422, "event", "bad"],
      ],
    ]);
  });

  it("finds a refused operation that the service does not name, and uses smaller batches if large ones are rejected", async () => {
    const url = await start((_, body) => {
      if (body.includes('"poison"'))
        return refusal(400, "MALFORMED_JSON", { field: 7, diagnostics: [null, 5, { path: 7 }] });
      return body.length > 2_000 ? { status: 413, body: "<html>" } : "pass";
    });
    const program = `
client.flush_interval = 3600
for n in range(40): client.track("c", "e", idempotency_key="poison" if n == 13 else str(n))
client.flush()
show([(error.code, error.operation["idempotencyKey"]) for error in told])
client.close()`;
    expect(await run(url, program)).toEqual([[["MALFORMED_JSON", "poison"]]]);
    expect(keys()).toEqual(Array.from({ length: 40 }, (_, n) => String(n)).filter((key) => key !== "13"));
    expect(Math.max(...sizes())).toBe(40);
  });

  it("reports an operation without its position in the batch", async () => {
    const said = { field: "events[1].timestamp", message: "`events[1].timestamp` is not a valid timestamp." };
    const url = await start((request) => (request === 0 ? refusal(400, "VALIDATION_ERROR", said) : "pass"));
    const program = `
client.flush_interval = 3600
for key in ["0", "1"]: client.track("c", "e", timestamp="2026-02-30T10:00:00Z", idempotency_key=key)
client.flush()
show([(str(error), error.operation["idempotencyKey"]) for error in told])
client.close()`;
    const message = "VALIDATION_ERROR: timestamp: `timestamp` is not a valid timestamp.";
    expect(await run(url, program)).toEqual([[[message, "1"]]]);
  });

  it("a full queue and a closed client accept nothing, and close returns remaining operations", async () => {
    // Counts operations, not requests: the first two can be sent together or separately.
    const url = await start((_, body) => (countOf(body) < 3 ? refusal(401, "INVALID_API_KEY") : "stall"));
    const program = `
show([client.track("c", "e", idempotency_key=str(n)) for n in range(2)])
show(code(client.flush))
show([client.track("c", "e", idempotency_key=str(n)) for n in range(2, 5)])
show([(error.code, error.operation and error.operation["idempotencyKey"]) for error in told])
show(code(lambda: client.flush(timeout=0.1)))
left = client.close(timeout=0.1)
show([operation["idempotencyKey"] for operation in left])
show([client.track("c", "late"), code(lambda: client.batch(left))])`;
    expect(await run(url, program, ", queue_operations=3")).toEqual([
      [true, true],
      "INVALID_API_KEY",
      [true, false, false],
      expect.arrayContaining([
        ["QUEUE_FULL", "3"],
        ["QUEUE_FULL", "4"],
        ["INVALID_API_KEY", null],
      ]),
      "TIMEOUT",
      ["0", "1", "2"],
      [false, "CLOSED"],
    ]);
  });

  it("sends nothing after it was closed, and reads an answer whatever its headers", async () => {
    const accepted = {
      status: 202,
      headers: { location: "/x" },
      body: '{"accepted":1,"rejected":0,"eventIds":["evt_1"]}',
    };
    const url = await start((request) => (request === 0 ? accepted : refusal(503, "SERVICE_UNAVAILABLE")));
    const program = `
client.retry_first = client.retry_longest = 3600
show(client.batch([{"customerId": "c", "event": "e"}]))
client.track("c", "e")
show(code(lambda: client.flush(timeout=0.3)))
show(len(client.close(timeout=0.1)))
client._thread.join()`;
    expect(await run(url, program)).toEqual([["evt_1"], "TIMEOUT", 1]);
    expect(front.requests).toHaveLength(2);
  });

  it("waits without limit if asked to, and refuses a timeout that is not a number", async () => {
    const url = await start((request) => (request % 2 === 0 ? refusal(503, "SERVICE_UNAVAILABLE") : "pass"));
    const program = `
def why(call):
    try: call(float("nan"))
    except ValueError as error: return str(error)
show([why(client.flush), why(client.close), client.track("c", "e")])
client.flush(1e12)
client.track("c", "e")
show(client.close(float("inf")))`;
    const refused = "timeout must be a number of seconds, or None, not nan";
    expect(await run(url, program)).toEqual([[refused, refused, true], []]);
    expect(memory.accepted).toHaveLength(2);
  });

  it("refuses invalid operations at the call", async () => {
    const program = `
import datetime
def why(*arguments, **named):
    try: client.track(*arguments, **named)
    except TypeError as error: return str(error)
circle = {}
circle["a"] = circle
def nested(levels): return [] if levels == 1 else [nested(levels - 1)]
show([why("", "e"), why("c", None), why("c", "x" * 257), why("c", "e", [1]), why("c", "e", {"a": "x" * 65536}), why("c", "e", timestamp=datetime.datetime(2026, 3, 2)), why("c", "e", timestamp=datetime.date(2026, 3, 2)), why("\\ud800", "e")])
show([why("c", "e", {"a": value})[:26] for value in [float("nan"), b"1", circle["a"], "\\ud800", object(), 10 ** 309, nested(100)]])
show([why("c", "e", {"dueOn": datetime.datetime(2026, 3, 2)}), why("c", "e", {"price": {1}})])
show([why("c\\0", "e"), why("c", "e", {"a": ["\\0"]}), why("c", "e", {"\\\\\\0": 1})])
show([why("c", "e", timestamp=text)[:31] for text in ["", "2026-03-02", "2026-03-02T10:00:00", "now"]])
good = [why("c", "e", {"a": "\\\\u0000", "b": nested(99), "c": -10 ** 308})]
show(good + [why("c", "e", timestamp=text) for text in ["2026-03-02T10:00Z", "2026-03-02t10:00:00.123456789+01"]])
client.close(0)`;
    const [first, second, unlike, third, fourth, good] = await run("http://127.0.0.1:1", program);
    expect(first).toEqual([
      "customerId must be a text of 1 to 256 characters, not ''",
      "event must be a text of 1 to 256 characters, not None",
      expect.stringMatching(/^event must be a text of 1 to 256/),
      "properties must be a dict, not [1]",
      "properties is larger than 64 KiB as JSON",
      "timestamp must be a text in ISO 8601 or a datetime, with a timezone, not datetime.datetime(2026, 3, 2, 0, 0)",
      "timestamp must be a text in ISO 8601 or a datetime, with a timezone, not datetime.date(2026, 3, 2)",
      expect.stringMatching(/^properties cannot be sent: 'utf-8' codec/),
    ]);
    expect(second).toEqual(Array(7).fill("properties cannot be sent:"));
    expect(unlike).toEqual([
      "properties cannot be sent: datetime.datetime(2026, 3, 2, 0, 0) has no timezone",
      "properties cannot be sent: {1} is a set; convert it to text, numbers, lists and dicts",
    ]);
    expect(third).toEqual(Array(3).fill("the operation has the character U+0000, which cannot be stored"));
    expect(fourth).toEqual(Array(4).fill("timestamp must be a text in ISO"));
    expect(good).toEqual([null, null, null]);
  });
});

it("an invalid address, key or option is refused when the client is created", async () => {
  const program = `
def why(url="https://svc.example.com/under", key="k", **options):
    try: Client(url, key, **options)
    except ValueError as error: return str(error)
show([why(), why(url="http://[::1]:4400/", timeout=5, queue_operations=1)])
show([why(url=url) for url in [None, "", "svc.example.com", "http://", "http://a b/", "http://\u00fc/", "http://u@h/", "http://h/?q", "http://h/v1/"]] + [why(key=key) for key in [None, "", "a b"]])
show([why(**{name: value}) for name, value in [("timeoutMs", 5), ("track", 1), ("batch_operations", 0), ("timeout", -1), ("queue_operations", 0.5)]])
endless = ["timeout", "flush_interval", "retry_first", "retry_longest", "queue_operations"]
show([why(**{name: value}) is not None for name in endless for value in [float("inf"), float("nan"), 1e18, 10**400]])
show([why(timeout=3600, flush_interval=3600, retry_first=0.001, retry_longest=3600, queue_operations=10**9)])
client.close()`;
  const [good, addresses, options, endless, longest] = await run("http://127.0.0.1:1", program);
  expect(good).toEqual([null, null]);
  expect(addresses).toEqual(
    Array(12).fill("url must be the service's address without /v1, and api_key one of its API keys"),
  );
  const refused = (option: string, most = 2 ** 53) =>
    `${option}: there is no such option, or it must be more than 0 and at most ${most}`;
  expect(options).toEqual([
    ...["timeoutMs=5", "track=1", "batch_operations=0"].map((option) => refused(option)),
    refused("timeout=-1", 3_600),
    refused("queue_operations=0.5"),
  ]);
  // The thread that sends could not wait for so long: it ended, and batch() never did.
  expect(endless).toEqual(Array(20).fill(true));
  expect(longest).toEqual([null]);
});

const fixture = await useCounted();

describe("against the service", () => {
  it("loses and duplicates nothing, and keeps the order, also with a thread for each customer", async () => {
    const lost = ["loseRequest", "loseAnswer", "stallBody", "cutAnswer", "stallAfter"] as const;
    const fates = [...lost, refusal(503, "SERVICE_UNAVAILABLE")];
    const front = await startFront(
      (body) => serviceAt(() => fixture.service.url)(body, `Bearer ${fixture.keys.test}`),
      (request) => (request % 2 === 0 ? "pass" : fates[(request >> 1) % fates.length]!),
    );
    const program = `
def send(customer):
    for n in range(150):
        if n % 5 == 4: client.identify(customer, {"seen": n})
        else: client.track(customer, "unknown" if n % 50 == 27 else "counted", {"n": n})
        if n % 20 == 0: client.flush()
threads = [threading.Thread(target=send, args=("customer " + name,)) for name in "abcd"]
for thread in threads: thread.start()
for thread in threads: thread.join()
show(client.close(60))
show(sorted({error.code for error in told}))
show(len(told))`;
    expect(await run(front.url, program)).toEqual([[], ["UNKNOWN_EVENT"], 12]);
    await front.stop();
    expect(new Set(front.requests.map(({ fate }) => fate)).size).toBe(fates.length + 1);
    const numbers = Array.from({ length: 150 }, (_, n) => n).filter((n) => n % 5 !== 4 && n % 50 !== 27);
    const customers = ["a", "b", "c", "d"].map((name) => `customer ${name}`);
    expect(await insertedOf(fixture.service.db.sql)).toEqual({
      events: Object.fromEntries(customers.map((customer) => [customer, numbers])),
      traits: Object.fromEntries(customers.map((customer) => [customer, 149])),
    });
  });
});
