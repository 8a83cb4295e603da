import { placeOf } from "../../operations/literal-place.js";
import { findBadLiteral } from "../../operations/literals.js";
import { ApiError } from "../errors.js";

/** Throws VALIDATION_ERROR for a literal of a valid JSON text that the database could not keep. */
export function refuseBadLiterals(text: string): void {
  const bad = findBadLiteral(text);
  if (bad === null) return;
  const field = placeOf(text, bad);
  const where = field === undefined || field === "" ? {} : { field };
  throw new ApiError(400, "VALIDATION_ERROR", { ...where, value: bad.literal, reason: bad.reason });
}
