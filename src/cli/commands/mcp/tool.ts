import Type, { type Static, type TObject, type TProperties, type TSchema } from "typebox";

import type { ListPage } from "../../../http/admin/answers.js";
import type { Query } from "../../client/api.js";
import type { Call } from "./session.js";

/**
 * What a tool does: it reads from the service; it runs the model in the project's folder, which is a program; or it changes something on the
 * service.
 */
export type ToolEffect = "reads" | "runs" | "changes";

/** One thing that an assistant can ask for. */
export interface Tool<I extends TProperties = TProperties, O extends TProperties = TProperties> {
  name: string;
  title: string;
  /** For the assistant: what it answers, and when to use it. */
  description: string;
  effect: ToolEffect;
  input: TObject<I>;
  output: TObject<O>;
  /** How to ask for less, if an answer is too long. */
  less: string;
  /** @throws {UserError} what is wrong, and what to do */
  run: (call: Call, input: Static<TObject<I>>) => Promise<Static<TObject<O>>>;
}

/** A tool whose input type is not known statically, as the protocol passes it. */
export type AnyTool = Omit<Tool, "run"> & { run: (call: Call, input: never) => Promise<object> };

type Definition<I extends TProperties, O extends TProperties> = Omit<Tool<I, O>, "less" | "input" | "output"> & {
  less?: string;
  input: I;
  output: O;
};

/** Defines a tool; members other than those of its input are refused. */
export function defineTool<const I extends TProperties, const O extends TProperties>({
  input,
  output,
  less = "give a smaller limit",
  ...tool
}: Definition<I, O>): Tool<I, O> {
  return { ...tool, less, input: Type.Object(input, { additionalProperties: false }), output: Type.Object(output) };
}

/** A required text. */
export const text = (description: string) => Type.String({ minLength: 1, description });

/** An optional text. */
export const optionalText = (description: string) => Type.Optional(text(description));

/** The input that names a customer. */
export const customerInput = text("The customer's id, or its pseudonym from an earlier answer.");

/** The input members that select a page. */
export const pageInput = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: "How many; 20 unless given." })),
  cursor: optionalText("The nextCursor of the previous page, to continue there."),
};

/** The output of a list: items of this shape. */
export const pageOutput = <const I extends TProperties>(item: I) => ({
  items: Type.Array(Type.Object(item)),
  nextCursor: nullable(Type.String(), "Not null if there may be more: call again with it as cursor."),
});

/** The given schema, or null. */
export const nullable = <const S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** An object whose members depend on the model, or are listed in its description. */
export const document = (description: string) => Type.Unsafe<object>({ type: "object", description });

/** Reads one page of a list, and maps its rows to items. */
export async function readPage<Item>(
  { context: { api } }: Call,
  path: readonly string[],
  { limit = 20, ...query }: Query & { limit?: number },
  itemOf: (row: never) => Item,
): Promise<{ items: Item[]; nextCursor: string | null }> {
  const { data } = await api.get<ListPage<never>>(path, ["data", "nextCursor"], { ...query, limit });
  return { items: data.data.map(itemOf), nextCursor: data.nextCursor };
}
