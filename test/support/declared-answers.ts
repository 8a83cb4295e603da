import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { expect } from "vitest";
import { type Declaration, refusalsOf } from "../../src/http/openapi/administrative.js";
import { errorEnvelope } from "../../src/http/openapi/refusals.js";
import type { Route } from "../../src/http/route.js";

const compiled = new Map<TSchema, ReturnType<typeof Compile>>();

/** Holds answers of the administrative API against what its routes declare, and the OpenAPI document says. */
export class DeclaredAnswers {
  readonly #routes: { pattern: RegExp; declaration: Declaration }[];

  constructor(routes: readonly Route[]) {
    this.#routes = routes
      .flatMap(({ declaration }) => declaration ?? [])
      .map((declaration) => ({
        pattern: new RegExp(`^${declaration.path.replace(/:\w+/g, "[^/]+")}$`),
        declaration,
      }));
  }

  /** Fails the test where a route of the administrative API answers what it does not declare. */
  check(method: string, address: string, status: number, body: unknown): void {
    const [path = ""] = address.split("?");
    const route = this.#routes.find(({ pattern, declaration }) => declaration.method === method && pattern.test(path));
    if (route === undefined) return;
    const { declaration } = route;
    const name = `${method} ${declaration.path} answers ${status}`;
    if (status < 400) {
      expect(Object.keys(declaration.answers), name).toContain(String(status));
      // A stream is not read to its end, which it has not.
      if (declaration.type === undefined) conforms(declaration.answers[status]!, body, name);
    } else {
      conforms(errorEnvelope, body, name);
      const { code } = (body as { error: { code: string } }).error;
      const declared = refusalsOf(declaration)[status] ?? [];
      expect(declared, `${name} ${code}, which its \`refusals\` do not declare`).toContain(code);
    }
  }
}

function conforms(schema: TSchema, value: unknown, name: string): void {
  const known = compiled.get(schema) ?? Compile(schema);
  compiled.set(schema, known);
  if (known.Check(value)) return;
  const errors = known.Errors(value).map(({ instancePath, message, params }) => ({ instancePath, message, params }));
  expect.fail(`${name} with something else than it declares: ${JSON.stringify({ errors, value }, null, 2)}`);
}
