import { isDuration } from "./duration.js";
import { LIMITS } from "./limits.js";
import type { Problems } from "./problem.js";
import { quote } from "./problem.js";
import type { Field } from "./types.js";

/** What the conditions of a snapshot may refer to. A part whose own shape is broken is undefined: it is reported once, where it is,
 * and references into it are let pass. */
export interface Scope {
  events: Map<string, Map<string, Field | undefined> | undefined>;
  traits: Map<string, Field | undefined> | undefined;
  /** Null without a lifecycle. */
  states: Set<string> | null | undefined;
  segments: Set<string> | undefined;
  problems: Problems;
}

// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Names of events, properties and traits: what products send. */
export function checkName(name: string, path: string, problems: Problems): void {
  const length = Array.from(name).length;
  if (length < 1 || length > LIMITS.nameLength || CONTROL.test(name)) {
    problems.add(
      path,
      "INVALID_NAME",
      `a name has 1 to ${LIMITS.nameLength} characters, none of them a control character`,
    );
  }
}

const IDENTIFIER = /^[a-z][a-z0-9_]*$/;

/** Names of states and segments: ours to choose, and part of emission types. */
export function checkIdentifier(name: string, path: string, problems: Problems): void {
  if (name.length > LIMITS.nameLength || !IDENTIFIER.test(name)) {
    problems.add(
      path,
      "INVALID_NAME",
      `${quote(name)} is no name here: it needs 1 to ${LIMITS.nameLength} lower-case letters, digits and underscores, beginning with a letter`,
    );
  }
}

export function checkDuration(text: string, path: string, problems: Problems): void {
  if (!isDuration(text)) {
    problems.add(
      path,
      "INVALID_DURATION",
      `${quote(text)} is no duration: write a whole number and m, h, d or w, such as "12h" or "30d", up to "3650d"`,
    );
  }
}
