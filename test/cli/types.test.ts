import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";

import { typesOf } from "../../src/cli/commands/types.js";
import { EMPTY_SNAPSHOT } from "../../src/model/snapshot/types.js";
import { project } from "../dsl-compiler/project.js";
import { useOwner } from "./support/owner.js";
import { type RunOptions, steady } from "./support/run-svc.js";
import { tsconfig, typeMistakes } from "./support/types.js";

const MODEL = `
  import { array, boolean, date, defineModel, event, number, oneOf, string, traits } from "svc-success";
  export default defineModel({
    strictSchema: true,
    events: {
      login: event("login"),
      paid: event("invoice paid", { amount: number(), "due on": date(), method: oneOf("card", "it's\\u202e \\"so\\"") }),
      used: event("used", { feature: string().optional(), mobile: boolean().optional() }),
      tagged: event("tagged", { tags: array(oneOf("a", "b")), counts: array(number()).optional() }),
    },
    traits: traits({ plan: oneOf("free", "pro"), seats: number(), renewsOn: date(), addOns: array(string()) }),
  });`;

const service = useOwner();
beforeAll(() => service.addProject("shop"));

const run = async (argv: readonly string[], options: RunOptions = {}) =>
  steady(await service.svc(argv, options), [
    [options.cwd ?? "<none>", "<cwd>"],
    [/\b[0-9a-f]{64}\b/g, "<hash>"],
  ]);

test("there are no types before a deploy, then those of the active version, on standard output and as JSON", async () => {
  expect(await run(["types", "--project", "shop"])).toMatchInlineSnapshot(`
    exit 1
    ! error [NOTHING_DEPLOYED]: Nothing was deployed to test of project shop yet, so any event is accepted. Deploy a model first: \`svc deploy --env test --project shop\`.
  `);
  const cwd = await project({ "svc.config.ts": MODEL, ".kite/config.json": '{"project":"shop"}' });
  expect((await run(["deploy", "--yes", "--force"], { cwd })).code).toBe(0);
  const { code, stdout, stderr } = await run(["types"], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.slice(0, stdout.indexOf("\n\nexport type EventName"))).toMatchInlineSnapshot(`
    "// Events and traits that the service takes in test of project shop: v1 (7db4715f13cf).
    // Not to be edited: made by \`svc types --env test --project shop\`.

    /** An ISO 8601 date, or date-time with a zone. */
    export type IsoDate = string;

    /** The properties of each event, by its name. */
    export interface Events {
      "invoice paid": { amount: number; "due on": IsoDate; method: "card" | "it's\\u202e \\"so\\"" };
      login: Record<string, never>;
      tagged: { counts?: number[] | undefined; tags: ("a" | "b")[] };
      used: { feature?: string | undefined; mobile?: boolean | undefined };
    }"
  `);
  const document = JSON.parse((await run(["types", "--json"], { cwd })).stdout);
  expect(document).toEqual({ project: "shop", environment: "test", version: "v1", hash: "<hash>", types: stdout });
  expect((await run(["types", "--env", "live"], { cwd })).stderr).toContain("[NOTHING_DEPLOYED]");
});

test("a file is written atomically; only a file that svc types wrote is replaced", async () => {
  const cwd = await project({ "mine.ts": "// mine\n" });
  const argv = ["types", "--project", "shop", "--output"];
  expect(await run([...argv, "svc types.ts"], { cwd })).toMatchInlineSnapshot(`
    Wrote the types of v1, active in test of shop, to <cwd>/svc types.ts.
  `);
  expect(await run([...argv, "svc types.ts"], { cwd })).toMatchInlineSnapshot(`
    <cwd>/svc types.ts already has the types of v1, active in test of shop.
  `);
  const file = path.join(cwd, "svc types.ts");
  const text = await readFile(file, "utf8");
  expect(text).toContain("made by `svc types --env test --project shop --output 'svc types.ts'`");
  await writeFile(file, `${text}// changed\n`);
  const again = await run([...argv, "svc types.ts", "--json"], { cwd });
  const version = { project: "shop", environment: "test", version: "v1", hash: "<hash>" };
  expect(JSON.parse(again.stdout)).toEqual({ ...version, output: "<cwd>/svc types.ts", written: true });
  expect(await readFile(file, "utf8")).toBe(text);
  expect(await run([...argv, "mine.ts"], { cwd })).toMatchInlineSnapshot(`
    exit 1
    ! error [FILE_EXISTS]: <cwd>/mine.ts already exists, and svc types did not write it. Name another file with --output, or remove it.
  `);
  expect(await run([...argv, "."], { cwd })).toMatchInlineSnapshot(`
    exit 1
    ! error [FILE_EXISTS]: <cwd> cannot be read (EISDIR). Name another file with --output, or remove it.
  `);
  expect((await readdir(cwd)).sort()).toEqual(["mine.ts", "svc types.ts"]);
});

