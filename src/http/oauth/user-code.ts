import { randomInt } from "node:crypto";

/** Consonants only, so that no word comes out, and none that is taken for another or for a digit (RFC 8628, section 6.1). */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;
const USER_CODE = new RegExp(`^[${LETTERS}]{${LENGTH}}$`, "i");

/** A new code for a person to compare or type, without its hyphen: 2.5 · 10¹⁰ of them. */
export function newUserCode(): string {
  return Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join("");
}

/** What a person typed, as the code that is stored: in any case, with or without hyphens and spaces. Null for what is no code. */
export function readUserCode(text: string): string | null {
  const letters = text.replace(/[\s\p{Pd}]/gu, "");
  return USER_CODE.test(letters) ? letters.toUpperCase() : null;
}

/** As it is shown: `BCDF-GHJK`. */
export function showUserCode(code: string): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}
