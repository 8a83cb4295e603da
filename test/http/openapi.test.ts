import { Ajv2020 } from "@redocly/ajv/dist/2020.js";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { readPermissions, type PermissionRow } from "../../src/http/openapi/administrative-endpoint.js";
import { batchRequestProblem } from "../../src/ingestion/request.js";
import { startService, useService } from "../support/service.js";

interface Response {
  $ref?: string;
  content?: Record<string, { schema: { $ref?: string } }>;
}

interface Document {
  servers: unknown;
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, Response> }>>;
  components: { schemas: Record<string, object>; responses: Record<string, Response> };
}

const service = await useService();
const document = (await service.request("GET", "/openapi.json")).body as Document;

/** The problems that `npx @redocly/cli lint` finds with its recommended rules. */
async function lint(api: unknown): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source: JSON.stringify(api), config, absoluteRef: "openapi.json" });
  return problems.map(({ severity, ruleId, message, location: [place] }) => {
    const where = place !== undefined && "pointer" in place ? place.pointer : "";
    return `${severity} ${ruleId} ${where}: ${message}`;
  });
}

describe("GET /openapi.json", () => {
  it("needs no credentials, can be cached for a while, and names the service's public address", async () => {
    expect(document.servers).toEqual([{ url: service.url }]);
    const { status, headers } = await service.request("GET", "/openapi.json");
    expect(status).toBe(200);
    expect(headers.get("Content-Type")).toBe("application/json; charset=utf-8");
    expect(headers.get("Cache-Control")).toBe("public, max-age=300");
  });

  it("passes the linter's recommended rules, which do find a fault", async () => {
    expect(await lint(document)).toEqual([]);
    const paths = { "/x": { get: { responses: { 200: { $ref: "#/components/responses/X" } } } } };
    const fault = "error no-unresolved-refs #/paths/~1x/get/responses/200: Can't resolve $ref";
    expect(await lint({ openapi: "3.1.0", info: { title: "x", version: "1" }, paths })).toContain(fault);
  });
});

it("describes what webhooks send, by the schema of their bodies", () => {
  const { webhooks } = document as unknown as { webhooks: Record<string, { post: { requestBody: unknown } }> };
  const schema = { $ref: "#/components/schemas/DeliveryBody" };
  expect(webhooks["emission"]!.post.requestBody).toEqual({
    required: true,
    content: { "application/json": { schema } },
  });
  expect(document.components.schemas).toHaveProperty("DeliveryBody");
});

/** Not in the document: pages for people, and the metadata at its second address, for clients that look below a path. */
const LEFT_OUT =
  /^\/((docs|console)(\/.*)?|login|logout|sign-in|device|invitation|password|(change|forgotten)-password||\.well-known\/oauth-authorization-server\/\*issuer)$/;

describe("the endpoints", () => {
  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    );

  it("are exactly the routes of the application", () => {
    const served = service.routes
      .filter(({ path }) => !LEFT_OUT.test(path))
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
    const described = operations().map(([endpoint]) => endpoint);
    expect(described.sort()).toEqual(served.sort());
  });

  it("are named after the operations of iam.operations() and state their roles", async () => {
    const rows = await service.db.sql<PermissionRow[]>`
      select operation, role_test as "roleTest", role_live as "roleLive", entitlement from iam.operations()`;
    expect(readPermissions()).toEqual([...rows]);
    const declared = service.routes.flatMap(({ declaration }) => declaration?.operation ?? []);
    expect([...new Set(declared)].sort()).toEqual(rows.map(({ operation }) => operation).sort());
    expect(document.paths["/projects/{project}/config-versions"]!["post"]).toMatchObject({
      operationId: "deployConfig",
      description:
        "Least role: **developer** in test and **administrator** in live. The organization's plan must include cloud execution.",
    });
    expect(document.paths["/whoami"]!["get"]).toMatchObject({ description: "Least role: **viewer**." });
  });

  it("document the error envelope for each refusal", () => {
    const { responses } = document.components;
    const wrong = operations()
      .filter(([endpoint]) => !/ \/(oauth|\.well-known)\//.test(endpoint))
      .flatMap(([endpoint, operation]) =>
        Object.entries(operation.responses)
          .filter(([status]) => Number(status) >= 400)
          .filter(([, response]) => {
            const name = response.$ref?.replace("#/components/responses/", "");
            const { content } = name === undefined ? response : responses[name]!;
            return content?.["application/json"]?.schema.$ref !== "#/components/schemas/Error";
          })
          .map(([status]) => `${endpoint} ${status}`),
      );
    expect(wrong).toEqual([]);
  });

  it("document the answers to requests that never reach them: too slow ones, and those with too large headers", () => {
    const undocumented = operations().filter(
      ([, { responses }]) => responses["408"] === undefined || !responses["431"],
    );
    expect(undocumented.map(([endpoint]) => endpoint)).toEqual([]);
  });

  it("describe each pattern of a request in words that can end an error message", () => {
    const undescribed = (node: object): unknown[] => [
      ...("pattern" in node && !/^must /.test(String("description" in node && node.description)) ? [node] : []),
      ...Object.values(node).flatMap((part: unknown) => (part instanceof Object ? undescribed(part) : [])),
    ];
    const requests = service.routes.flatMap(({ declaration: of }) => [of?.query ?? [], of?.body?.schema ?? []]);
    expect(requests.flatMap(undescribed)).toEqual([]);
  });

  it("are byte-identical in every process", async () => {
    const another = await startService({}, { publicUrl: service.url });
    onTestFinished(() => another.stop());
    const textOf = async ({ url }: typeof service) => (await fetch(`${url}/openapi.json`)).text();
    expect(await textOf(another)).toBe(await textOf(service));
  });
});

