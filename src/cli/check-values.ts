import { nearest } from "../snapshot/nearest.js";
import { UsageError } from "./errors.js";

/** Checks a length of time, such as 24h. @param option as it is given, such as `--grace` */
export function checkDuration(option: string, text: string | undefined, also = ""): void {
  if (text === undefined || /^(0|[1-9]\d{0,6})[mhdw]$/.test(text)) return;
  throw new UsageError(
    `${option} is ${JSON.stringify(text)}`,
    `give a whole number and a unit, such as 30m, 24h, 7d or 4w${also}`,
  );
}

/** Checks what was given of an option that takes some of a few words. */
export function checkWords<Word extends string>(
  option: string,
  given: readonly string[],
  words: readonly Word[],
): asserts given is readonly Word[] {
  const wrong = given.find((word) => !(words as readonly string[]).includes(word));
  if (wrong === undefined) return;
  const meant = nearest(wrong, words);
  throw new UsageError(
    `${option} is ${JSON.stringify(wrong)}${meant === undefined ? "" : `; did you mean ${meant}?`}`,
    `give one of: ${words.join(", ")}`,
  );
}
