import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { expect } from "vitest";
import { type Declaration, refusalsOf } from "../../src/http/openapi/administrative-endpoint.js";
import type { Description } from "../../src/http/openapi/endpoint.js";
import { ingestionEndpoints, trackingEndpoints } from "../../src/http/openapi/ingestion.js";
import { errorEnvelope, type Refusals } from "../../src/http/openapi/refusals.js";
import type { Route } from "../../src/http/route.js";

const compiled = new Map<TSchema, ReturnType<typeof Compile>>();

interface Declared {
  method: string;
  path: string;
  pattern: RegExp;
  /** Schema by status; null if the answer is not JSON. */
  answers: Readonly<Record<number, TSchema | null>>;
  refusals: () => Refusals;
}

/** Compares answers of the administrative API and of ingestion with what they declare, which is what the OpenAPI document says. */
export class DeclaredAnswers {
  readonly #declared: readonly Declared[];

  constructor(routes: readonly Route[]) {
    this.#declared = [...routes.flatMap(({ declaration }) => declaration ?? []).map(administrative), ...ingestion()];
  }

  /** Fails the test if an answer differs from the declaration. */
  check(method: string, address: string, status: number, body: unknown): void {
    const [path = ""] = address.split("?");
    const declared = this.#declared.find((each) => each.method === method && each.pattern.test(path));
    if (declared === undefined) return;
    const name = `${method} ${declared.path} answers ${status}`;
    if (status < 400) {
      expect(Object.keys(declared.answers), name).toContain(String(status));
      const schema = declared.answers[status] ?? null;
      if (schema !== null) conforms(schema, body, name);
    } else {
      conforms(errorEnvelope, body, name);
      const { code } = (body as { error: { code: string } }).error;
      expect(declared.refusals()[status] ?? [], `${name} ${code}, which is not declared`).toContain(code);
    }
  }
}

function administrative(declaration: Declaration): Declared {
  const { method, path, type, answers } = declaration;
  return {
    ...{ method, path, pattern: new RegExp(`^${path.replace(/:\w+/g, "[^/]+")}$`) },
    // A stream has no end, so its body is not read.
    answers: type === undefined ? answers : Object.fromEntries(Object.keys(answers).map((status) => [status, null])),
    refusals: () => refusalsOf(declaration),
  };
}

/** The declarations of the ingestion endpoints, recorded as they are added to an OpenAPI document. */
function ingestion(): Declared[] {
  const described: Parameters<Description["endpoint"]>[0][] = [];
  const description = { endpoint: (words: (typeof described)[number]) => described.push(words) };
  ingestionEndpoints(description as unknown as Description);
  trackingEndpoints(description as unknown as Description);
  return described.map(({ path, answers, refusals = {} }) => ({
    ...{ method: "POST", path, pattern: new RegExp(`^${path}$`) },
    answers: Object.fromEntries(Object.entries(answers).map(([status, { schema }]) => [status, schema ?? null])),
    refusals: () => refusals,
  }));
}

function conforms(schema: TSchema, value: unknown, name: string): void {
  const known = compiled.get(schema) ?? Compile(schema);
  compiled.set(schema, known);
  if (known.Check(value)) return;
  const errors = known.Errors(value).map(({ instancePath, message, params }) => ({ instancePath, message, params }));
  expect.fail(`${name} with a body that differs from its declaration: ${JSON.stringify({ errors, value }, null, 2)}`);
}
