import type { Static, TObject, TObjectOptions, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { ApiError, type ErrorDiagnostic } from "../errors.js";

/** A compiled TypeBox schema that reports problems in the service's wording. */
export type RequestShape<Schema extends TSchema> = ReturnType<typeof shape<Schema>>;

export function shape<const Schema extends TSchema>(schema: Schema) {
  const compiled = Compile(schema);
  return {
    schema,
    /** Returns the value if it has the shape. Throws VALIDATION_ERROR with every problem's path, the first one as `field`. */
    check(value: unknown): Static<Schema> {
      if (compiled.Check(value)) return value;
      throw invalid(compiled.Errors(value), schema);
    },
  };
}

/** The integer that a parameter's text stands for, leading zeros included; null if none. */
export function integerOf(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** Nobody reads more, and answers must have a reasonable size whatever was sent. */
const PROBLEMS_MAX = 1_000;

function invalid(errors: readonly TLocalizedValidationError[], schema: TSchema): ApiError {
  // For an object with many unknown members, the validator stops after errors of only these members ("boolean"), before the error of the object,
  // which names them. Either kind is reported, not both.
  const named = errors.some(({ keyword }) => keyword === "additionalProperties");
  const problems = errors.flatMap((error) => describe(error, schema, named)).slice(0, PROBLEMS_MAX);
  const first = problems[0];
  const field = first?.path || undefined;
  return new ApiError(400, "VALIDATION_ERROR", { message: first?.message, field, problems });
}

/** The parameters of validation errors; which ones an error has depends on its keyword. */
interface Parameters {
  limit: number;
  type: string | string[];
  allowedValue: unknown;
  allowedValues: unknown[];
}

const atLeast =
  (unit: string) =>
  ({ limit }: Parameters) =>
    limit === 1 ? "must not be empty" : `must have at least ${limit} ${unit}`;

/** Ends of messages by the keyword of the schema that a value does not satisfy. */
const PREDICATES: Readonly<Record<string, (parameters: Parameters) => string>> = {
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  enum: ({ allowedValues }) => `must be one of ${allowedValues.map(String).join(", ")}`,
  minLength: atLeast("characters"),
  minItems: atLeast("items"),
  minProperties: () => "must have at least one member",
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  maxItems: ({ limit }) => `must have at most ${limit} items`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  uniqueItems: () => "must not have the same item twice",
  type: ({ type }) => `must be ${withArticle(type)}`,
};

/** A schema's error as problems, one for each member that it names. */
function describe(error: TLocalizedValidationError, schema: TSchema, named: boolean): ErrorDiagnostic[] {
  const path = toPath(error.instancePath);
  const at = (place: string, predicate: string): ErrorDiagnostic => ({
    code: "INVALID_STRUCTURE",
    message: place === "" ? `The body ${predicate}.` : `\`${place}\` ${predicate}.`,
    path: place,
  });
  switch (error.keyword) {
    case "boolean":
      return named ? [] : [at(path, "is not known here")];
    case "required":
      return error.params.requiredProperties.map((name) => at(join(path, name), "is required"));
    case "additionalProperties":
      return error.params.additionalProperties.map((name) => at(join(path, name), "is not known here"));
    case "pattern":
      return [at(path, descriptionAt(schema, error.schemaPath) ?? error.message)];
    default:
      return [at(path, PREDICATES[error.keyword]?.(error.params as unknown as Parameters) ?? error.message)];
  }
}

/** The description in the schema of a pattern, which is easier to read than the expression. */
function descriptionAt(schema: TSchema, schemaPath: string): string | undefined {
  let node: unknown = schema;
  for (const part of schemaPath.split("/").slice(1)) node = (node as Record<string, unknown> | undefined)?.[part];
  const description = (node as { description?: unknown } | undefined)?.description;
  return typeof description === "string" ? description : undefined;
}

function withArticle(type: string | string[]): string {
  const article = (name: string) => (name === "null" ? name : /^[aio]/.test(name) ? `an ${name}` : `a ${name}`);
  return [type].flat().map(article).join(" or ");
}

/** `/eventTypes/0` as `eventTypes[0]`. */
function toPath(pointer: string): string {
  const parts = pointer.split("/").slice(1);
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")).reduce(join, "");
}

function join(path: string, part: string): string {
  if (/^\d+$/.test(part)) return `${path}[${part}]`;
  return path === "" ? part : `${path}.${part}`;
}

/** Whether objects of this schema need members, so that `{}` is not one. */
export function hasRequiredMembers(schema: TSchema): boolean {
  const { properties, required = [], minProperties = 0 } = schema as Partial<TObject & TObjectOptions>;
  return properties === undefined || required.length > 0 || minProperties > 0;
}
