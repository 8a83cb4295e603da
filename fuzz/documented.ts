/** The answers that the service's OpenAPI document describes. */
import type { Answer } from "../attacks/sender.js";

export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  examples?: unknown[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
}

interface Response {
  $ref?: string;
  description: string;
  content?: Record<string, object>;
}

interface Parameter {
  $ref?: string;
  name: string;
  in: "path" | "query" | "header";
  schema: Schema;
}

export interface Operation {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  parameters: Parameter[];
  /** Whether it requires credentials. */
  isSecured: boolean;
  /** Whether its successful answers have no end. */
  isEndless: boolean;
  /** Content type and schema of its body; null if it has none. */
  body: { type: string; schema: Schema } | null;
  /** Answers by status. */
  responses: Readonly<Record<string, Response>>;
}

interface Described {
  parameters?: Parameter[];
  security: object[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Operation["responses"];
}

interface Document {
  paths: Record<string, Record<string, Described>>;
  components: Record<string, Record<string, unknown>>;
}

export class Documented {
  readonly operations: readonly Operation[];

  constructor(private readonly document: Document) {
    this.operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters = [], security, requestBody, responses }]) => {
        const [[type, { schema }] = ["", { schema: {} }]] = Object.entries(requestBody?.content ?? {});
        return {
          method: method.toUpperCase() as Operation["method"],
          path,
          isSecured: security.length > 0,
          isEndless: JSON.stringify(responses).includes("text/event-stream"),
          parameters: parameters.map((parameter) => this.resolve(parameter)),
          body: type === "" ? null : { type, schema },
          responses,
        };
      }),
    );
  }

  static async fetch(url: string): Promise<Documented> {
    const answer = await fetch(`${url}/openapi.json`);
    return new Documented((await answer.json()) as Document);
  }

  operation(method: string, path: string): Operation {
    return this.operations.find((one) => one.method === method && one.path === path)!;
  }

  /** Resolves a reference, if the node is one. */
  resolve<T extends { $ref?: string }>(node: T): T {
    if (node.$ref === undefined) return node;
    const [, kind = "", name = ""] = /^#\/components\/(\w+)\/(.+)$/.exec(node.$ref) ?? [];
    return this.document.components[kind]![name] as T;
  }

  /** What is wrong with an answer; null if the operation's description allows it. */
  fault({ responses }: Operation, { status, text }: Answer): string | null {
    if (status === null) return "no answer";
    const shown = `answered ${status} ${text.slice(0, 300)}`;
    if (status >= 500) return shown;
    const response = responses[status];
    if (response === undefined) return `${shown}, a status that is not documented`;
    if (status < 400) return null;
    const { description, content } = this.resolve(response);
    const code = codeOf(text, content);
    if (code === null) return `${shown}, which is not an error as documented`;
    return description.includes(`\`${code}\``) ? null : `${shown}, a code that is not documented for this status`;
  }
}

/** The code of an error, in the envelope or in OAuth's format; null if the text is neither. */
function codeOf(text: string, content: Record<string, object> = {}): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === "string" && !JSON.stringify(content).includes('/Error"')) return error;
    const { code, message, requestId } = error as Record<string, unknown>;
    return [code, message, requestId].every((member) => typeof member === "string" && member !== "")
      ? (code as string)
      : null;
  } catch {
    return null;
  }
}
