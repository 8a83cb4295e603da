import type { Context } from "koa";
import { ApiError } from "../errors.js";

/** The members of a query as text, in the order in which they came. Throws VALIDATION_ERROR for one that is there twice or is no text. */
export function readQueryText(ctx: Context): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const piece of ctx.querystring.split("&")) {
    if (piece === "") continue;
    const [, rawName = "", rawValue = ""] = /^([^=]*)=?(.*)$/s.exec(piece.replaceAll("+", " ")) ?? [];
    const name = decode(rawName, rawName);
    if (members.has(name)) {
      throw new ApiError(400, "VALIDATION_ERROR", { message: `\`${name}\` is given more than once.`, field: name });
    }
    members.set(name, decode(rawValue, name));
  }
  return members;
}

/** The parameters of a request's path, which a route of this `path` takes. Throws VALIDATION_ERROR for one that is no text. */
export function readPathText(ctx: Context, path: string): Readonly<Record<string, string>> {
  const raw = ctx.path.split("/");
  const parameters = path.split("/").flatMap((part, index) => {
    if (!part.startsWith(":")) return [];
    const name = part.slice(1);
    return [[name, decode(raw[index] ?? "", name)] as const];
  });
  return Object.fromEntries(parameters);
}

function decode(raw: string, field: string): string {
  const text = decodeOrNull(raw);
  if (text === null) throw notText(field, "It is not UTF-8 in percent-encoding.");
  if (text.includes("\0")) throw notText(field, "The character U+0000 cannot be stored in text.");
  return text;
}

function decodeOrNull(raw: string): string | null {
  try {
    return decodeURIComponent(raw);
  } catch {
    return null;
  }
}

function notText(name: string, reason: string): ApiError {
  const field = decodeOrNull(name)?.replaceAll("\0", "\\u0000") ?? name;
  return new ApiError(400, "VALIDATION_ERROR", { message: `\`${field}\` is not valid text.`, field, reason });
}
