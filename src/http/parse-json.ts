import { ApiError } from "./errors.js";
import { countJson, type ExceededLimit, type JsonLimits } from "./json-limits.js";
import { findSyntaxError } from "./json-syntax.js";

/** Far deeper than any request that is accepted, more than people send, and little enough for the parser. */
export const PARSER_LIMITS: JsonLimits = {
  depthMax: 10_000,
  containersMax: 4_000_000,
  valuesMax: Infinity,
  membersMax: Infinity,
  itemsMax: Infinity,
  part: { depth: Infinity, valuesMax: Infinity, charactersMax: Infinity },
};

/** Parses a JSON text. Throws MALFORMED_JSON with what is wrong and where, or what `refuseExceeded` makes of a limit. */
export function parseJson(text: string, limits: JsonLimits = PARSER_LIMITS): unknown {
  const { exceeded } = countJson(text, limits);
  if (exceeded !== null) throw refusalOf(exceeded, limits);
  return parseCounted(text);
}

/** As `parseJson`, for a text that was counted already. */
export function parseCounted(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw malformed(text.trim() === "" ? "The body is empty." : (findSyntaxError(text) ?? "It cannot be parsed."));
  }
}

export function malformed(reason: string): ApiError {
  return new ApiError(400, "MALFORMED_JSON", { reason });
}

/** What a request is told that exceeds a limit. */
export function refusalOf({ limit, path }: ExceededLimit, limits: JsonLimits): ApiError {
  const most = (count: number) => count.toLocaleString("en-US");
  const tooLarge = (reason: string) => new ApiError(413, "PAYLOAD_TOO_LARGE", { reason });
  const invalid = (what: string, holds: string) =>
    new ApiError(400, "VALIDATION_ERROR", {
      message: path === "" ? "The body is too large." : `\`${path}\` is too large.`,
      ...(path === "" ? {} : { field: path }),
      reason: `${what} ${holds}.`,
      fix: "Send less, or keep large content elsewhere and send a reference to it.",
    });
  switch (limit) {
    case "depthMax":
      return malformed(`It nests deeper than ${most(limits.depthMax)} levels.`);
    case "containersMax":
      return tooLarge(`It holds more than ${most(limits.containersMax)} objects and arrays.`);
    case "valuesMax":
      return tooLarge(`It holds more than ${most(limits.valuesMax)} values.`);
    case "membersMax":
      return invalid("The body holds more than", `${most(limits.membersMax)} members`);
    case "itemsMax":
      return invalid("It holds more than", `${most(limits.itemsMax)} values`);
    case "partValuesMax":
      return invalid("It holds more than", `${most(limits.part.valuesMax)} values`);
    case "partCharactersMax":
      return invalid("It has more than", `${most(limits.part.charactersMax)} characters`);
  }
}

/** The text of bytes that arrived in pieces. Throws MALFORMED_JSON where they are no UTF-8. */
export function decodeJson(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
  } catch {
    throw malformed("The body is not valid UTF-8.");
  }
}