describe("the schemas of operations", () => {
  const { schemas } = document.components;
  const ajv = new Ajv2020({ validateFormats: false, keywords: ["components"] });
  const isBatch = ajv.compile({ $ref: "#/components/schemas/Batch", components: { schemas } });
  const judgesAlike = (body: unknown) =>
    expect(isBatch(body)).toBe(batchRequestProblem(body, JSON.stringify(body)) === null);
  const EVENT = { customerId: "c", event: "e" };
  const characters = (count: number) => "ä𝒳".repeat(count / 2);
  it.each([
    ["a track operation", EVENT],
    ["all fields", { ...EVENT, type: "track", properties: {}, timestamp: "2026-03-02T10:00:00Z", idempotencyKey: "k" }],
    ["the longest names", { customerId: characters(256), event: characters(256), idempotencyKey: characters(256) }],
    ["a name that is too long", { customerId: characters(258), event: "e" }],
    ["an empty name", { customerId: "", event: "e" }],
    ["an empty key", { ...EVENT, idempotencyKey: "" }],
    ["a missing event", { customerId: "c" }],
    ["an unknown field", { ...EVENT, environment: "test" }],
    ["another type", { type: "page", customerId: "c", event: "e" }],
    ["an identify operation", { type: "identify", customerId: "c", traits: { plan: null } }],
    ["an identify operation without traits", { type: "identify", customerId: "c" }],
    ["an identify operation with an event", { type: "identify", customerId: "c", traits: {}, event: "e" }],
    ["properties that are no object", { ...EVENT, properties: [] }],
    ["a null timestamp", { ...EVENT, timestamp: null }],
  ])("judge %s as the service does", (_what, operation) => {
    judgesAlike({ events: [operation] });
  });

  it.each([0, 1, 1_000, 1_001])("judge a batch of %i operations as the service does", (count) => {
    judgesAlike({ events: Array<unknown>(count).fill(EVENT) });
  });
});

/** Every schema of the document by its place. */
function schemasOf(node: unknown, place = ""): [place: string, schema: object][] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    const here = `${place}/${key}`;
    if (key === "schema") return [[here, value as object]];
    if (here === "/components/schemas")
      return Object.entries<object>(value).map(([name, schema]): [string, object] => [`${here}/${name}`, schema]);
    return schemasOf(value, here);
  });
}

describe("the schemas", () => {
  it("are JSON Schema of draft 2020-12, whose references resolve", () => {
    const ajv = new Ajv2020({ strict: true, allErrors: true, validateFormats: false, keywords: ["components"] });
    const found = schemasOf(document);
    expect(found.length).toBeGreaterThan(100);
    // In one document, so that its components are compiled once.
    const $defs = Object.fromEntries(found.map(([, schema], index) => [index, schema]));
    ajv.addSchema({ $id: "openapi", components: { schemas: document.components.schemas }, $defs });
    for (const [index, [place]] of found.entries())
      expect(() => ajv.compile({ $ref: `openapi#/$defs/${index}` }), place).not.toThrow();
  });
});