test("the types check code of callers, with the client and without, under strict options", async () => {
  const cwd = await project({
    "svc-types.ts": (await run(["types", "--project", "shop"])).stdout,
    "empty.ts": typesOf(EMPTY_SNAPSHOT),
    "tsconfig.json": tsconfig({ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true }),
    "caller.ts": `
      import type { EventName, Events, Identify, Operation, Track } from "./svc-types.js";
      export const operations: Operation[] = [
        { customerId: "c", event: "login" },
        { type: "track", customerId: "c", event: "used", idempotencyKey: "k", timestamp: "2026-01-01T00:00:00Z" },
        { customerId: "c", event: "used", properties: { feature: "board" } },
        { customerId: "c", event: "invoice paid", properties: { amount: 1, "due on": "2026-01-01", method: "card" } },
        { customerId: "c", event: "tagged", properties: { tags: ["a"], counts: [1] } },
        { type: "identify", customerId: "c", traits: { plan: "pro", seats: null } },
        { customerId: "c", event: "used", properties: { feature: undefined } },
        { type: "identify", customerId: "c", traits: { seats: undefined } },
        // @ts-expect-error a name that is not declared
        { customerId: "c", event: "logn" },
        // @ts-expect-error a property that is required
        { customerId: "c", event: "tagged" },
        // @ts-expect-error a property that is not declared
        { customerId: "c", event: "login", properties: { mobile: true } },
        // @ts-expect-error another type
        { customerId: "c", event: "used", properties: { feature: 5 } },
        // @ts-expect-error a value that is not declared
        { customerId: "c", event: "tagged", properties: { tags: ["c"] } },
        // @ts-expect-error a trait that is not declared
        { type: "identify", customerId: "c", traits: { plans: "pro" } },
      ];
      /** As a caller may wrap it. */
      export function track<Name extends EventName>(event: Name, properties: Events[Name]): [Name, Events[Name]] {
        return [event, properties];
      }
      track("login", {});
      export const one: Track<"login"> = { customerId: "c", event: "login" };
      export const who: Identify = { type: "identify", customerId: "c", traits: {} };
    `,
    "client.ts": `
      import { type ClientOptions, createClient, type Operation, type Track } from "svc-success-client";
      import type { Schema } from "./svc-types.js";
      const options: ClientOptions = { url: "https://svc.example.com", apiKey: "svc_test_x", onError: undefined, timeoutMs: undefined };
      const client = createClient<Schema>({ ...options, onError: ({ operation }) => operation && other.batch([operation]) });
      const customerId = "c";
      const isQueued: boolean = client.track({ customerId, event: "login" });
      client.track({ customerId, event: "used", properties: { feature: "board" }, idempotencyKey: "k", timestamp: new Date() });
      client.track({ type: "track", customerId, event: "tagged", properties: { tags: ["a"] }, timestamp: "2026-01-01T00:00:00Z" });
      client.identify({ customerId, traits: { plan: "pro", seats: null } });
      const left: Operation<Schema>[] = [{ customerId, event: "login" }, { type: "identify", customerId, traits: {} }];
      void client.batch(left).then(({ accepted, eventIds }: { accepted: number; eventIds: string[] }) => [accepted, eventIds]);
      const other = createClient<Schema>(options);
      void client.close().then(({ left }) => other.batch(left));
      export const one: Track<Schema, "login"> = { customerId, event: "login" };
      // @ts-expect-error a name that is not declared
      client.track({ customerId, event: "logn" });
      // @ts-expect-error properties that are required
      client.track({ customerId, event: "tagged" });
      // @ts-expect-error a property that is not declared
      client.track({ customerId, event: "used", properties: { featur: "board" } });
      // @ts-expect-error a property of another type
      client.track({ customerId, event: "used", properties: { feature: 5 } });
      // @ts-expect-error a value that is not declared
      client.track({ customerId, event: "tagged", properties: { tags: ["c"] } });
      // @ts-expect-error no customer
      client.track({ event: "login" });
      // @ts-expect-error a trait that is not declared
      client.identify({ customerId, traits: { plans: "pro" } });
      // @ts-expect-error a trait of another type
      client.identify({ customerId, traits: { seats: "5" } });
      // @ts-expect-error an event of a batch that is not declared
      void client.batch([{ customerId, event: "logn" }]);
      // @ts-expect-error an option that there is not
      createClient({ url: "", apiKey: "", flushInterval: 5 });

      interface Order { amount: number }
      const order: Order = { amount: isQueued ? 1 : 2 };
      const any = createClient({ url: "https://svc.example.com", apiKey: "svc_test_x" });
      any.track({ customerId, event: "whatever", properties: order });
      any.track({ customerId, event: "whatever" });
      any.identify({ customerId, traits: order });
      void any.close().then(async ({ left }) => any.batch(left));
      // @ts-expect-error no object
      any.track({ customerId, event: "whatever", properties: "text" });
`,
  });
  expect(await typeMistakes(cwd)).toBe("");
});
